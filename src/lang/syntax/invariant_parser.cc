// Invariants, by recursive descent.
#include "lang/syntax/invariant_parser.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "lang/syntax/expression_parser.h"

namespace sluice::lang {
namespace {

using Kind = Invariant::Kind;

constexpr int64_t kMaxTimeoutMs = int64_t{365} * 24 * 60 * 60 * 1000;

struct KindName {
  std::string_view word;
  Kind kind;
};
constexpr std::array<KindName, 6> kKinds = {{{"example", Kind::example},
                                             {"forall", Kind::forall},
                                             {"always", Kind::always},
                                             {"never", Kind::never},
                                             {"eventually", Kind::eventually},
                                             {"scenario", Kind::scenario}}};

// A call is `action(` or `Concept/action(`; anything else is a condition.
Step parse_step(Cursor& cursor) {
  Step step;
  step.at = cursor.peek().at;
  bool foreign = cursor.at_word() && cursor.after().is("/");
  Token next = cursor.after();
  bool call = cursor.at_word() && !cursor.at("not") && next.is("(") && !next.first_on_line;
  if (!foreign && !call) {
    step.condition = parse_plain_condition(cursor, Dialect::invariant);
    return step;
  }
  if (foreign) {
    step.concept_ = cursor.take().text;
    cursor.take();
  }
  step.action = cursor.expect_name("an action's name").text;
  cursor.expect("(", "after the action's name");
  step.input = parse_arguments(cursor, Dialect::invariant, ")");
  cursor.expect("->", "before the variant that the action must end in");
  step.variant = cursor.expect_name("a variant's name").text;
  if (cursor.accept("(")) step.output = parse_arguments(cursor, Dialect::invariant, ")");
  return step;
}

// `after a and b then c and d`, each part optional when `loose`.
void parse_sequence(Cursor& cursor, Invariant& invariant, bool loose) {
  auto steps = [&](std::vector<Step>& into) {
    do {
      into.push_back(parse_step(cursor));
      cursor.skip_separators();
    } while (cursor.accept("and"));
  };
  if (!loose || cursor.at("after")) {
    cursor.expect("after", "before the steps that lead there");
    steps(invariant.after);
  }
  if (!loose || cursor.at("then")) {
    cursor.expect("then", "before what must follow");
    steps(invariant.then);
  }
}

void parse_given(Cursor& cursor, Invariant& invariant) {
  while (cursor.at("given")) {
    Invariant::Given given;
    given.at = cursor.take().at;
    given.variable = cursor.expect_name("a variable after `given`").text;
    cursor.expect("in", "after the variable");
    given.in = parse_value(cursor, Dialect::invariant);
    if (cursor.accept("where")) given.where = parse_condition(cursor, Dialect::invariant);
    invariant.given.push_back(std::move(given));
    cursor.skip_separators();
  }
}

void parse_conditions(Cursor& cursor, Invariant& invariant) {
  while (!cursor.at("}") && !cursor.ended()) {
    invariant.conditions.push_back(parse_condition(cursor, Dialect::invariant));
    cursor.skip_separators();
  }
}

void parse_settlement(Cursor& cursor, Invariant& invariant) {
  auto& settlement = invariant.settlement;
  settlement.at = cursor.take().at;
  cursor.expect(":", "after `settlement`");
  if (cursor.accept("sync")) return;
  Token kind = cursor.peek();
  settlement.kind = cursor.expect_string("sync, \"async-eventually\" or \"async-with-anchor\"");
  bool timed = settlement.kind == "async-eventually";
  if (!timed && settlement.kind != "async-with-anchor") {
    cursor.fail(kind, "unknown settlement", "write sync, \"async-eventually\" or \"async-with-anchor\"");
  }
  cursor.expect("{", "after the settlement's kind");
  cursor.expect(timed ? "timeoutMs" : "anchor", "");
  cursor.expect(":", "after the settlement's field");
  if (!timed) {
    settlement.anchor = cursor.expect_string("a string");
  } else if (cursor.at(Token::Kind::integer) && cursor.peek().value.as_int64() > 0 &&
             cursor.peek().value.as_int64() <= kMaxTimeoutMs) {
    settlement.timeout_ms = cursor.take().value.as_int64();
  } else {
    cursor.fail_here("a whole number of milliseconds from 1 to " + std::to_string(kMaxTimeoutMs) + ", a year");
  }
  cursor.expect("}", "to close the settlement");
}

void parse_scenario(Cursor& cursor, Invariant& invariant) {
  auto block = [&](std::vector<Step>& into, At& at) {
    Token word = cursor.take();
    if (into.empty()) at = word.at;
    cursor.expect("{", "before the steps");
    while (!cursor.at("}") && !cursor.ended()) {
      cursor.accept("and");
      into.push_back(parse_step(cursor));
      cursor.skip_separators();
    }
    cursor.expect("}", "to close the steps");
  };
  while (!cursor.at("}") && !cursor.ended()) {
    if (cursor.at("fixture")) {
      invariant.fixtures.push_back(parse_fixture(cursor, false));
    } else if (cursor.at("given")) {
      block(invariant.before, invariant.before_at);
    } else if (cursor.at("when")) {
      block(invariant.after, invariant.after_at);
    } else if (cursor.at("then")) {
      block(invariant.then, invariant.then_at);
    } else if (cursor.at("settlement")) {
      parse_settlement(cursor, invariant);
    } else {
      cursor.fail_here("fixture, given, when, then or settlement");
    }
    cursor.skip_separators();
  }
}

// At a kind's word.
Invariant parse_named(Cursor& cursor) {
  Invariant invariant;
  Token word = cursor.take();
  invariant.at = word.at;
  for (const auto& [name, kind] : kKinds) {
    if (word.text == name) invariant.kind = kind;
  }
  if (cursor.at(Token::Kind::string) || cursor.at_word()) invariant.name = cursor.take().text;
  cursor.accept(":");
  cursor.expect("{", "before the body of the invariant");
  switch (invariant.kind) {
    case Kind::scenario:
      parse_scenario(cursor, invariant);
      break;
    case Kind::example:
      parse_sequence(cursor, invariant, false);
      break;
    case Kind::forall:
      parse_given(cursor, invariant);
      if (cursor.at("after") || cursor.at("then")) {
        parse_sequence(cursor, invariant, true);
      } else {
        parse_conditions(cursor, invariant);
      }
      break;
    default:
      parse_conditions(cursor, invariant);
  }
  bool empty = invariant.then.empty() && invariant.conditions.empty();
  if (cursor.at("}") && empty) cursor.fail_here("what must hold");
  cursor.expect("}", "to close the invariant");
  return invariant;
}

// `action name { requires: …  ensures ok: … }`
Invariant parse_contract(Cursor& cursor) {
  Invariant invariant;
  invariant.at = cursor.take().at;
  invariant.kind = Kind::contract;
  invariant.action = cursor.expect_name("an action's name").text;
  if (cursor.at("(")) cursor.fail_here("`{`", "actions are declared in `actions { … }`; this is a contract");
  cursor.expect("{", "before the contract");
  cursor.skip_separators();
  while (!cursor.at("}") && !cursor.ended()) {
    Invariant::Clause clause;
    clause.at = cursor.peek().at;
    if (cursor.accept("requires")) {
      clause.requires_ = true;
    } else {
      cursor.expect("ensures", "or `requires`");
      if (cursor.at_word()) clause.variant = cursor.take().text;
    }
    cursor.expect(":", "before the condition");
    clause.condition = parse_condition(cursor, Dialect::invariant);
    invariant.clauses.push_back(std::move(clause));
    cursor.skip_separators();
  }
  if (cursor.at("}") && invariant.clauses.empty()) cursor.fail_here("`requires:` or `ensures:`");
  cursor.expect("}", "to close the contract");
  return invariant;
}

// One entry of `invariant { … }`: `name { after … then … }`, a bare sequence, a kind, or a contract.
Invariant parse_entry(Cursor& cursor) {
  if (is_invariant_kind(cursor.peek())) return parse_named(cursor);
  if (cursor.at("action")) return parse_contract(cursor);
  Invariant invariant;
  invariant.at = cursor.peek().at;
  if (cursor.at("after")) {
    parse_sequence(cursor, invariant, false);
    return invariant;
  }
  invariant.name = cursor.expect_name("an invariant's name, its kind, or `after`").text;
  cursor.expect("{", "before the body of the invariant");
  parse_sequence(cursor, invariant, false);
  cursor.expect("}", "to close the invariant");
  return invariant;
}

}  // namespace

bool is_invariant_kind(const Token& word) {
  return word.kind == Token::Kind::identifier &&
         std::ranges::any_of(kKinds, [&](const KindName& known) { return known.word == word.text; });
}

void parse_invariants(Cursor& cursor, std::vector<Invariant>& into, std::vector<Span>& wrappers) {
  if (!cursor.at("invariant")) {
    into.push_back(parse_entry(cursor));
    return;
  }
  constexpr uint32_t kEntryDepth = 2;
  Mark begin = cursor.take().at;
  cursor.expect("{", "after `invariant`");
  while (!cursor.at("}") && !cursor.ended()) {
    into.push_back(parse_entry(cursor));
    cursor.skip_separators();
    cursor.recover(kEntryDepth, {"example", "always", "never", "eventually", "scenario", "action"});
  }
  wrappers.push_back({begin, cursor.peek().at});
  cursor.expect("}", "to close the invariants");
}

Fixture parse_fixture(Cursor& cursor, bool expects) {
  Fixture fixture;
  fixture.at = cursor.take().at;
  fixture.name = cursor.expect_name("the fixture's name").text;
  cursor.expect("{", "before the fixture's values");
  fixture.input = parse_arguments(cursor, Dialect::fixture, "}");
  if (!expects) return fixture;
  if (cursor.accept("after")) {
    do {
      fixture.after.push_back(cursor.expect_name("a fixture's name after `after`"));
    } while (cursor.accept(","));
  }
  // An arrow on the next line begins a variant of the action.
  if (cursor.at("->") && !cursor.peek().first_on_line) {
    cursor.take();
    fixture.variant = cursor.expect_name("a variant's name after `->`").text;
  }
  return fixture;
}

}  // namespace sluice::lang
