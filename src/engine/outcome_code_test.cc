// Codes of outcomes.
#include "engine/outcome_code.h"

#include <gtest/gtest.h>

namespace sluice::engine {
namespace outcome_code_test {

TEST(OutcomeCode, EveryOutcomeOfTheEngineHasItsOwn) {
  lang::ActionSymbol action;
  std::vector<std::pair<std::string, Code>> expected = {
      {"fault", Code::failed},   {"unavailable", Code::unavailable}, {"timeout", Code::timeout},
      {"unknown", Code::failed}, {"unanswered", Code::failed},       {"refused", Code::gate_rejected},
      {"denied", Code::denied},  {"conflict", Code::conflict},       {"cancelled", Code::failed},
      {"limit", Code::limit},    {"needsMigration", Code::conflict}};
  for (const auto& [name, code] : expected) EXPECT_EQ(code_of(action, "engine." + name), code) << name;
}

TEST(OutcomeCode, AVariantSaysItsOwnOrIsAFailureUnlessItIsOk) {
  lang::ActionSymbol action;
  action.variants = {{.name = "ok"}, {.name = "broken"}, {.name = "gone", .code = Code::not_found}};
  EXPECT_EQ(code_of(action, "ok"), Code::ok);
  EXPECT_EQ(code_of(action, "broken"), Code::failed);
  EXPECT_EQ(code_of(action, "gone"), Code::not_found);
}

}  // namespace outcome_code_test
}  // namespace sluice::engine
