// Runs a concept's own fixtures and invariants against its handlers; the tests that conceptc generates call it, one
// TEST a fixture or invariant. Each runs on fresh rows, alone, in the harness.
//
//   fixture   its `after` chain, then itself; it must end in its variant
//   example   its steps in order; a variable that nothing has bound takes its value from a fixture of that action
//   forall    the same, for every value of its `given`s: those listed, the keys of a state field in every state that a
//             fixture leads to, or for a type the values that fixtures give to a field of the variable's name
//   always, never   after every invocation of every fixture and example
//   contract  on every invocation of its action in these: where `requires` holds, `ensures` must
//   eventually   from every state that a fixture or an example leads to, some way leads on to one where it holds: a way
//             is at most kMaxMoves invocations, as fixtures make them and on every row there is, and days that pass
//   scenario  its fixtures name values; `given` and `when` run in order, then `then`. With "async-eventually" it is
//             enough that `then` holds at some time up to its timeout, by the harness's clock; with "async-with-anchor"
//             the action that the anchor names ends first, and if no step has run it, as one of its fixtures does
//
// An answered action is answered with the variant that is expected of it and the fields that a step names, none for a
// fixture: `finish` fills the rest. An id that is an argument and a field of the variant by one name must come back as
// it was given, so that nothing is left unfilled. In a step `$fixture.field` runs that fixture first.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lang/check/relations.h"
#include "lang/run/binding.h"
#include "lang/run/evaluate.h"
#include "lang/run/harness.h"
#include "lang/syntax/ast.h"

namespace sluice::lang {

class Conformance {
 public:
  using Prepare = std::function<void(Harness&)>;

  // `source` is the text of the .concept; `prepare` gives each new harness its tools. Throws std::runtime_error if the
  // text cannot be read: conceptc has read it before.
  Conformance(const ConceptBinding& binding, std::string_view source, Prepare prepare);

  // The search of `eventually` ends here: so many invocations on, and so many tried from one state.
  static constexpr size_t kMaxMoves = 8;
  static constexpr size_t kMaxTried = 2'000;

  // What is wrong, in a sentence; empty if all is well.
  std::string fixture(std::string_view name) const;
  // By its place among the concept's invariants.
  std::string invariant(size_t index) const;

 private:
  struct Failure {
    std::string text;
  };
  struct Run;   // one harness, and what has happened in it
  struct Move;  // one thing that may happen next

  Run fresh() const;
  void run_fixture(Run& run, std::string_view name) const;
  void run_chain(Run& run, const Fixture& fixture) const;
  void run_steps(Run& run, const std::vector<Step>& steps) const;
  void run_step(Run& run, const Step& step) const;
  Completion invoke(Run& run, const Action& action, const json::object& ask, const std::string& expected,
                    json::object answer) const;
  json::object seal(Run& run, const Action& action, json::object ask) const;
  void check_echoes(const Action& action, const json::object& ask, const Completion& done) const;
  void check_watched(Run& run, const Action& action, const json::object& ask, const Completion& done) const;
  json::object arguments(Run& run, const Action& action, const Step& step) const;
  json::value fixture_value(const Run& run, const Expr& expr) const;
  Expr without_fixtures(Run& run, const Expr& expr) const;
  void run_eventually(const Invariant& invariant) const;
  void search(const std::function<Run()>& make, const std::string& start, const std::vector<Expr>& conditions) const;
  std::vector<Move> moves(const Run& run, const std::string& only_action) const;
  void add_moves(const Run& run, const Action& action, const Fixture* model, std::vector<Move>& into) const;
  bool make_move(Run& run, const Move& move) const;
  void run_scenario(const Invariant& scenario) const;
  Run open_scenario(const Invariant& scenario) const;
  void run_anchored(const Invariant& scenario) const;
  void run_forall(const Invariant& invariant) const;
  void run_watched(const Invariant& invariant) const;
  std::vector<json::value> values_of(const Run& run, const Invariant::Given& given) const;
  void try_values(const std::function<Run()>& make, const Invariant& invariant, size_t given, Variables variables,
                  size_t& tried) const;

  const Action& action_named(const std::string& name) const;
  std::pair<const Action*, const Fixture*> fixture_named(std::string_view name) const;

  const ConceptBinding& binding_;
  Concept spec_;
  std::vector<Relation> relations_;
  Prepare prepare_;
};

}  // namespace sluice::lang
