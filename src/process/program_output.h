// ProgramOutput takes what a program says from its two pipes into its log. Its owner polls the descriptors.
#pragma once

#include <array>
#include <vector>

#include "process/replica_log.h"
#include "process/system.h"

namespace sluice::process {

class ProgramOutput {
 public:
  explicit ProgramOutput(ReplicaLog& log) : log_(log) {}

  void open(Descriptor out, Descriptor err);
  int fd(Stream stream) const { return pipes_[static_cast<size_t>(stream)].fd(); }
  // Takes what is there at once, but not more than one chunk; says whether there may be more.
  bool pump(Stream stream);
  // Takes all that is left, and hears no more.
  void close();

 private:
  ReplicaLog& log_;
  std::array<Descriptor, 2> pipes_;  // by stream
  std::vector<char> chunk_ = std::vector<char>(64 << 10);
};

}  // namespace sluice::process
