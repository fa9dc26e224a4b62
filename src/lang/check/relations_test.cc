// Relations of a state, and states that cannot be kept.
#include "lang/check/relations.h"

#include <gtest/gtest.h>

#include "lang/syntax/concept_parser.h"

namespace sluice::lang {
namespace relations_test {

Concept with_state(const std::string& state) {
  Diagnostics found;
  std::string text =
      "concept Box [B, Lid] {\n  state {\n" + state + "\n  }\n  actions { action open() { -> ok } }\n}\n";
  auto spec = parse_concept(text, "box.concept", found);
  EXPECT_TRUE(spec) << render(found, text);
  return spec.value_or(Concept{});
}

TEST(Relations, MergeWhatHasOneDomainAndPartWhatIsMany) {
  auto relations =
      relations_of(with_state("boxes: set B\n inner { size: B -> Int\n names: B -> list String }\n"
                              "colour: Lid -> String\n keys: B -> set ID\n price: String -> Int\n"
                              "total: Int\n note: B -> option String"));
  ASSERT_TRUE(relations);
  std::string text;
  for (const Relation& relation : *relations) {
    text += relation.name + " by " + relation.domain + ":";
    for (const FieldDecl& field : relation.fields) text += " " + field.name;
    text += relation.field.empty() ? "\n" : " of " + relation.field + "\n";
  }
  EXPECT_EQ(text,
            "Box by B: size note\nBox[Lid] by Lid: colour\nBox[String] by String: price\nBox[] by : total\n"
            "Box.names by B: of names\nBox.keys by B: of keys\n");
}

std::string error_of(const std::string& state) {
  auto relations = relations_of(with_state(state));
  return relations ? "no error" : to_string(relations.error());
}

TEST(Relations, RefuseStatesThatHaveNoRows) {
  EXPECT_EQ(error_of("a: B -> Int\n a: B -> Int"),
            "box.concept:4:2: the state has two fields `a`; names are unique in a concept");
  EXPECT_EQ(error_of("all: set B\n closed: set B"),
            "box.concept:4:2: `closed` is a second set of B; a set is the existence of its rows: write `closed: B -> "
            "Bool`");
  EXPECT_EQ(error_of("a: Int -> String"),
            "box.concept:3:1: `a` maps from something that cannot be a key; a domain is a type parameter, String or "
            "ID");
}

TEST(Relations, TellEveryComponentThatCannotBeKeptAndKeepTheRest) {
  Concept spec = with_state("all: set B\n closed: set B\n size: B -> Int\n colour: Float -> String");
  StateRelations state = read_state(spec);
  ASSERT_EQ(state.relations.size(), 1);
  EXPECT_EQ(state.relations[0].fields.size(), 1);
  ASSERT_EQ(state.unkept.size(), 2);
  EXPECT_EQ(state.unkept[0].component, &spec.state[1]);
  EXPECT_EQ(state.unkept[1].component, &spec.state[3]);
}

}  // namespace relations_test
}  // namespace sluice::lang
