// BackupMeans makes and proves backups of the store that a control plane runs on: the tool behind Backup's effects, and
// what keeps its archive. What it is made of stands further out, in the host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace sluice::deploy {

class BackupMeans {
 public:
  BackupMeans() = default;
  BackupMeans(const BackupMeans&) = delete;
  BackupMeans& operator=(const BackupMeans&) = delete;
  virtual ~BackupMeans() = default;

  struct Made {
    uint64_t position = 0;
    int64_t at_ms = 0;
    uint64_t bytes = 0;
    std::string signer;
    std::string contents;  // the digest of all rows
  };
  // In FOLDER/ID. One that is there already under this id is taken for the same.
  virtual Result<Made> create(const std::string& folder, const std::string& id, const std::string& recipient) = 0;

  struct Proven {
    uint64_t position = 0, records = 0, rows = 0, files = 0;
  };
  // `verification_failed` if it is damaged, or not this control plane's.
  virtual Result<Proven> verify(const std::string& folder) = 0;
  // The same with its rows in a scratch store, journal and state compared there.
  virtual Result<Proven> drill(const std::string& folder) = 0;

  // With the segments beside it that no other backup goes on from.
  virtual Result<void> remove(const std::string& folder) = 0;
  // Those segments alone; says how many there were.
  virtual Result<uint64_t> prune(const std::string& place) = 0;
  virtual bool is_there(const std::string& folder) = 0;

  // Archives into this folder from now on; an empty one ends that.
  virtual void archive(const std::string& folder, const std::string& recipient) = 0;
  struct Archived {
    uint64_t position = 0;
    int64_t behind_s = 0;  // for how long the oldest commit that is not archived has waited
    std::string trouble;
    uint64_t made = 0;  // how many backups the archive has made by itself
  };
  virtual Archived archived() = 0;

  // A backup that lies in a folder, whoever has made it there.
  struct Found {
    std::string id, folder;
    Made made;
  };
  // Those that this control plane's key has signed.
  virtual Result<std::vector<Found>> found(const std::string& place) = 0;
};

}  // namespace sluice::deploy
