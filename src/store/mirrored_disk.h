// MirroredDisk keeps what a home must not lose on another disk as well: from attach() on, a synced or renamed file of
// the mirrored folders is in KeptFiles before the call returns. So a control plane whose store is in PostgreSQL can go
// on from an empty home on another machine.
//
//   MirroredDisk disk(real);                       // until attach() the same as the disk below
//   disk.attach(files, home, key);                 // also brings the home up to what is kept
//
// What is in keys/, secrets/, tls/, ca/ and acme/, and the signed heads, is sealed with the cluster's key: whoever has
// only KeptFiles can read none of it, and no bytes of any file can be changed unnoticed. Unfinished files, and what
// belongs to this machine alone are not mirrored. Any number of threads may use it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/random.h"
#include "crypto/aead.h"
#include "crypto/hmac.h"
#include "store/kept_files.h"

namespace sluice::store {

class MirroredDisk final : public Disk {
 public:
  // `below` must outlive it.
  explicit MirroredDisk(Disk& below) : below_(below) {}

  // The home gets what is kept; what is in the home alone is kept from now on. `files` must outlive detach().
  Result<void> attach(KeptFiles& files, const std::string& home, const crypto::SecretBuffer& key);
  // Only the first half: the home gets what was kept after this version. Returns the newest version.
  Result<uint64_t> bring(KeptFiles& files, const std::string& home, const crypto::SecretBuffer& key,
                         uint64_t after = 0);
  void detach();
  bool attached() const;

  Result<std::unique_ptr<File>> open(const std::string& path, const OpenFlags& flags) override;
  Result<std::unique_ptr<File>> open_beneath(const std::string& root, const std::string& relative,
                                             const OpenFlags& flags) override {
    return below_.open_beneath(root, relative, flags);
  }
  Result<void> make_folder_beneath(const std::string& root, const std::string& relative, uint32_t mode) override {
    return below_.make_folder_beneath(root, relative, mode);
  }
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& path) override;
  Result<void> link(const std::string& from, const std::string& to) override;
  Result<void> symlink(const std::string& target, const std::string& path) override;
  Result<std::string> read_link(const std::string& path) override { return below_.read_link(path); }
  Result<void> make_folder(const std::string& path, uint32_t mode) override { return below_.make_folder(path, mode); }
  Result<void> remove_folder(const std::string& path) override { return below_.remove_folder(path); }
  Result<std::vector<FolderEntry>> list(const std::string& path) override { return below_.list(path); }
  Result<FileStat> stat(const std::string& path, FollowLinks follow) override { return below_.stat(path, follow); }
  Result<void> chmod(const std::string& path, uint32_t mode) override;
  Result<void> sync_folder(const std::string& path) override { return below_.sync_folder(path); }

  // Whether the file of this name, from the home on, is mirrored.
  static bool is_mirrored(const std::string& name);

 private:
  class Synced;
  struct Mirror;

  std::shared_ptr<Mirror> mirror() const;

  Disk& below_;
  mutable std::mutex mutex_;
  std::shared_ptr<Mirror> mirror_;  // null: nothing is mirrored
};

}  // namespace sluice::store
