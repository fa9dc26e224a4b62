// Invariants over many runs: those that are watched while all fixtures and examples run, and those that hold for each
// of many values.
#include <algorithm>

#include "base/json.h"
#include "lang/run/conformance.h"
#include "lang/run/conformance_run.h"

namespace sluice::lang {

void Conformance::run_watched(const Invariant& invariant) const {
  size_t times = 0;
  auto watch = [&] {
    Run run = fresh();
    run.watched = &invariant;
    run.watched_times = &times;
    return run;
  };
  for (const Action& action : spec_.actions) {
    for (const Fixture& fixture : action.fixtures) {
      Run run = watch();
      run_fixture(run, fixture.name);
    }
  }
  for (const Invariant& example : spec_.invariants) {
    if (example.kind != Invariant::Kind::example) continue;
    Run run = watch();
    run_steps(run, example.after);
    run_steps(run, example.then);
  }
  if (times == 0) throw Failure{"no fixture and no example reaches what it speaks of"};
}

std::vector<json::value> Conformance::values_of(const Run& run, const Invariant::Given& given) const {
  std::vector<json::value> values;
  bool is_state = given.in.op == Expr::Op::variable && std::ranges::any_of(spec_.state, [&](const StateField& field) {
                    return field.name == given.in.name;
                  });
  if (is_state || given.in.op != Expr::Op::variable) {
    json::value all = Evaluator(spec_, relations_, run.harness->rows()).value(given.in, run.variables);
    if (!all.is_array()) throw Failure{"`" + given.variable + "` is given in something that is not a list"};
    values.assign(all.get_array().begin(), all.get_array().end());
    return values;
  }
  for (const Action& action : spec_.actions) {
    for (const Fixture& fixture : action.fixtures) {
      for (const Argument& argument : fixture.input) {
        bool plain = argument.name == given.variable && argument.value.op == Expr::Op::literal;
        if (plain && std::ranges::find(values, argument.value.value) == values.end()) {
          values.push_back(argument.value.value);
        }
      }
    }
  }
  return values;
}

// Tries all values of the givens from `given` on, each on rows of its own.
void Conformance::try_values(const std::function<Run()>& make, const Invariant& invariant, size_t given,
                             Variables variables, size_t& tried) const {
  Run run = make();
  run.variables = variables;
  if (given < invariant.given.size()) {
    const Invariant::Given& here = invariant.given[given];
    for (const json::value& value : values_of(run, here)) {
      variables[here.variable] = value;
      if (here.where && !Evaluator(spec_, relations_, run.harness->rows()).holds(*here.where, variables)) continue;
      try_values(make, invariant, given + 1, variables, tried);
    }
    return;
  }
  tried++;
  run_steps(run, invariant.after);
  run_steps(run, invariant.then);
  Evaluator evaluator(spec_, relations_, run.harness->rows());
  for (const Expr& condition : invariant.conditions) {
    if (!evaluator.holds(condition, run.variables)) {
      json::object given_values;
      for (const auto& [name, value] : variables) given_values[name] = value;
      throw Failure{"line " + std::to_string(condition.at.line) + " does not hold for " +
                    write(json::value(given_values))};
    }
  }
}

void Conformance::run_forall(const Invariant& invariant) const {
  size_t tried = 0;
  try_values([this] { return fresh(); }, invariant, 0, {}, tried);
  for (const Action& action : spec_.actions) {
    for (const Fixture& fixture : action.fixtures) {
      auto make = [&] {
        Run run = fresh();
        run_fixture(run, fixture.name);
        return run;
      };
      try_values(make, invariant, 0, {}, tried);
    }
  }
  if (tried == 0) throw Failure{"there is nothing to try it on: no fixture gives it a value"};
}

}  // namespace sluice::lang
