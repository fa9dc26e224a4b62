// LockFile lets one process at a time into a folder, a state, a deployment.
//
//   auto lock = LockFile::acquire(disk, clock, folder + "/lock", 5'000);
//   if (!lock) return lock.error();   // conflict: "… is locked by pid 812 on mill since …"
//
// Truth is the kernel's lock on the open file: it cannot be held by two, and the kernel drops it when its owner ends,
// however that ends. So the lock of a dead owner needs no judgement of whether it is dead: the next taker simply gets
// it, and of many takers that race exactly one. The record in the file (who, where, since when) only names the owner
// to people, to those who wait and to the one who takes over; nothing is decided by it. Hence a pid that was reused, a
// clock that was set or a container whose host name changed cannot make two owners or lock everybody out.
//
// The file stays when the lock is released, empty: removing it would let two processes lock two files of one name.
// A child that was forked without exec shares its parent's lock and keeps it alive; if the parent is gone then, the
// error says so.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/disk.h"
#include "base/process_identity.h"
#include "base/result.h"

namespace sluice {

struct LockOwner {
  ProcessIdentity process;
  std::string host;
  int64_t since_ms = 0;
};

class LockFile {
 public:
  // Waits for at most wait_ms (0: not at all) while another holds the lock, then fails with `conflict` and names the
  // owner. Creates the file, not its folder.
  static Result<LockFile> acquire(Disk& disk, Clock& clock, const std::string& path, int64_t wait_ms);

  LockFile(LockFile&&) = default;
  LockFile& operator=(LockFile&&) = delete;
  ~LockFile();

  // Who held the lock before and ended without releasing it; what it was doing may be half done.
  const std::optional<LockOwner>& taken_over_from() const { return taken_over_from_; }

 private:
  LockFile(std::unique_ptr<File> file, std::optional<LockOwner> taken_over_from);

  std::unique_ptr<File> file_;
  int pid_;
  std::optional<LockOwner> taken_over_from_;
};

// Who the file names as its owner; nothing if it is not there or names nobody.
std::optional<LockOwner> read_lock_owner(Disk& disk, const std::string& path);

}  // namespace sluice
