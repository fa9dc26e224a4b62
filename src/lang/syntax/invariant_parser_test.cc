// Faults of invariants and fixtures; concept_parser_test.cc reads whole ones.
#include "lang/syntax/invariant_parser.h"

#include <gtest/gtest.h>

namespace sluice::lang {
namespace invariant_parser_test {

std::string fault(std::string_view text) {
  Diagnostics found;
  Cursor cursor(text, "x", found);
  std::vector<Invariant> invariants;
  std::vector<Span> wrappers;
  parse_invariants(cursor, invariants, wrappers);
  if (!found.failed()) return "";
  const Diagnostic& first = found.all()[0];
  return std::to_string(first.mark.column) + " " + first.text + (first.hint.empty() ? "" : " | " + first.hint);
}

TEST(InvariantParser, ReadsSettlements) {
  EXPECT_EQ(fault("scenario { then { a = 1 } settlement: sync }"), "");
  EXPECT_EQ(fault("scenario { then { a = 1 } settlement: \"async-with-anchor\" { anchor: \"x\" } }"), "");
  EXPECT_EQ(fault("scenario { then { a = 1 } settlement: \"later\" { } }"),
            "39 unknown settlement | write sync, \"async-eventually\" or \"async-with-anchor\"");
  EXPECT_EQ(fault("scenario { then { a = 1 } settlement: \"async-eventually\" { timeoutMs: 0 } }"),
            "71 expected a whole number of milliseconds from 1 to 31536000000, a year, found the number 0 | write a "
            "whole number of milliseconds from 1 to 31536000000, a year");
}

TEST(InvariantParser, NotIsNoAction) {
  EXPECT_EQ(fault("example { after make(n: 1) -> ok(p: x) then not (x.n = 2 or x.n = 3) and not\n(x.n = 4) }"), "");
}

TEST(InvariantParser, AnInvariantSaysWhatMustHold) {
  EXPECT_EQ(fault("always \"x\" { }"), "14 expected what must hold, found `}` | write what must hold");
  EXPECT_EQ(fault("scenario { when { a() -> ok } }"), "31 expected what must hold, found `}` | write what must hold");
  EXPECT_EQ(fault("example { then a() -> ok }"),
            "11 expected `after` before the steps that lead there, found `then` | write `after`");
  EXPECT_EQ(fault("action a { }"),
            "12 expected `requires:` or `ensures:`, found `}` | write `requires:` or `ensures:`");
}

TEST(InvariantParser, AContractIsNoDeclaration) {
  EXPECT_EQ(fault("action a() { -> ok }"),
            "9 expected `{`, found `(` | actions are declared in `actions { … }`; this is a contract");
}

TEST(InvariantParser, AStepEndsInAVariant) {
  EXPECT_EQ(fault("invariant { after a(x: 1) then b() -> ok }"),
            "27 expected `->` before the variant that the action must end in, found `then` | write `->`");
  EXPECT_EQ(fault("invariant { x { after a() -> ok"),
            "32 expected `then` before what must follow, found the end of the file | write `then`");
  EXPECT_EQ(fault("scenario { nothing }"),
            "12 expected fixture, given, when, then or settlement, found `nothing` | write fixture, given, when, then "
            "or settlement");
}

}  // namespace invariant_parser_test
}  // namespace sluice::lang
