// Actions by name.
#include "lang/run/binding.h"

#include <gtest/gtest.h>

namespace sluice::lang {
namespace binding_test {

TEST(ConceptBinding, FindsAnActionByItsName) {
  ConceptBinding binding{.name = "Box", .actions = {{.name = "open"}, {.name = "close"}}};
  EXPECT_EQ(binding.action("close"), &binding.actions[1]);
  EXPECT_EQ(binding.action("burn"), nullptr);
}

}  // namespace binding_test
}  // namespace sluice::lang
