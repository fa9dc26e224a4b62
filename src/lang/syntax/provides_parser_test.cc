// How a provider says what it provides.
#include "lang/syntax/provides_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "lang/format/format.h"
#include "lang/syntax/concept_parser.h"

namespace sluice::lang {
namespace provides_parser_test {

std::vector<std::string> faults_of(const std::string& provides) {
  Diagnostics found;
  parse_concept("concept A [T] {\n" + provides + "\n}", "a.concept", found);
  std::vector<std::string> lines;
  for (const Diagnostic& each : found.all()) {
    lines.push_back(std::to_string(each.mark.line) + ":" + std::to_string(each.mark.column) + " " + each.text);
  }
  return lines;
}

TEST(ProvidesParser, ReadsActionsAndVariants) {
  const std::string text = R"(concept A [T] {
  kind: "a"

  routed by: type

  provides B {
    make -> build [ row: row; size: 3 ] {
      ok
      torn, wet -> failed[ reason: "{{why}}" ]
      else -> failed[ reason: message ]
    }
    turn -> unsupported
    spin -> unsupported [ reason: "it is square" ]
  }
}
)";
  Diagnostics found;
  auto tree = parse_concept(text, "a.concept", found);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->kind, "a");
  EXPECT_EQ(tree->routed_by->text, "type");
  ASSERT_EQ(tree->provides.size(), 1u);
  const std::vector<ProvidedAction>& actions = tree->provides[0].actions;
  ASSERT_EQ(actions.size(), 3u);
  EXPECT_EQ(actions[0].target.text, "build");
  EXPECT_EQ(actions[0].arguments.size(), 2u);
  ASSERT_EQ(actions[0].variants.size(), 3u);
  EXPECT_FALSE(actions[0].variants[0].to);
  EXPECT_EQ(actions[0].variants[1].from.size(), 2u);
  EXPECT_EQ(actions[0].variants[1].to->text, "failed");
  EXPECT_TRUE(actions[0].variants[2].from.empty());
  EXPECT_TRUE(actions[1].at_once);
  EXPECT_EQ(actions[2].arguments[0].name, "reason");
  EXPECT_EQ(format(*tree), text);
}

TEST(ProvidesParser, SaysWhatIsMissing) {
  EXPECT_THAT(faults_of("provides B { make build }"),
              testing::ElementsAre("2:19 expected `->` after the coordination action, found `build`"));
  EXPECT_THAT(faults_of("provides B { make -> build { else } }"),
              testing::ElementsAre("2:35 expected `->` after `else`, found `}`"));
  EXPECT_THAT(faults_of("kind: \"a\"\nkind: \"b\""), testing::ElementsAre("3:1 a second `kind`"));
}

}  // namespace provides_parser_test
}  // namespace sluice::lang
