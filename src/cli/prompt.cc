// A terminal hands over whole lines, so a stream that has something to read has a whole line.
#include "cli/prompt.h"

#include <poll.h>
#include <unistd.h>

#include <iostream>

#include "host/kit_watch.h"

namespace sluice::cli {

Result<bool> read_line(std::istream& in, int fd, std::string& line) {
  if (fd >= 0 && in.rdbuf()->in_avail() <= 0) {
    const host::StopSignal stop;
    pollfd ready[] = {{.fd = fd, .events = POLLIN, .revents = 0}, {.fd = stop.fd(), .events = POLLIN, .revents = 0}};
    while (::poll(ready, 2, -1) < 0 && errno == EINTR) {
    }
    if (ready[1].revents != 0) return Error{.message = "stopped; nothing was changed"};
  }
  return static_cast<bool>(std::getline(in, line));
}

Result<bool> read_line(Context& context, std::string& line) {
  const bool waits = context.output.settings().in.tty && &context.in == &std::cin;
  return read_line(context.in, waits ? STDIN_FILENO : -1, line);
}

}  // namespace sluice::cli
