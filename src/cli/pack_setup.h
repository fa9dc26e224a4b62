// What packs ask for, and the answers that a new environment begins with: those of the environment that it is made
// after, what a file of answers says for a slot, and what a person says to the questions that are open then.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bundle/manifest/question.h"
#include "cli/command_door.h"

namespace sluice::cli {

struct OutsidePack {
  std::string slot;
  std::vector<bundle::Question> questions;
  bool built_in = false;
};

// The pack as it is installed or built in; nothing if it is neither: packs may be named before they come.
Result<std::optional<OutsidePack>> installed(CommandDoor& door, const std::string& kind);

// Sees to it that the environment may use a pack from outside.
Result<void> admit(Context& context, CommandDoor& door, const std::string& environment, const std::string& kind);

// Answers that a slot of a new environment gets besides those of the environment that it is made after.
struct SlotSetup {
  std::string slot;
  std::string kind;
  bool built_in = false;
  json::object answers;
  std::vector<std::pair<std::string, std::string>> secrets;  // names of questions and values, which no answer holds
};

// For each pack of `base` that has an open question, or that `input` has answers for by its slot, which are taken out
// of it. Nothing is kept yet: an error means that nothing was changed.
Result<std::vector<SlotSetup>> ask_for_packs(Context& context, CommandDoor& door, const std::string& base,
                                             json::object& input);

// Keeps what ask_for_packs has found out, once there is the environment.
Result<void> set_up_packs(Context& context, CommandDoor& door, const std::string& environment,
                          std::vector<SlotSetup> setups);

// The schemas of what the packs of `base` ask, by slot.
Result<json::object> schemas_of_packs(CommandDoor& door, const std::string& base);

}  // namespace sluice::cli
