// Whether an external tool is there, and which version: for doctors and for errors that say what to install.
#pragma once

#include <chrono>
#include <string>

#include "base/terminal.h"

namespace sluice {

// What to look for. The pattern is an ECMAScript regular expression; its first group is the version.
struct ToolQuestion {
  std::string name;  // as on PATH: "git"
  std::string version_pattern = R"((\d+\.\d+(\.\d+)?))";
  std::string hint;  // how to install it: "apt install git"
  std::string version_flag = "--version";
  std::chrono::milliseconds deadline = std::chrono::seconds(5);
};

struct ToolProbe {
  std::string name;
  bool found = false;
  std::string path;     // empty if it is not found
  std::string version;  // empty if the tool did not tell it in time, or not in the way that the pattern expects
  std::string hint;

  bool operator==(const ToolProbe&) const = default;
};

// Looks the tool up on $PATH and asks it for its version. Only absolute entries of PATH count: a tool that happens to
// lie in the working folder is not run. The tool gets no input, and is killed at the deadline.
ToolProbe probe_tool(const ToolQuestion& question, const Variables& variables);

}  // namespace sluice
