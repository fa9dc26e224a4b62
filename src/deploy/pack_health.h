// How packs from outside are, and the tools that they need, for who looks after an environment.
#pragma once

#include <string>

#include "base/tool_probe.h"

namespace sluice::deploy {

class PackHealth {
 public:
  virtual ~PackHealth() = default;

  // What is wrong with the pack's process; empty if it is well.
  virtual std::string health(const std::string& kind) const = 0;
  virtual ToolProbe probe(const ToolQuestion& question) const = 0;
};

}  // namespace sluice::deploy
