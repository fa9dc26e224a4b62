// Fixtures of a concept: what they give to their action, what they take from one another, and the order in which they
// can run.
#include <algorithm>

#include "lang/check/graph.h"
#include "lang/check/invariant_walk.h"

namespace sluice::lang {
namespace {

// Fixtures that run after one another in a circle never run.
void tell_circles(const Fixtures& all, const std::string& file, Report& report) {
  std::vector<const Fixture*> fixtures;
  for (const auto& [name, place] : all) fixtures.push_back(place.first);
  std::ranges::sort(fixtures, {}, [](const Fixture* each) { return std::pair(each->at.line, each->at.column); });
  std::unordered_map<std::string, uint32_t> numbers;
  for (uint32_t i = 0; i < fixtures.size(); ++i) numbers[fixtures[i]->name] = i;
  Graph graph(fixtures.size());
  for (uint32_t i = 0; i < fixtures.size(); ++i) {
    for (const Name& before : fixtures[i]->after) {
      if (auto found = numbers.find(before.text); found != numbers.end()) graph[i].push_back(found->second);
    }
  }
  Parts parts = parts_of(graph, std::vector<bool>(graph.size()));
  std::unordered_set<size_t> told;
  for (uint32_t i = 0; i < fixtures.size(); ++i) {
    for (const Name& before : fixtures[i]->after) {
      auto found = numbers.find(before.text);
      if (found == numbers.end() || parts.of[found->second] != parts.of[i] || !told.insert(parts.of[i]).second)
        continue;
      report.error(place_of(file, before), "fixture-circle",
                   found->second == i ? "fixture " + quoted(before.text) + " runs after itself"
                                      : "fixtures " + quoted(fixtures[i]->name) + " and " + quoted(before.text) +
                                            " run after one another, so neither does",
                   "take out one `after`");
    }
  }
}

}  // namespace

Fixtures fixtures_of(const ConceptSymbol& owner) {
  Fixtures all;
  for (const ActionSymbol& action : owner.actions) {
    for (const Fixture& fixture : action.source->fixtures) all.try_emplace(fixture.name, &fixture, &action);
  }
  return all;
}

std::vector<std::string> names_of(const Fixtures& fixtures) {
  std::vector<std::string> names;
  for (const auto& [name, place] : fixtures) names.push_back(name);
  std::ranges::sort(names);
  return names;
}

void InvariantWalk::fixture(const Fixture& fixture, const ActionSymbol& action) {
  arguments(fixture.input, action.params, action.name, "argument",
            [&](const Expr& value, TypeId type, const std::string& what) { this->value(value, type, what, false); });
  tell_missing(fixture.input, action, {fixture.at, fixture.name}, "fixture " + quoted(fixture.name));
  for (const Argument& argument : fixture.input) tell_not_run(argument.value, fixture);
  for (const Name& name : fixture.after) {
    if (fixtures_.contains(name.text)) continue;
    report_.error(place_of(file_, name), "unknown-fixture", "there is no fixture " + quoted(name.text),
                  did_you_mean(name.text, names_of(fixtures_)));
  }
  variant(fixture.at, action, fixture.variant);
}

// A fixture takes values of those that have run before it.
void InvariantWalk::tell_not_run(const Expr& value, const Fixture& fixture) {
  for (const Expr& part : value.args) tell_not_run(part, fixture);
  if (value.op != Expr::Op::fixture || !fixtures_.contains(value.name)) return;
  std::unordered_set<std::string> seen;
  std::vector<const Fixture*> queue = {&fixture};
  for (size_t at = 0; at < queue.size(); ++at) {
    for (const Name& before : queue[at]->after) {
      if (before.text == value.name) return;
      auto found = fixtures_.find(before.text);
      if (found != fixtures_.end() && seen.insert(before.text).second) queue.push_back(found->second.first);
    }
  }
  bool own = value.name == fixture.name;
  report_.error({file_, value.at, value.name.size() + 1}, "unknown-fixture",
                own ? quoted(value.name) + " takes a value of itself"
                    : quoted(value.name) + " has not run when " + quoted(fixture.name) + " does",
                own ? "write the value" : "write " + quoted("after " + value.name) + " behind the fixture");
}

void check_fixtures(const ConceptSymbol& owner, Symbols& symbols, Report& report) {
  Fixtures all = fixtures_of(owner);
  tell_circles(all, owner.source->file, report);
  for (const ActionSymbol& action : owner.actions) {
    for (const Fixture& fixture : action.source->fixtures) {
      const Fixture* first = all.at(fixture.name).first;
      if (first != &fixture) {
        report.error(report.word(owner.source->file, fixture.at, fixture.name), "duplicate",
                     "a second fixture " + quoted(fixture.name),
                     "rename one; the first is at line " + std::to_string(first->at.line));
      }
      InvariantWalk(owner, symbols, all, report).fixture(fixture, action);
    }
  }
}

}  // namespace sluice::lang
