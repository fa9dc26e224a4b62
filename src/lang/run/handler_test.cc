// Engine outcomes by name, and tools by type.
#include "lang/run/handler.h"

#include <gtest/gtest.h>

namespace sluice::lang {
namespace handler_test {

TEST(EngineOutcome, HasTheNamesThatSyncsUse) {
  EXPECT_EQ(name_of(EngineOutcome::fault), "fault");
  EXPECT_EQ(name_of(EngineOutcome::needsMigration), "needsMigration");
  for (int i = 0; i <= static_cast<int>(EngineOutcome::needsMigration); i++) {
    auto outcome = static_cast<EngineOutcome>(i);
    EXPECT_EQ(engine_outcome_named(name_of(outcome)), outcome);
  }
  EXPECT_EQ(engine_outcome_named("ok"), std::nullopt);
}

TEST(Tools, AreFoundByTheirType) {
  struct Hammer {
    int weight = 5;
  };
  Tools tools;
  EXPECT_THROW(tools.get<Hammer>(), std::logic_error);
  Hammer hammer;
  tools.add(hammer);
  EXPECT_EQ(&tools.get<Hammer>(), &hammer);
}

}  // namespace handler_test
}  // namespace sluice::lang
