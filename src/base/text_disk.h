// TextDisk holds texts by their paths, as files that can only be read: for code that takes a Disk and is given what
// somebody sent. Whatever would change something fails with `limit`.
//
//   TextDisk disk({{"mesh/rete.yaml", text}});
//   auto work = mesh::compile_folder(disk, "mesh", now_ms);
#pragma once

#include <map>

#include "base/disk.h"

namespace sluice {

class TextDisk final : public Disk {
 public:
  explicit TextDisk(std::map<std::string, std::string> texts) : texts_(std::move(texts)) {}

  Result<std::unique_ptr<File>> open(const std::string& path, const OpenFlags& flags) override;
  Result<std::unique_ptr<File>> open_beneath(const std::string& root, const std::string& relative,
                                             const OpenFlags& flags) override;
  Result<std::vector<FolderEntry>> list(const std::string& path) override;
  Result<FileStat> stat(const std::string& path, FollowLinks follow) override;

  Result<void> make_folder_beneath(const std::string& root, const std::string& relative, uint32_t mode) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& path) override;
  Result<void> link(const std::string& from, const std::string& to) override;
  Result<void> symlink(const std::string& target, const std::string& path) override;
  Result<std::string> read_link(const std::string& path) override;
  Result<void> make_folder(const std::string& path, uint32_t mode) override;
  Result<void> remove_folder(const std::string& path) override;
  Result<void> chmod(const std::string& path, uint32_t mode) override;
  Result<void> sync_folder(const std::string& path) override;

 private:
  std::map<std::string, std::string> texts_;
};

}  // namespace sluice
