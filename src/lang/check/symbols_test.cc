// Look-ups by name.
#include "lang/check/symbols.h"

#include <gtest/gtest.h>

namespace sluice::lang {
namespace symbols_test {

TEST(Symbols, FindsByNameOrNotAtAll) {
  Symbols symbols;
  symbols.concepts.push_back(
      {.name = "A", .actions = {{.name = "go", .variants = {{.name = "ok", .fields = {{"x", 0, {}}}}}}}});
  symbols.by_name["A"] = 0;
  EXPECT_EQ(symbols.find_concept("A"), 0u);
  EXPECT_EQ(symbols.find_concept("B"), std::nullopt);
  EXPECT_EQ(symbols.find_action(0, "go"), 0u);
  EXPECT_EQ(symbols.find_action(0, "stop"), std::nullopt);
  EXPECT_EQ(symbols.find_action("A/go"), (ActionRef{0, 0}));
  for (const char* none : {"A/stop", "B/go", "A", "", "/go", "A/"})
    EXPECT_EQ(symbols.find_action(none), std::nullopt) << none;
  EXPECT_EQ(find_variant(symbols.action({0, 0}), "ok"), 0u);
  EXPECT_EQ(find_field(symbols.action({0, 0}).variants[0].fields, "y"), std::nullopt);
  EXPECT_EQ(symbols.name({0, 0}), "A/go");
}

}  // namespace symbols_test
}  // namespace sluice::lang
