// Tests made of fixtures and invariants, as text; they run in tests/lang.
#include "lang/codegen/generate_tests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/syntax/concept_parser.h"

namespace sluice::lang {
namespace generate_tests_test {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kText = R"(concept Box [B] {
  actions {
    action open(box: B) {
      -> ok -> stuck(why: String)
      fixture rusty { box: "r" } -> stuck
    }
  }
  invariant { openTwice { after open(box: b) -> ok then open(box: b) -> ok } }
  always { 1 = 1 }
  action open { ensures ok: 1 = 1 }
  eventually "all open" { 1 = 1 }
  scenario "a day" { when { open(box: "a") -> ok } then { open(box: "a") -> ok } }
}
)";

Concept parsed(const std::string& text) {
  Diagnostics found;
  auto spec = parse_concept(text, "box.concept", found);
  EXPECT_TRUE(spec) << render(found, text);
  return spec.value_or(Concept{});
}

TEST(GenerateTests, HasATestForEachFixtureAndInvariant) {
  std::string source = generate_tests(parsed(kText), kText, {.ns = "kit::box", .stem = "box", .source = "box.concept"});
  EXPECT_THAT(source, HasSubstr("TEST(BoxConformance, FixtureRustyOfOpenEndsInStuck) {\n"
                                "  EXPECT_EQ(conformance().fixture(\"rusty\"), \"\");\n}\n"));
  EXPECT_THAT(source, HasSubstr("TEST(BoxConformance, ExampleOpenTwice) {\n"
                                "  EXPECT_EQ(conformance().invariant(0), \"\");\n}\n"));
  EXPECT_THAT(source, HasSubstr("TEST(BoxConformance, Always2) {"));
  EXPECT_THAT(source, HasSubstr("TEST(BoxConformance, ContractOpen) {"));
  EXPECT_THAT(source, HasSubstr("TEST(BoxConformance, EventuallyAllOpen) {\n"
                                "  EXPECT_EQ(conformance().invariant(3), \"\");\n}\n"));
  EXPECT_THAT(source, HasSubstr("TEST(BoxConformance, ScenarioADay) {\n"
                                "  EXPECT_EQ(conformance().invariant(4), \"\");\n}\n"));
  EXPECT_THAT(source, HasSubstr("    \"      fixture rusty { box: \\\"r\\\" } -> stuck\\012\"\n"));
  EXPECT_THAT(source, Not(HasSubstr("prepare(")));
}

TEST(GenerateTests, NamesTestsApartWhoseTitlesAreOneName) {
  std::string text =
      "concept Box [B] { actions { action open() { -> ok } }\n always \"a b\" { 1 = 1 }\n always \"a-b\" { 1 = 1 } }";
  std::string source = generate_tests(parsed(text), text, {.ns = "x", .stem = "box"});
  EXPECT_THAT(source, HasSubstr("TEST(BoxConformance, AlwaysAB) {"));
  EXPECT_THAT(source, HasSubstr("TEST(BoxConformance, AlwaysABAgain) {"));
}

TEST(GenerateTests, AsksForToolsWhereThereAreEffects) {
  std::string text = "concept Box [B] { actions { action open() { runs: effect -> ok } } }";
  EXPECT_THAT(generate_tests(parsed(text), text, {.ns = "x", .stem = "box"}),
              HasSubstr("void prepare(lang::Harness& harness);"));
}

TEST(GenerateVariants, ListsThemAll) { EXPECT_EQ(generate_variants(parsed(kText)), "Box.open.ok\nBox.open.stuck\n"); }

}  // namespace generate_tests_test
}  // namespace sluice::lang
