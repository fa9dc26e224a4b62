// What a command runs in, for tests of what stands below the commands: a home of its own, and what it prints.
#pragma once

#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "cli/all_commands.h"
#include "cli/command.h"
#include "cli/context.h"
#include "cli/output.h"
#include "host/loaded_concepts.h"

namespace sluice::cli {

struct TestingContext {
  explicit TestingContext(std::vector<const lang::ConceptBinding*> concepts, const std::string& command = "")
      : loaded{.concepts = std::move(concepts)} {
    if (!command.empty()) given.command = commands.find(command);
  }

  TestingFolder folder;
  RealDisk disk;
  host::LoadedConcepts loaded;
  Commands commands = all_commands();
  Given given;
  std::istringstream in;
  std::ostringstream out, err;
  Output output{{}, out, err};
  Variables variables = [this](const std::string& name) -> std::optional<std::string> {
    return name == "SLUICE_HOME" ? std::optional(folder.path("home")) : std::nullopt;
  };
  Context context{commands, given, output, variables, in, disk, &loaded};
};

}  // namespace sluice::cli
