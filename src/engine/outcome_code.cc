// The one table of the engine's outcomes and their codes.
#include "engine/outcome_code.h"

#include "base/document.h"

namespace sluice::engine {
namespace {

constexpr std::string_view kEngine = "engine.";

}  // namespace

Code code_of(lang::EngineOutcome outcome) {
  switch (outcome) {
    case lang::EngineOutcome::fault:
    case lang::EngineOutcome::unknown:
    case lang::EngineOutcome::unanswered:
    case lang::EngineOutcome::cancelled:
      return Code::failed;
    case lang::EngineOutcome::unavailable:
      return Code::unavailable;
    case lang::EngineOutcome::timeout:
      return Code::timeout;
    case lang::EngineOutcome::refused:
      return Code::gate_rejected;
    case lang::EngineOutcome::denied:
      return Code::denied;
    case lang::EngineOutcome::conflict:
    case lang::EngineOutcome::needsMigration:
      return Code::conflict;
    case lang::EngineOutcome::limit:
      return Code::limit;
  }
  return Code::failed;
}

Code code_of(const lang::ActionSymbol& action, const std::string& variant) {
  if (variant.starts_with(kEngine)) {
    auto outcome = lang::engine_outcome_named(variant.substr(kEngine.size()));
    return outcome ? code_of(*outcome) : Code::failed;
  }
  auto found = lang::find_variant(action, variant);
  if (found && action.variants[*found].code) return *action.variants[*found].code;
  return variant == "ok" ? Code::ok : Code::failed;
}

}  // namespace sluice::engine
