// What commands that redraw the screen share: keys that come one by one, and a wait that a key or Ctrl-C ends.
#pragma once

#include <termios.h>

#include "host/kit_watch.h"

namespace sluice::cli {

// Keys come one by one, unseen, while it lives.
class LiveKeys {
 public:
  explicit LiveKeys(bool wanted);
  ~LiveKeys();
  LiveKeys(const LiveKeys&) = delete;
  LiveKeys& operator=(const LiveKeys&) = delete;
  bool on() const { return on_; }

 private:
  termios before_{};
  bool on_ = false;
};

// The key that was pressed within this time; 0: none; 'q' if the person has asked to stop.
char key_within(const host::StopSignal& stop, bool keys, int ms);

}  // namespace sluice::cli
