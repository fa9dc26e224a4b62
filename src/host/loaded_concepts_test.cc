// Handlers run only what they were made for.
#include "host/loaded_concepts.h"

#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"
#include "orders/orders_kit.h"

namespace sluice::host {
namespace loaded_concepts_test {

lang::CheckedKit kit_with(const std::string& text) {
  lang::Checked checked = lang::check(lang::kit_of({text}, ""));
  EXPECT_TRUE(checked.kit);
  return *std::move(checked.kit);
}

TEST(LoadedConcepts, AreFoundByName) {
  LoadedConcepts loaded{.concepts = orders::concepts()};
  ASSERT_NE(loaded.find("Stock"), nullptr);
  EXPECT_EQ(loaded.find("Stock")->name, "Stock");
  EXPECT_EQ(loaded.find("Shelf"), nullptr);
}

TEST(LoadedConcepts, LeaveConceptsWithoutHandlersAlone) {
  LoadedConcepts loaded{.concepts = orders::concepts()};
  EXPECT_TRUE(check_handlers(loaded, kit_with("concept Shelf [S] { actions { action add() { -> ok } } }")));
}

TEST(LoadedConcepts, RefuseAnotherConceptOfTheSameName) {
  LoadedConcepts loaded{.concepts = orders::concepts()};
  for (const char* action : {"action add(item: I) { -> ok -> full }", "action sell(item: I) { -> ok }",
                             "action look(item: I) { -> ok -> unknown }"}) {
    auto fits = check_handlers(loaded, kit_with("concept Stock [I] { actions { " + std::string(action) + " } }"));
    ASSERT_FALSE(fits) << action;
    EXPECT_EQ(fits.error().code, Code::invalid);
    EXPECT_TRUE(
        fits.error().message.starts_with("the handlers of Stock in this program were made for another Stock: "));
  }
}

}  // namespace loaded_concepts_test
}  // namespace sluice::host
