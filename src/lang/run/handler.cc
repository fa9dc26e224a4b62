// The names of engine outcomes, as in `engine.fault`.
#include "lang/run/handler.h"

#include <array>

namespace sluice::lang {
namespace {

constexpr std::array<std::string_view, 11> kNames{"fault",      "unavailable", "timeout",       "unknown",
                                                  "unanswered", "refused",     "denied",        "conflict",
                                                  "cancelled",  "limit",       "needsMigration"};

}  // namespace

std::string_view name_of(EngineOutcome outcome) { return kNames[static_cast<size_t>(outcome)]; }

std::optional<EngineOutcome> engine_outcome_named(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); i++) {
    if (kNames[i] == name) return static_cast<EngineOutcome>(i);
  }
  return std::nullopt;
}

}  // namespace sluice::lang
