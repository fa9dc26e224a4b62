// OverlayDisk lets a store be read in a place that cannot be written: what is written goes to memory, is seen by
// everyone who uses this object, and is forgotten with it. Files below are opened for reading alone.
//
//   OverlayDisk overlay(disk);
//   auto store = SqliteStore::open(overlay, path);   // also takes in a log that its writer left behind
//
// It knows files only: folders, links and modes are those below. Any number of threads may use it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/disk.h"

namespace sluice::store {

class OverlayDisk final : public Disk {
 public:
  // `below` must outlive it.
  explicit OverlayDisk(Disk& below) : below_(below) {}

  Result<std::unique_ptr<File>> open(const std::string& path, const OpenFlags& flags) override;
  Result<std::unique_ptr<File>> open_beneath(const std::string& root, const std::string& relative,
                                             const OpenFlags& flags) override;
  Result<void> make_folder_beneath(const std::string& root, const std::string& relative, uint32_t mode) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& path) override;
  Result<void> link(const std::string& from, const std::string& to) override;
  Result<void> symlink(const std::string& target, const std::string& path) override;
  Result<std::string> read_link(const std::string& path) override { return below_.read_link(path); }
  Result<void> make_folder(const std::string& path, uint32_t mode) override;
  Result<void> remove_folder(const std::string& path) override;
  Result<std::vector<FolderEntry>> list(const std::string& path) override { return below_.list(path); }
  Result<FileStat> stat(const std::string& path, FollowLinks follow) override;
  Result<void> chmod(const std::string& path, uint32_t mode) override;
  Result<void> sync_folder(const std::string&) override { return {}; }

  // One file: what is below, and what was written over it.
  class Layers;

 private:
  Disk& below_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Layers>> files_;  // that were opened; null: removed
};

}  // namespace sluice::store
