// What counts as another concept of the same name.
#include "lang/run/contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/syntax/concept_parser.h"

namespace sluice::lang {
namespace contract_test {

using testing::ElementsAre;

std::vector<std::string> contract_of_text(const std::string& text) {
  Diagnostics found;
  auto source = parse_concept(text, "x.concept", found);
  EXPECT_TRUE(source) << render(found, text);
  return contract_of(*source);
}

TEST(Contract, HasALineForEachComponentAndAction) {
  EXPECT_THAT(contract_of_text(R"(concept Box [B] {
  purpose { Keep things. }
  state {
    sizes { size: B -> Int }
    marks: B -> list { at: DateTime, text: option String }
  }
  actions {
    action fill(box: B, what: String) {
      runs: effect
      retry: safe
      deadline: 2m
      -> ok(box: B) { It is full. }
      -> full(box: B) @code(conflict)
    }
    action look(box: B) { runs: query -> ok(size: Int) }
  }
})"),
              ElementsAre("size: B -> Int", "marks: B -> list { at: DateTime, text: option String }",
                          "action fill(box: B, what: String) runs: effect retry: safe deadline: 120s -> ok(box: B) "
                          "-> full(box: B) @code(conflict)",
                          "action look(box: B) runs: query -> ok(size: Int)"));
}

TEST(Contract, ProseAndOrderOfGroupsAreNoPartOfIt) {
  EXPECT_EQ(
      contract_of_text("concept A [X] { purpose { One. } state { n: X -> Int } actions { action a() { -> ok } } }"),
      contract_of_text("concept A [X] { state { g { n: X -> Int } } actions { action a() { -> ok() { Two. } } } }"));
}

}  // namespace contract_test
}  // namespace sluice::lang
