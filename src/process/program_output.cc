// Reading never waits: the pipes were opened so.
#include "process/program_output.h"

#include <unistd.h>

#include <cerrno>

namespace sluice::process {

void ProgramOutput::open(Descriptor out, Descriptor err) {
  pipes_[static_cast<size_t>(Stream::out)] = std::move(out);
  pipes_[static_cast<size_t>(Stream::err)] = std::move(err);
}

bool ProgramOutput::pump(Stream stream) {
  Descriptor& pipe = pipes_[static_cast<size_t>(stream)];
  if (!pipe) return false;
  ssize_t got = ::read(pipe.fd(), chunk_.data(), chunk_.size());
  if (got > 0) {
    log_.add(stream, {chunk_.data(), static_cast<size_t>(got)});
    return true;
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  log_.end_line(stream);
  pipe.reset();
  return false;
}

void ProgramOutput::close() {
  for (Stream stream : {Stream::out, Stream::err}) {
    while (pump(stream)) {
    }
    log_.end_line(stream);
    pipes_[static_cast<size_t>(stream)].reset();
  }
}

}  // namespace sluice::process
