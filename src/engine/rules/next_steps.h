// What can be done next, as data: the `next:` of guards and variants, evaluated when an action ends. A step is one of
//
//   {"action": "Revision/warm", "input": {"revision": "r1"}}     arguments that are left out stay open
//   {"view": "doctor", "input": {"environment": "local"}}        without `input` if it has none
//   {"text": "give its share to another revision"}
//
// Doors turn them into commands, links or tool calls; no text of a kit speaks a door's words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/rules/rules.h"
#include "lang/check/check.h"

namespace sluice::engine {

struct CompiledNext {
  std::string action;  // "Concept/action"
  std::string view;
  std::optional<Expression> text, condition;
  std::vector<CompiledArgument> arguments;
};

std::vector<CompiledNext> compile_next(const std::vector<lang::Next>& source, Slots& slots);
// Those whose condition holds.
json::array next_steps(const std::vector<CompiledNext>& steps, const Bindings& bindings, const Moment& moment);

// The next steps of every variant of a kit.
class NextSteps {
 public:
  explicit NextSteps(const lang::CheckedKit& kit);

  json::array of(lang::ActionRef action, size_t variant, const json::object& input, const json::object& fields,
                 int64_t now_ms) const;

 private:
  struct OfVariant {
    std::vector<std::string> names;  // by slot: fields, else arguments
    std::vector<CompiledNext> steps;
  };
  std::vector<std::vector<std::vector<OfVariant>>> variants_;  // by concept, action and variant
};

// A step for a person who has no better words for it: "Revision/warm revision=r1", "view doctor environment=local", or
// its text.
std::string next_text(const json::value& step);
// The step that such a text is; none if it is a sentence.
std::optional<json::object> read_next_text(std::string_view text);

}  // namespace sluice::engine
