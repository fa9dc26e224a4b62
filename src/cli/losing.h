// Commands that lose something: what they would lose is said with --dry-run, else somebody is asked, naming the object.
//
//   auto answer = lose(context, *objects, {.action = "Env/destroy", .input = …, .what = "destroy the environment x"});
//   if (!answer) return answer.error();
//   if (!*answer) return Code::ok;      // a dry run, or somebody said no
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/objects.h"

namespace sluice::cli {

struct Loss {
  std::string action;
  json::object input;
  std::string what;                // "destroy the environment prod"
  std::vector<std::string> loses;  // "5 packs", …; what goes with it
};

// Takes --answers in, then asks, or only tells, then runs the action. A dry run asks guards and the handler on what is
// committed: what would be refused is refused, with the same words and the same exit code.
Result<std::optional<Answer>> lose(Context& context, Objects& objects, Loss loss);

// The dry run alone: says what would be done and lost, or why not.
Result<Code> tell_loss(Context& context, Objects& objects, const Loss& loss);
Code print_loss(Context& context, const Loss& loss);

// True: go on. Asks on a terminal; where nobody can answer, --yes is needed.
Result<bool> confirmed(Context& context, const std::string& what);

// "3 revisions", or nothing for none of them.
void add_count(std::vector<std::string>& loses, size_t count, const std::string& noun);

}  // namespace sluice::cli
