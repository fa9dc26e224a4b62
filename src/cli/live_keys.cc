// The terminal is as it was before when the last key was read.
#include "cli/live_keys.h"

#include <poll.h>
#include <unistd.h>

namespace sluice::cli {

LiveKeys::LiveKeys(bool wanted) : on_(wanted && ::tcgetattr(STDIN_FILENO, &before_) == 0) {
  if (!on_) return;
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

LiveKeys::~LiveKeys() {
  if (on_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

char key_within(const host::StopSignal& stop, bool keys, int ms) {
  pollfd watched[] = {{stop.fd(), POLLIN, 0}, {keys ? STDIN_FILENO : -1, POLLIN, 0}};
  if (::poll(watched, 2, ms) <= 0) return 0;
  if (watched[0].revents != 0) return 'q';
  char key = 0;
  return ::read(STDIN_FILENO, &key, 1) == 1 ? key : 'q';
}

}  // namespace sluice::cli
