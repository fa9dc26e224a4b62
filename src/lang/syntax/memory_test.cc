// How much memory a file of the language that is made to hurt can ask for. A parser may keep what it has read, so its
// bound is a few times the text; what the text only claims must cost nothing.
#include <gtest/gtest.h>

#include "base/testing_memory.h"
#include "lang/check/testing_kit.h"
#include "lang/syntax/concept_parser.h"
#include "lang/syntax/suite_parser.h"
#include "lang/syntax/sync_parser.h"

namespace sluice::lang {
namespace memory_test {

constexpr size_t kBytes = 1'000'000;
constexpr size_t kMost = size_t{8} << 20;

std::string repeated(std::string_view part, size_t bytes = kBytes) {
  std::string text;
  while (text.size() < bytes) text += part;
  return text;
}

// What parsing takes at most; the first error goes to `problem`, cut to what a test compares.
template <typename Parse>
size_t memory_of(Parse parse, const std::string& text, std::string& problem) {
  return peak_memory([&] {
    Diagnostics found;
    bool whole = parse(text, "x", found).has_value();
    problem = whole ? "no error" : found.all().empty() ? "no reason" : found.all().front().text.substr(0, 60);
  });
}

constexpr auto kConcept = [](const std::string& text, const std::string& file, Diagnostics& found) {
  return parse_concept(text, file, found);
};
constexpr auto kSync = [](const std::string& text, const std::string& file, Diagnostics& found) {
  return parse_sync(text, file, found);
};
constexpr auto kSuite = [](const std::string& text, const std::string& file, Diagnostics& found) {
  return parse_suite(text, file, found);
};

struct Row {
  std::string text;
  std::string problem;
};

template <typename Parse>
void expect_bounded(Parse parse, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    std::string problem;
    EXPECT_LT(memory_of(parse, row.text, problem), kMost) << row.text.substr(0, 80);
    EXPECT_EQ(problem, row.problem) << row.text.substr(0, 80);
  }
}

TEST(ConceptParser, HostileTextTakesNoMemory) {
  expect_bounded(kConcept,
                 {
                     {repeated("{"), "expected `concept`, found `{`"},
                     {"concept A { state { a: " + repeated("set "), "nested more than 100 deep"},
                     {"concept A { state { a: " + repeated("A -> list "), "nested more than 100 deep"},
                     {"concept A { state { a: " + repeated("{ b: "), "nested more than 100 deep"},
                     {"concept A { actions { action go(a: " + repeated("option "), "nested more than 100 deep"},
                     {"concept " + repeated("A"), "a name of 1000000 characters; names may have 256"},
                     {"concept A { purpose { " + repeated("x"), "the text of the purpose is not closed"},
                     {"concept A { purpose { " + repeated("{"), "the text of the purpose is not closed"},
                     {"concept A { invariant { always \"a\" { " + repeated("("), "nested more than 100 deep"},
                 });
}

TEST(SyncParser, HostileTextTakesNoMemory) {
  expect_bounded(
      kSync,
      {
          {repeated("["), "expected `sync` or `guard`, found `[`"},
          {"sync A when { B/c: [ d: " + repeated("["), "expected a variable, a literal, `_` or `{ … }`, found `[`"},
          {"sync A when { B/c: [ d: " + repeated("{ a: "), "nested more than 100 deep"},
          {"sync A when { B/c: [] => ok[] } where { filter(" + repeated("("), "nested more than 100 deep"},
          {"sync A when { B/c: [] => ok[] } where { filter(" + repeated("not "), "nested more than 100 deep"},
          {"sync A when { B/c: [] => ok[] } then { D/e: [ a: \"" + repeated("x"), "unterminated string"},
          {"sync " + repeated("A"), "a name of 1000000 characters; names may have 256"},
          {"# " + repeated("x"), "no error"},
      });
}

// Such a text is a legal one, so its tree is kept; it must only stay in proportion.
TEST(SyncParser, ALongConditionTakesInProportionToItsLength) {
  std::string problem;
  std::string text = "sync A when { B/c: [] => ok[] } where { filter(" + repeated("1 = 1 and ");
  EXPECT_LT(memory_of(kSync, text, problem), 64 * kBytes);
  EXPECT_EQ(problem, "expected a value, found the end of the file");
}

TEST(SuiteParser, HostileTextTakesNoMemory) {
  expect_bounded(kSuite, {
                             {repeated("["), "more than 128 maps and lists inside one another"},
                             {repeated("- "), "more than 128 maps and lists inside one another"},
                             {"suite: {name: " + repeated("a"), "the map that '{' begins is not closed"},
                             {"a: &a [x, x]\nb: &b [" + repeated("*a, ", 200'000),
                              "aliases and merges add more than 20000 values to the text"},
                         });
}

// The checker keeps a few times what the parser does, whatever follows from what: here from each of the syncs all of
// them.
TEST(Check, SyncsThatAllLeadToOneAnotherTakeInProportionToTheirNumber) {
  std::string rules;
  for (int i = 0; i < 2000; ++i) {
    rules += "sync A" + std::to_string(i) + " when { A/a: [] => ok[ n: ?x ] } then { A/a: [ n: ?x ] }\n";
  }
  Kit kit = kit_of({"concept A { actions { action a(n: Int) { -> ok(n: Int) } } }"}, rules);
  std::vector<std::string> found;
  EXPECT_LT(peak_memory([&] { found = told_of_flow(std::move(kit)); }), 16 * rules.size() + (1 << 20));
  ASSERT_EQ(found.size(), 21U);  // of the cycles of one part no more are told, and that there are more
  EXPECT_EQ(found[0],
            "rules.sync:1:6+2 warning cycle: an endless cascade: A0 → A/a → A0 [break it, or mark a sync on it [loop] "
            "if it ends by itself]");
}

TEST(Check, AChainOfRequestsTakesInProportionToItsLength) {
  constexpr int kLong = 1000;
  std::string actions, rules;
  for (int i = 0; i <= kLong; ++i) {
    std::string from = "a" + std::to_string(i), to = "a" + std::to_string(i + 1);
    actions += "action " + from + "(n: Int) { runs: answered -> ok(n: Int) }\n";
    if (i == kLong) break;
    rules += "sync Ask" + from + " when { A/" + from + ": [ n: ?x ] => requested } then { A/" + to + ": [ n: ?x ] }\n";
    rules += "sync Done" + from + " when { A/" + to + ": [] => ok[ n: ?x ]  caused by A/" + from +
             ": [] => requested as ?r } then { answer ?r => ok[ n: ?x ] }\n";
  }
  Kit kit = kit_of({"concept A { actions { " + actions + " } }"}, rules);
  std::vector<std::string> found;
  EXPECT_LT(peak_memory([&] { found = told_of_flow(std::move(kit)); }), 24 * rules.size() + (1 << 20));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].substr(0, 66), "0.concept:1001:8+5 warning no-answer: no active sync matches `A/a1");
}

}  // namespace memory_test
}  // namespace sluice::lang
