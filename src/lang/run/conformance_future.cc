// The invariants that look ahead: `eventually`, a search over what may happen next, and `scenario`, whose `then` may
// have to wait.
//
// Nothing goes back: rows could be restored, but the tools that performs use could not, so every way is walked again
// from fresh rows. The search takes states with fewer rows first, since most ways that never end only add rows.
#include <algorithm>
#include <queue>
#include <tuple>

#include "base/json.h"
#include "lang/run/conformance_run.h"

namespace sluice::lang {
namespace {

constexpr int64_t kDayMs = 24 * 60 * 60 * 1000;
// At how many moments, the first at once and the last at the timeout, a scenario's `then` is tried.
constexpr int64_t kMoments = 10;
// Of one fixture with several arguments of the concept's own types, so many ways to choose rows.
constexpr size_t kMaxChoices = 64;

void pass_time(MemoryRows& rows, int64_t ms) { rows.set_now({.ms = rows.now().ms + ms}); }

size_t count_rows(const MemoryRows& rows) {
  size_t count = 0;
  for (const auto& [name, relation] : rows.relations()) count += relation.size();
  return count;
}

std::string identity_of(const MemoryRows& rows) {
  json::object all{{"", rows.now().ms}};
  for (const auto& [name, relation] : rows.relations()) {
    json::object& values = all[name].emplace_object();
    for (const auto& [key, value] : relation) values[key] = value;
  }
  return write(json::value(all));
}

}  // namespace

// ---- what may happen next

// One fixture's invocation, on every choice of rows for the arguments of the concept's own types. Without a fixture, an
// invocation with any values.
void Conformance::add_moves(const Run& run, const Action& action, const Fixture* model, std::vector<Move>& into) const {
  std::vector<json::object> asks(1);
  auto give = [&](const std::string& name, const std::vector<json::value>& values) {
    std::vector<json::object> more;
    for (const json::object& ask : asks) {
      for (const json::value& value : values) {
        if (more.size() == kMaxChoices) break;
        more.push_back(ask);
        more.back()[name] = value;
      }
    }
    asks = std::move(more);
  };
  for (const FieldDecl& param : action.params) {
    const Type& type = param.type[0];
    const Argument* written = nullptr;
    if (model) {
      auto found = std::ranges::find(model->input, param.name, &Argument::name);
      if (found != model->input.end()) written = &*found;
    }
    const Relation* rows = nullptr;
    for (const Relation& relation : relations_) {
      bool keyed = relation.kind == Relation::Kind::rows && type.kind == Type::Kind::named;
      if (keyed && relation.domain == type.name) rows = &relation;
    }
    if (rows) {
      std::vector<json::value> keys;
      for (const Row& row : run.harness->rows().scan(rows->name, "", {}, SIZE_MAX)) {
        keys.emplace_back(json::string(row.key));
      }
      if (keys.empty()) keys.push_back(any_value(type, param.name));
      give(param.name, keys);
    } else if (written) {
      // What another fixture gave is known only where that one has run.
      bool known = written->value.op != Expr::Op::fixture || run.fixtures.contains(written->value.name);
      json::value value = known ? fixture_value(run, written->value) : any_value(type, param.name);
      if (!value.is_null()) give(param.name, {value});
    } else if (type.kind != Type::Kind::option) {
      give(param.name, {any_value(type, param.name)});
    }
  }
  for (json::object& ask : asks) {
    Move move{.action = &action, .ask = std::move(ask), .answer = model ? model->variant : "ok"};
    if (std::ranges::find(into, move) == into.end()) into.push_back(std::move(move));
  }
}

std::vector<Conformance::Move> Conformance::moves(const Run& run, const std::string& only_action) const {
  std::vector<Move> all;
  for (const Action& action : spec_.actions) {
    if (action.runs == Runs::query || (!only_action.empty() && action.name != only_action)) continue;
    for (const Fixture& fixture : action.fixtures) add_moves(run, action, &fixture, all);
    if (action.fixtures.empty()) add_moves(run, action, nullptr, all);
  }
  return all;
}

// Whether the action ended in a variant; what else it ends in is not said here, and no failure.
bool Conformance::make_move(Run& run, const Move& move) const {
  if (!move.action) {
    pass_time(run.harness->rows(), kDayMs);
    return true;
  }
  if (move.action->runs == Runs::answered || move.action->runs == Runs::answered_outside) {
    run.harness->answer_with(Completion{.variant = move.answer});
  }
  auto ending = run.harness->run(move.action->name, seal(run, *move.action, move.ask));
  return ending && std::holds_alternative<Completion>(*ending);
}

// ---- eventually

void Conformance::search(const std::function<Run()>& make, const std::string& start,
                         const std::vector<Expr>& conditions) const {
  struct Way {
    std::vector<Move> moves;
    size_t rows = 0;
    size_t number = 0;  // in the order found, so that every run searches alike
  };
  auto later = [](const Way& a, const Way& b) {
    return std::tuple(a.rows, a.moves.size(), a.number) > std::tuple(b.rows, b.moves.size(), b.number);
  };
  std::priority_queue<Way, std::vector<Way>, decltype(later)> open(later);
  std::set<std::string> seen;
  size_t tried = 0;
  bool cut_short = false;
  auto arrived = [&](const Run& run) {
    Evaluator evaluator(spec_, relations_, run.harness->rows());
    return std::ranges::all_of(conditions, [&](const Expr& each) { return evaluator.holds(each, {}); });
  };
  auto walk = [&](const std::vector<Move>& way) {
    Run run = make();
    for (const Move& move : way) make_move(run, move);
    return run;
  };
  Run first = make();
  if (arrived(first)) return;
  seen.insert(identity_of(first.harness->rows()));
  open.push({});
  while (!open.empty() && tried < kMaxTried) {
    Way way = open.top();
    open.pop();
    std::vector<Move> next = moves(walk(way.moves), "");
    next.push_back({});
    for (Move& move : next) {
      Run there = walk(way.moves);
      if (!make_move(there, move) || !seen.insert(identity_of(there.harness->rows())).second) continue;
      if (arrived(there)) return;
      bool last = ++tried >= kMaxTried || way.moves.size() + 1 == kMaxMoves;
      cut_short = cut_short || last;
      if (tried >= kMaxTried) break;
      if (last) continue;
      Way longer{.moves = way.moves, .rows = count_rows(there.harness->rows()), .number = tried};
      longer.moves.push_back(std::move(move));
      open.push(std::move(longer));
    }
  }
  throw Failure{"line " + std::to_string(conditions.at(0).at.line) + " does not come to hold after " + start + ": " +
                (cut_short ? "looked for up to " + std::to_string(kMaxMoves) + " invocations on, in " +
                                 std::to_string(tried) + " states"
                           : "no invocation leads there")};
}

void Conformance::run_eventually(const Invariant& invariant) const {
  bool any = false;
  for (const Action& action : spec_.actions) {
    for (const Fixture& fixture : action.fixtures) {
      any = true;
      auto make = [&] {
        Run run = fresh();
        run_fixture(run, fixture.name);
        return run;
      };
      search(make, "the fixture " + fixture.name, invariant.conditions);
    }
  }
  for (const Invariant& example : spec_.invariants) {
    if (example.kind != Invariant::Kind::example) continue;
    any = true;
    auto make = [&] {
      Run run = fresh();
      run_steps(run, example.after);
      run_steps(run, example.then);
      return run;
    };
    search(make, "the example at line " + std::to_string(example.at.line), invariant.conditions);
  }
  if (!any) throw Failure{"there is nothing to try it on: the concept has neither fixtures nor examples"};
}

// ---- scenario

// Up to where `then` is to be judged.
Conformance::Run Conformance::open_scenario(const Invariant& scenario) const {
  Run run = fresh();
  for (const Fixture& fixture : scenario.fixtures) {
    Run::Past named;
    for (const Argument& argument : fixture.input) {
      json::value value =
          Evaluator(spec_, relations_, run.harness->rows()).value(without_fixtures(run, argument.value), run.variables);
      named.fields[argument.name] = value;
      run.variables[argument.name] = std::move(value);
    }
    run.variables[fixture.name] = named.fields;
    run.fixtures[fixture.name] = std::move(named);
  }
  run_steps(run, scenario.before);
  run_steps(run, scenario.after);
  return run;
}

void Conformance::run_anchored(const Invariant& scenario) const {
  std::string anchor = scenario.settlement.anchor.substr(scenario.settlement.anchor.find('/') + 1);
  const Action& action = action_named(anchor);
  auto runs_it = [&](const Step& step) { return step.action == anchor; };
  Run run = open_scenario(scenario);
  if (std::ranges::any_of(scenario.before, runs_it) || std::ranges::any_of(scenario.after, runs_it)) {
    run_steps(run, scenario.then);
    return;
  }
  std::string last = "nothing lets " + action.name + " end";
  for (const Move& move : moves(run, anchor)) {
    Run settled = open_scenario(scenario);
    if (!make_move(settled, move)) continue;
    try {
      run_steps(settled, scenario.then);
      return;
    } catch (const Failure& failure) {
      last = failure.text + " once " + action.name + " " + write(json::value(move.ask)) + " has ended";
    }
  }
  throw Failure{last};
}

void Conformance::run_scenario(const Invariant& scenario) const {
  if (scenario.settlement.kind == "async-with-anchor") return run_anchored(scenario);
  if (scenario.settlement.kind == "sync") {
    Run run = open_scenario(scenario);
    run_steps(run, scenario.then);
    return;
  }
  int64_t timeout_ms = scenario.settlement.timeout_ms;
  for (int64_t moment = 0;; moment++) {
    Run run = open_scenario(scenario);
    // Divided first: the timeout may be as large as a number can be.
    pass_time(run.harness->rows(), moment == kMoments ? timeout_ms : timeout_ms / kMoments * moment);
    try {
      run_steps(run, scenario.then);
      return;
    } catch (const Failure& failure) {
      if (moment == kMoments) {
        throw Failure{failure.text + ", nor at any time up to " + std::to_string(timeout_ms) + " ms later"};
      }
    }
  }
}

}  // namespace sluice::lang
