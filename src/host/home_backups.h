// HomeBackups makes the backups of the store that this process has open, and archives behind them while it is open.
// It is the tool behind Backup's effects; HomeEngine tells it what there is to be backed up.
//
//   HomeBackups backups(disk, clock, random);
//   tools.add<deploy::BackupMeans>(backups); tools.add(backups);
//   auto attached = backups.attach({store, home, key, token});     // until that ends
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/random.h"
#include "crypto/ed25519.h"
#include "deploy/backup_means.h"
#include "store/backup/archive.h"
#include "store/backup/archiving_store.h"

namespace sluice::host {

class HomeBackups final : public deploy::BackupMeans {
 public:
  // All must outlive it.
  HomeBackups(Disk& disk, const Clock& clock, Random& random) : disk_(disk), clock_(clock), random_(random) {}

  struct Of {
    store::ArchivingStore* store = nullptr;
    std::string home;
    const crypto::PrivateKey* signer = nullptr;
    int64_t token = 0;
  };
  class Attached {
   public:
    explicit Attached(HomeBackups& backups) : backups_(backups) {}
    ~Attached() { backups_.detach(); }
    Attached(const Attached&) = delete;
    Attached& operator=(const Attached&) = delete;

   private:
    HomeBackups& backups_;
  };
  std::unique_ptr<Attached> attach(const Of& of);

  Result<Made> create(const std::string& folder, const std::string& id, const std::string& recipient) override;
  Result<Proven> verify(const std::string& folder) override;
  Result<Proven> drill(const std::string& folder) override;
  Result<void> remove(const std::string& folder) override;
  Result<uint64_t> prune(const std::string& place) override;
  bool is_there(const std::string& folder) override;
  void archive(const std::string& folder, const std::string& recipient) override;
  Archived archived() override;
  Result<std::vector<Found>> found(const std::string& place) override;

 private:
  void detach();
  Result<Of> what() const;

  Disk& disk_;
  const Clock& clock_;
  Random& random_;
  mutable std::mutex mutex_;
  Of of_;
  std::unique_ptr<store::Archive> archive_;
};

}  // namespace sluice::host
