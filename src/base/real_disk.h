// RealDisk is the system's disk. It and the files that it opens are the only code that calls open, rename, fsync and
// their kind; all else goes through Disk (base/disk.h), which says what each call promises.
#pragma once

#include "base/disk.h"

namespace sluice {

class RealDisk final : public Disk {
 public:
  // How open_beneath keeps inside its root. `by_kernel` asks openat2 (Linux 5.6) and falls back to `by_component`,
  // which opens one component after the other and refuses symlinks, where the kernel or a sandbox does not know it.
  enum class Beneath { by_kernel, by_component };

  explicit RealDisk(Beneath beneath = Beneath::by_kernel) : beneath_(beneath) {}

  Result<std::unique_ptr<File>> open(const std::string& path, const OpenFlags& flags) override;
  Result<std::unique_ptr<File>> open_beneath(const std::string& root, const std::string& relative,
                                             const OpenFlags& flags) override;
  Result<void> make_folder_beneath(const std::string& root, const std::string& relative, uint32_t mode) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& path) override;
  Result<void> link(const std::string& from, const std::string& to) override;
  Result<void> symlink(const std::string& target, const std::string& path) override;
  Result<std::string> read_link(const std::string& path) override;
  Result<void> make_folder(const std::string& path, uint32_t mode) override;
  Result<void> remove_folder(const std::string& path) override;
  Result<std::vector<FolderEntry>> list(const std::string& path) override;
  Result<FileStat> stat(const std::string& path, FollowLinks follow) override;
  Result<void> chmod(const std::string& path, uint32_t mode) override;
  Result<void> sync_folder(const std::string& path) override;

 private:
  Beneath beneath_;
};

}  // namespace sluice
