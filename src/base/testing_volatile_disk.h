// VolatileDisk keeps files in memory and, like a real disk, keeps apart what was written from what was synced. Tests
// run on it, call crash(), and see what a machine would find after a power cut:
//
//   VolatileDisk disk;
//   … write_at, rename, sync …
//   disk.crash();                  // only what was synced is left
//   disk.crash_keeping_some(rng);  // a random part of the rest survived too, writes torn, as real disks do
//
// Bytes survive when the file was synced after they were written; a name survives (and a removed one stays away) when
// its folder was synced. A rename within a folder is one step; one between two folders is two, which survive or not
// with their own folder. Of the changes to a folder that were not synced, those that survive are the oldest ones.
//
// Paths are resolved from "/", relative ones too. There are no users: modes are kept and reported but forbid nothing.
// Times are a counter. Files that were open before a crash fail with EIO after it.
#pragma once

#include "base/disk.h"
#include "base/random.h"

namespace sluice {

class VolatileDisk final : public Disk {
 public:
  VolatileDisk();
  ~VolatileDisk() override;

  void crash();
  void crash_keeping_some(Random& random);

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
  struct Tree;
  class OpenFile;

  std::unique_ptr<Tree> tree_;
};

}  // namespace sluice
