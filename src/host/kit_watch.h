// Waits for a kit's files to change, for `kit check --watch` and for kits that run. Made before the kit is read, so
// that no change between reading and waiting is lost. Uses inotify; where that is not to be had, it looks every half
// second.
#pragma once

#include <signal.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace sluice::host {

class KitWatch {
 public:
  // Watches these folders and all below them, but for hidden ones. One that is not there, or is moved away, is seen
  // when it comes and goes.
  explicit KitWatch(const std::vector<std::string>& folders);
  ~KitWatch();
  KitWatch(const KitWatch&) = delete;
  KitWatch& operator=(const KitWatch&) = delete;

  // True when a .concept, .sync or .yaml file has changed; false when `stop` (a descriptor) can be read. Changes that
  // come within a moment of one another are one.
  Result<bool> wait(int stop);
  // The same without waiting: whether something has changed since it was made or last said so, and nothing has for a
  // moment. To be asked again and again.
  bool changed();

 private:
  using Snapshot = std::map<std::string, std::pair<int64_t, uint64_t>>;  // time and size by path

  bool drain();  // reads what inotify has; true if it concerns a kit
  Snapshot look() const;

  std::vector<std::string> folders_;
  int inotify_ = -1;
  std::set<int> kit_folders_;                                  // by inotify's numbers
  std::map<int, std::set<std::string, std::less<>>> holders_;  // which names in them are the folders, or lead there
  Snapshot seen_;                                              // only without inotify
  RealClock clock_;
  std::optional<int64_t> pending_ns_;  // when the change came that changed() has not told of
  int64_t looked_ns_ = 0;              // changed(), only without inotify
};

// A descriptor that can be read once the person has asked to stop (Ctrl-C, SIGTERM, SIGHUP); the signals do nothing
// else while it lives. Within the life of another, on the same thread, both hear it, and it stays for the outer one.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  int fd() const { return fd_; }
  bool has_come() const;
  // Which one has come, waiting for it: SIGINT, SIGTERM or SIGHUP.
  int wait() const;

 private:
  int fd_ = -1;
  sigset_t before_;  // what was blocked
};

}  // namespace sluice::host
