// Conditions over variables and rows.
#include "lang/run/evaluate.h"

#include <gtest/gtest.h>

#include "lang/run/memory_rows.h"
#include "lang/syntax/concept_parser.h"

namespace sluice::lang {
namespace evaluate_test {

class EvaluatorTest : public testing::Test {
 protected:
  EvaluatorTest() {
    rows.put("Box", "a", json::object{{"size", 1}, {"lid", json::object{{"colour", "red"}}}});
    rows.put("Box", "b", json::object{{"size", 5}});
    rows.put("Box.names", child_key("a", "0"), "first");
    rows.put("Box.names", child_key("a", "1"), "second");
  }

  // The value of a condition, or why it has none.
  std::string holds(const std::string& condition) {
    std::string text =
        "concept Box [B] { state { boxes: set B\n size: B -> Int\n lid: B -> option { colour: String }\n"
        " names: B -> list String\n total: Int }\n actions { action open() { -> ok } }\n always { " +
        condition + " } }";
    Diagnostics found;
    auto spec = parse_concept(text, "box.concept", found);
    if (!spec) return render(found, text);
    auto relations = *relations_of(*spec);
    Evaluator evaluator(*spec, relations, rows);
    try {
      return evaluator.holds(spec->invariants.at(0).conditions.at(0), {{"x", 2}, {"b", "a"}}) ? "true" : "false";
    } catch (const EvaluationError& error) {
      return error.what();
    }
  }

  MemoryRows rows;
};

TEST_F(EvaluatorTest, ComparesValues) {
  EXPECT_EQ(holds("x = 2 and x != 3 and x < 2.5 and x >= 2"), "true");
  EXPECT_EQ(holds("x = 2.0"), "true");
  EXPECT_EQ(holds("\"a\" < \"b\" and not \"a\" > \"b\""), "true");
  EXPECT_EQ(holds("x = 3 or x = 4"), "false");
  EXPECT_EQ(holds("x in [1, 2] and x not in [3]"), "true");
  EXPECT_EQ(holds("[1, 2] = [1, 2] and { a: 1 } != { a: 2 }"), "true");
}

TEST_F(EvaluatorTest, ConcatJoinsTextAndShowsAllElseAsJson) {
  EXPECT_EQ(holds("concat(\"n\", x, b.names, null) = \"n2[\\\"first\\\",\\\"second\\\"]\""), "true");
}

TEST_F(EvaluatorTest, ReadsTheState) {
  EXPECT_EQ(holds("boxes = [\"a\", \"b\"]"), "true");
  EXPECT_EQ(holds("size = [1, 5]"), "true");
  EXPECT_EQ(holds("b.size = 1 and size(b) = 1"), "true");
  EXPECT_EQ(holds("b.lid.colour = \"red\""), "true");
  EXPECT_EQ(holds("b.names = [\"first\", \"second\"]"), "true");
  EXPECT_EQ(holds("count(names) = 2"), "true");
  EXPECT_EQ(holds("total = 0"), "true");
}

TEST_F(EvaluatorTest, TriesAllOrSome) {
  EXPECT_EQ(holds("forall q in boxes: q.size > 0"), "true");
  EXPECT_EQ(holds("forall q in boxes: q.size > 1"), "false");
  EXPECT_EQ(holds("forall q in boxes where q.size > 1: q.lid = null"), "true");
  EXPECT_EQ(holds("exists q in boxes: q.size = 5"), "true");
  EXPECT_EQ(holds("exists q in boxes: q.size = 6"), "false");
}

TEST_F(EvaluatorTest, SaysWhatHasNoValue) {
  EXPECT_EQ(holds("y = 1"), "\"y\" is neither a variable nor a field of the state");
  EXPECT_EQ(holds("b < 1"), "cannot compare \"a\" with 1");
  EXPECT_EQ(holds("b.weight = 1"), "the state has no field \"weight\"");
  EXPECT_EQ(holds("x"), "a condition is true or false, not 2");
  EXPECT_EQ(holds("x in b"), "\"a\" is not a list");
}

}  // namespace evaluate_test
}  // namespace sluice::lang
