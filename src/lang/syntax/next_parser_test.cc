// Next steps of guards and of variants.
#include "lang/syntax/next_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "lang/format/format.h"
#include "lang/syntax/concept_parser.h"
#include "lang/syntax/testing_rules.h"

namespace sluice::lang {
namespace next_parser_test {

TEST(NextParser, ReadsAnActionAViewAndASentence) {
  const std::string text = R"(guard G
  before { A/go: [ a: ?a ] }
  require { A: { ?a } }
  else no[]
  next: A/stay [ a: ?a; n: 1 ] if ?a != "x" and ?a != "y"
  next: A/look
  next: view "things/open" [ a: ?a ]
  next: "wait for {{a}}" if ?a = "z"
)";
  SyncFile file = parsed_rules(text);
  const std::vector<Next>& next = guard_of(file).next;
  ASSERT_EQ(next.size(), 4u);
  EXPECT_EQ(next[0].concept_.text + "/" + next[0].action.text, "A/stay");
  EXPECT_EQ(next[0].arguments.size(), 2u);
  EXPECT_EQ(next[0].condition->op, Expr::Op::all);
  EXPECT_TRUE(next[1].arguments.empty());
  EXPECT_EQ(next[2].view.text, "things/open");
  EXPECT_EQ(next[2].arguments[0].name, "a");
  EXPECT_EQ(next[3].text->op, Expr::Op::text);
  EXPECT_TRUE(next[3].condition);
  EXPECT_EQ(format(file), text);
  EXPECT_THAT(
      faults_of_rules("guard G before { A/go: [] } require { A: { ?a } } else no[] next: go"),
      testing::ElementsAre("1:69 expected `/` between concept and action, found the end of the file | write `/`"));
}

TEST(NextParser, InAConceptNamesAreBare) {
  const std::string text = R"(concept A [T] {
  actions {
    action go(thing: T) {
      -> ok
      -> no(why: String) @code(conflict) { It stays. }
      next: A/go [ thing: thing ] if why = "late"
      next: "{{why}} of {{thing}}"
      -> gone
    }
  }
}
)";
  Diagnostics found;
  auto tree = parse_concept(text, "a.concept", found);
  ASSERT_TRUE(tree);
  const std::vector<Variant>& variants = tree->actions[0].variants;
  ASSERT_EQ(variants.size(), 3u);
  ASSERT_EQ(variants[1].next.size(), 2u);
  EXPECT_EQ(variants[1].next[0].arguments[0].value.name, "thing");
  EXPECT_EQ(variants[1].next[1].text->args[0].name, "why");
  EXPECT_EQ(format(*tree), text);
}

}  // namespace next_parser_test
}  // namespace sluice::lang
