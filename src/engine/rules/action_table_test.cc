// From names to actions and back.
#include "engine/rules/action_table.h"

#include <gtest/gtest.h>

#include "engine/testing_engine.h"

namespace sluice::engine {
namespace action_table_test {

const std::string kShop = R"(concept Shop [S] {
  actions {
    action open(name: String) { -> ok(name: String) }
  }
}
)";

TEST(ActionTable, KnowsActionsByNameAndWhichAreLoaded) {
  auto kit = checked({kShop}, "");
  lang::ConceptBinding shop{.name = "Shop"};
  shop.actions.push_back({.name = "open"});
  ActionTable table;
  table.load(kit->symbols(), {&shop});
  auto open = table.find("Shop/open");
  ASSERT_TRUE(open);
  EXPECT_EQ(table.name(*open), "Shop/open");
  EXPECT_EQ(table.binding(*open), &shop.actions[0]);
  EXPECT_TRUE(table.is_timer(*table.find("Timer/wait")));
  EXPECT_TRUE(table.is_undo(*table.find("Flow/undo")));
  EXPECT_FALSE(table.find("Shop/close"));
  const std::string& name = table.name(*open);
  table.load(kit->symbols(), {});
  EXPECT_EQ(table.binding(*open), nullptr);
  EXPECT_EQ(&table.name(*open), &name);  // whoever looked at it before may go on
}

}  // namespace action_table_test
}  // namespace sluice::engine
