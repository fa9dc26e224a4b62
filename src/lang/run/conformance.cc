// An interpreter of fixtures and steps over the harness. A failure is thrown as Failure inside and returned as text.
#include "lang/run/conformance.h"

#include <algorithm>
#include <stdexcept>

#include "base/json.h"
#include "lang/run/conformance_run.h"
#include "lang/syntax/concept_parser.h"

namespace sluice::lang {
json::value any_value(const Type& type, const std::string& name) {
  switch (type.kind) {
    case Type::Kind::primitive:
      if (type.name == "Int") return 1;
      if (type.name == "Float") return 1.0;
      if (type.name == "Bool") return true;
      if (type.name == "DateTime") return "2030-01-01T00:00:00.000Z";
      if (type.name == "Bytes") return "";
      return json::string(name + "-1");
    case Type::Kind::list:
    case Type::Kind::set:
      return json::array();
    case Type::Kind::record: {
      json::object record;
      for (const FieldDecl& field : type.fields) {
        if (field.type[0].kind != Type::Kind::option) record[field.name] = any_value(field.type[0], field.name);
      }
      return record;
    }
    case Type::Kind::names:
    case Type::Kind::literals:
      return json::string(type.literals.at(0));
    case Type::Kind::mapping:
      return json::object();
    case Type::Kind::named:
    case Type::Kind::option:
      break;
  }
  return json::string(name + "-1");
}

Conformance::Conformance(const ConceptBinding& binding, std::string_view source, Prepare prepare)
    : binding_(binding), prepare_(std::move(prepare)) {
  Diagnostics found;
  auto spec = parse_concept(source, binding.name + ".concept", found);
  if (!spec) throw std::runtime_error(render(found, source));
  spec_ = *std::move(spec);
  auto relations = relations_of(spec_);
  if (!relations) throw std::runtime_error(to_string(relations.error()));
  relations_ = *std::move(relations);
}

std::string Conformance::fixture(std::string_view name) const {
  try {
    Run run = fresh();
    run_fixture(run, name);
    return {};
  } catch (const Failure& failure) {
    return failure.text;
  } catch (const EvaluationError& error) {
    return error.what();
  }
}

std::string Conformance::invariant(size_t index) const {
  const Invariant& invariant = spec_.invariants.at(index);
  try {
    switch (invariant.kind) {
      case Invariant::Kind::example: {
        Run run = fresh();
        run_steps(run, invariant.after);
        run_steps(run, invariant.then);
        return {};
      }
      case Invariant::Kind::forall:
        run_forall(invariant);
        return {};
      case Invariant::Kind::always:
      case Invariant::Kind::never:
      case Invariant::Kind::contract:
        run_watched(invariant);
        return {};
      case Invariant::Kind::eventually:
        run_eventually(invariant);
        return {};
      case Invariant::Kind::scenario:
        run_scenario(invariant);
        return {};
    }
  } catch (const Failure& failure) {
    return failure.text;
  } catch (const EvaluationError& error) {
    return error.what();
  }
  return {};
}

Conformance::Run Conformance::fresh() const {
  Run run;
  run.harness = std::make_unique<Harness>(binding_);
  if (prepare_) prepare_(*run.harness);
  return run;
}

const Action& Conformance::action_named(const std::string& name) const {
  for (const Action& action : spec_.actions) {
    if (action.name == name) return action;
  }
  throw Failure{spec_.name + " has no action " + name};
}

std::pair<const Action*, const Fixture*> Conformance::fixture_named(std::string_view name) const {
  for (const Action& action : spec_.actions) {
    for (const Fixture& fixture : action.fixtures) {
      if (fixture.name == name) return {&action, &fixture};
    }
  }
  throw Failure{"there is no fixture " + std::string(name)};
}

// ---- invocations

json::object Conformance::seal(Run& run, const Action& action, json::object ask) const {
  for (const std::string& field : binding_.action(action.name)->sealed) {
    json::value* value = ask.if_contains(field);
    if (value && value->is_string()) {
      *value = json::string(run.harness->seal(std::string(value->get_string())).handle());
    }
  }
  return ask;
}

Completion Conformance::invoke(Run& run, const Action& action, const json::object& ask, const std::string& expected,
                               json::object answer) const {
  json::object sealed = seal(run, action, ask);
  bool required = true;
  if (run.watched && run.watched->kind == Invariant::Kind::contract && run.watched->action == action.name) {
    Evaluator evaluator(spec_, relations_, run.harness->rows());
    Variables variables;
    for (const auto& field : sealed) variables[field.key()] = field.value();
    for (const Invariant::Clause& clause : run.watched->clauses) {
      required = required && (!clause.requires_ || evaluator.holds(clause.condition, variables));
    }
  }
  if (action.is_answered()) run.harness->answer_with(Completion{.variant = expected, .fields = std::move(answer)});
  auto ending = run.harness->run(action.name, sealed);
  std::string what = action.name + " " + write(json::value(ask));
  if (!ending) throw Failure{what + ": " + to_string(ending.error())};
  const auto* done = std::get_if<Completion>(&*ending);
  if (!done || done->variant != expected) {
    throw Failure{what + ": expected " + expected + ", got " + to_text(*ending)};
  }
  if (action.is_answered()) check_echoes(action, sealed, *done);
  if (required) check_watched(run, action, sealed, *done);
  return *done;
}

// Ids of the concept's own that no step has given: those of the request come back, and others are `finish`'s to fill,
// as an answer may leave out every field.
void Conformance::check_echoes(const Action& action, const json::object& ask, const Completion& done) const {
  for (const Variant& variant : action.variants) {
    if (variant.name != done.variant) continue;
    for (const FieldDecl& field : variant.fields) {
      if (field.type[0].kind != Type::Kind::named) continue;
      bool is_echo = std::ranges::any_of(action.params, [&](const FieldDecl& param) { return param == field; });
      const json::value* given = ask.if_contains(field.name);
      const json::value* got = done.fields.if_contains(field.name);
      bool empty = !got || (got->is_string() && got->get_string().empty());
      if (!is_echo && empty) {
        throw Failure{action.name + " => " + done.variant + " has no " + field.name +
                      ": an answer may leave it out, and finish has not filled it"};
      }
      if (is_echo && given && (!got || *got != *given)) {
        throw Failure{action.name + " => " + done.variant + " does not give " + field.name + " back: expected " +
                      write(*given) + ", got " + (got ? write(*got) : "nothing")};
      }
    }
  }
}

void Conformance::check_watched(Run& run, const Action& action, const json::object& ask, const Completion& done) const {
  if (!run.watched) return;
  const Invariant& invariant = *run.watched;
  Evaluator evaluator(spec_, relations_, run.harness->rows());
  Variables variables;
  if (invariant.kind != Invariant::Kind::contract) {
    ++*run.watched_times;
    for (const Expr& condition : invariant.conditions) {
      if (evaluator.holds(condition, variables) != (invariant.kind == Invariant::Kind::always)) {
        throw Failure{"line " + std::to_string(condition.at.line) + " " +
                      (invariant.kind == Invariant::Kind::always ? "does not hold" : "holds") + " after " +
                      action.name + " " + write(json::value(ask)) + " => " + to_text(Ending(done))};
      }
    }
    return;
  }
  if (invariant.action != action.name) return;
  for (const auto& field : ask) variables[field.key()] = field.value();
  for (const auto& field : done.fields) variables[field.key()] = field.value();
  for (const Invariant::Clause& clause : invariant.clauses) {
    if (clause.requires_ || (!clause.variant.empty() && clause.variant != done.variant)) continue;
    ++*run.watched_times;
    if (!evaluator.holds(clause.condition, variables)) {
      throw Failure{"line " + std::to_string(clause.at.line) + " is not ensured by " + action.name + " " +
                    write(json::value(ask)) + " => " + to_text(Ending(done))};
    }
  }
}

// ---- fixtures

json::value Conformance::fixture_value(const Run& run, const Expr& expr) const {
  if (expr.op == Expr::Op::fixture) {
    auto past = run.fixtures.find(expr.name);
    if (past == run.fixtures.end()) throw Failure{"$" + expr.name + " has not run: name it after `after`"};
    const json::value* value = past->second.fields.if_contains(expr.keys.at(0));
    if (!value) value = past->second.ask.if_contains(expr.keys[0]);
    if (!value) throw Failure{"the fixture " + expr.name + " has no field " + expr.keys[0]};
    return *value;
  }
  if (expr.op == Expr::Op::list) {
    json::array list;
    for (const Expr& part : expr.args) list.push_back(fixture_value(run, part));
    return list;
  }
  if (expr.op == Expr::Op::record) {
    json::object record;
    for (size_t i = 0; i < expr.args.size(); i++) record[expr.keys[i]] = fixture_value(run, expr.args[i]);
    return record;
  }
  return expr.value;
}

void Conformance::run_chain(Run& run, const Fixture& fixture) const {
  for (const Name& before : fixture.after) run_fixture(run, before.text);
}

void Conformance::run_fixture(Run& run, std::string_view name) const {
  if (run.fixtures.contains(name)) return;
  if (!run.under_way.insert(std::string(name)).second)
    throw Failure{"the fixture " + std::string(name) + " is after itself"};
  auto [action, fixture] = fixture_named(name);
  run_chain(run, *fixture);
  json::object ask;
  for (const Argument& argument : fixture->input) {
    json::value value = fixture_value(run, argument.value);
    // An option that is left out is written as null or none.
    if (!value.is_null()) ask[argument.name] = std::move(value);
  }
  Completion done = invoke(run, *action, ask, fixture->variant, {});
  run.fixtures[fixture->name] = {.ask = std::move(ask), .fields = std::move(done.fields)};
}

// ---- steps

// The expression with each `$fixture.field` replaced by its value. The fixture runs first if it has not yet.
Expr Conformance::without_fixtures(Run& run, const Expr& expr) const {
  Expr plain = expr;
  if (expr.op == Expr::Op::fixture) {
    if (!run.fixtures.contains(expr.name)) run_fixture(run, expr.name);
    plain.op = Expr::Op::literal;
    plain.value = fixture_value(run, expr);
  }
  for (Expr& arg : plain.args) arg = without_fixtures(run, arg);
  return plain;
}

json::object Conformance::arguments(Run& run, const Action& action, const Step& step) const {
  Evaluator evaluator(spec_, relations_, run.harness->rows());
  json::object ask;
  std::map<std::string, std::string> to_bind;  // argument -> variable
  for (const Argument& argument : step.input) {
    bool open = argument.value.op == Expr::Op::variable && !run.variables.contains(argument.value.name);
    if (open) {
      to_bind[argument.name] = argument.value.name;
    } else if (argument.value.op != Expr::Op::wildcard) {
      ask[argument.name] = evaluator.value(argument.value, run.variables);
    }
  }
  const Fixture* model = nullptr;
  for (const Fixture& fixture : action.fixtures) {
    auto fits = [&](const Argument& argument) {
      const json::value* given = ask.if_contains(argument.name);
      return !given || argument.value.op != Expr::Op::literal || *given == argument.value.value;
    };
    if (!model && fixture.variant == step.variant && std::ranges::all_of(fixture.input, fits)) model = &fixture;
  }
  bool complete = std::ranges::all_of(action.params, [&](const FieldDecl& param) {
    return ask.contains(param.name) || param.type[0].kind == Type::Kind::option;
  });
  if (!complete && model) {
    run_chain(run, *model);
    for (const Argument& argument : model->input) {
      if (!ask.contains(argument.name)) ask[argument.name] = fixture_value(run, argument.value);
    }
  }
  for (const FieldDecl& param : action.params) {
    bool wanted = param.type[0].kind != Type::Kind::option || to_bind.contains(param.name);
    if (!ask.contains(param.name) && wanted) ask[param.name] = any_value(param.type[0], param.name);
  }
  for (const auto& [name, variable] : to_bind) run.variables[variable] = ask[name];
  return ask;
}

void Conformance::run_step(Run& run, const Step& written) const {
  Step step = written;
  if (step.condition) step.condition = without_fixtures(run, *step.condition);
  for (auto* arguments : {&step.input, &step.output}) {
    for (Argument& argument : *arguments) argument.value = without_fixtures(run, argument.value);
  }
  std::string line = "line " + std::to_string(step.at.line);
  if (step.condition) {
    Evaluator evaluator(spec_, relations_, run.harness->rows());
    if (!evaluator.holds(*step.condition, run.variables)) throw Failure{line + " does not hold"};
    return;
  }
  if (!step.concept_.empty() && step.concept_ != spec_.name) throw Failure{line + " speaks of another concept"};
  const Action& action = action_named(step.action);
  json::object ask = arguments(run, action, step);
  json::object answer;
  auto is_open = [&](const Expr& expr) {
    return expr.op == Expr::Op::wildcard || (expr.op == Expr::Op::variable && !run.variables.contains(expr.name));
  };
  for (const Argument& argument : step.output) {
    Evaluator evaluator(spec_, relations_, run.harness->rows());
    if (!is_open(argument.value)) answer[argument.name] = evaluator.value(argument.value, run.variables);
  }
  Completion done = invoke(run, action, ask, step.variant, answer);
  for (const Argument& argument : step.output) {
    const json::value* got = done.fields.if_contains(argument.name);
    if (!got) throw Failure{line + ": " + step.variant + " has no field " + argument.name};
    if (argument.value.op == Expr::Op::variable) run.variables.try_emplace(argument.value.name, *got);
    const json::value* expected = answer.if_contains(argument.name);
    if (expected && *expected != *got) {
      throw Failure{line + ": expected " + argument.name + ": " + write(*expected) + ", got " + write(*got)};
    }
  }
}

void Conformance::run_steps(Run& run, const std::vector<Step>& steps) const {
  for (const Step& step : steps) run_step(run, step);
}

}  // namespace sluice::lang
