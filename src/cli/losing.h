// Commands that lose something: what they would lose is said with --dry-run, else somebody is asked, naming the object.
//
//   if (context.given.flag("dry-run")) return print_loss(context, {.what = "destroy the environment x", .loses = …});
//   auto sure = confirmed(context, "destroy the environment x");
#pragma once

#include <string>
#include <vector>

#include "cli/command_door.h"
#include "cli/context.h"

namespace sluice::cli {

struct Loss {
  std::string action;              // by which, for tell_loss
  json::object input;              // its arguments
  std::string what;                // "destroy the environment prod"
  std::vector<std::string> loses;  // "5 packs", …; what goes with it
};

// What would be done, and what goes with it.
Code print_loss(Context& context, const Loss& loss);

// The same, unless the action would be refused.
Result<Code> tell_loss(Context& context, CommandDoor& door, const Loss& loss);

// True: go on. Asks on a terminal; where nobody can answer, --yes is needed.
Result<bool> confirmed(Context& context, const std::string& what);

// "3 revisions", or nothing for none of them.
void add_count(std::vector<std::string>& loses, size_t count, const std::string& noun);

}  // namespace sluice::cli
