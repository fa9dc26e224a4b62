// Packs from outside as other parts of the kit ask them: how they are, what they have measured, and the tools that they
// need.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "base/document.h"
#include "base/result.h"
#include "base/tool_probe.h"

namespace sluice::deploy {

class PackHealth {
 public:
  virtual ~PackHealth() = default;

  // What is wrong with the pack's process; empty if it is well.
  virtual std::string health(const std::string& kind) const = 0;
  virtual ToolProbe probe(const ToolQuestion& question) const = 0;
  // What a query of the pack's concept answers: its fields, if it ends in ok.
  virtual Result<json::object> query(const std::string& kind, const std::string& action, const json::object& input,
                                     int64_t timeout_ms) const = 0;
};

}  // namespace sluice::deploy
