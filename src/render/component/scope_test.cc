// Expressions in texts.
#include "render/component/scope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::component::scope_test {
namespace {

using testing::HasSubstr;

struct ScopeTest : testing::Test {
  ScopeTest() { scope.set("v", json::parse(R"({"n": 3, "s": "x", "l": [1, 2]})"), scope.types().dynamic()); }

  std::string filled(const char* text) {
    auto made = scope.fill(json::value(text));
    return made ? json::serialize(*made) : made.error().message;
  }

  Scope scope;
};

TEST_F(ScopeTest, OneExpressionKeepsItsType) {
  EXPECT_EQ(filled("${v.n}"), "3");
  EXPECT_EQ(filled("  ${v.l}\n"), "[1,2]");
  EXPECT_EQ(filled("${v.n}${v.n}"), "\"33\"");
  EXPECT_EQ(filled("a ${v.l} b ${v.s}"), "\"a [1,2] b x\"");
}

TEST_F(ScopeTest, BracesAndQuotesWithinAnExpression) {
  EXPECT_EQ(filled("${{'a': '}'}}"), R"({"a":"}"})");
  EXPECT_EQ(filled("${'\\'}' + v.s}"), "\"'}x\"");
  EXPECT_EQ(filled("no end ${v.n"), "\"no end ${v.n\"");
  EXPECT_THAT(filled("${v[${v.n}]}"), HasSubstr("stands within another one"));
}

TEST_F(ScopeTest, FaultsNameTheExpression) {
  EXPECT_EQ(filled("${v.none}"), "${v.none}: no such key: 'none'");
  EXPECT_EQ(filled("x ${nobody}"), "${nobody}: there is no 'nobody' here");
  EXPECT_EQ(filled("x ${oc_omit()}"), "oc_omit() stands for a whole value, not for a part of a text");
}

TEST_F(ScopeTest, InnerScopesSeeWhatTheOuterOneHas) {
  Scope inner(scope, 0);
  inner.set("each", json::value(7), inner.types().basic(cel::TypeKind::integer));
  EXPECT_EQ(*inner.text("${v.n + each}"), "10");
  EXPECT_FALSE(scope.text("${each}"));
}

TEST_F(ScopeTest, ExpressionsOfAText) {
  EXPECT_EQ(*expressions_of("a ${b} c ${d.e}"), (std::vector<std::string>{"b", "d.e"}));
}

}  // namespace
}  // namespace sluice::component::scope_test
