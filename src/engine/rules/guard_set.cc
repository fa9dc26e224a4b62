// Guards: a row for which `require` has no solution refuses.
#include "engine/rules/guard_set.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <map>

#include "engine/rules/next_steps.h"
#include "engine/rules/patterns.h"
#include "engine/rules/rules.h"
#include "engine/rules/where.h"

namespace sluice::engine {
namespace {

struct CompiledGuard {
  std::string name, title;
  size_t slots = 0;
  RecordClass bound_action;         // before
  std::vector<FieldMatcher> input;  // before
  std::optional<size_t> concept_slot, action_slot;
  std::optional<CompiledQuery> over;
  std::vector<CompiledCondition> where, require;
  bool engine = false;
  std::string variant;
  std::vector<CompiledArgument> arguments;
  std::vector<CompiledNext> next;
};

CompiledGuard compile_guard(const lang::Guard& source, const lang::GuardSymbol& symbol, const lang::Symbols& symbols) {
  CompiledGuard guard{.name = source.name.text,
                      .title = "guard `" + source.name.text + "`",
                      .engine = source.engine,
                      .variant = source.variant.text};
  Slots slots(symbol.variables);
  if (source.before) {
    lang::Pattern opening = *source.before;
    opening.outcome = lang::Pattern::Outcome::any;
    CompiledPattern pattern = compile_pattern(opening, *symbol.before, slots);
    guard.bound_action = pattern.record_class;
    guard.input = pattern.input;
    guard.concept_slot = pattern.concept_slot;
    guard.action_slot = pattern.action_slot;
  }
  if (source.over) guard.over = compile_query(*source.over, *symbol.over, symbols, slots);
  guard.where = compile_conditions(source.where, symbol.where, symbols, slots);
  guard.require = compile_conditions(source.require, symbol.require, symbols, slots);
  guard.arguments = compile_arguments(source.arguments, slots);
  guard.next = compile_next(source.next, slots);
  guard.slots = slots.size();
  return guard;
}

// What a refusal says when the action does not declare the guard's variant.
std::string message_of(const CompiledGuard& guard, const json::object& fields) {
  if (const json::value* message = member(fields, "message")) return text_of(*message);
  std::string text = guard.title + " refuses: " + guard.variant;
  return fields.empty() ? text : text + " " + json::serialize(fields);
}

Refusal refuse(const CompiledGuard& guard, const lang::ActionSymbol& action, json::object fields) {
  Refusal refusal{.guard = guard.name};
  if (!guard.engine) refusal.variant = lang::find_variant(action, guard.variant);
  if (!refusal.variant) {
    refusal.fields["message"] = message_of(guard, fields);
    return refusal;
  }
  for (auto& each : fields) {
    if (lang::find_field(action.variants[*refusal.variant].fields, each.key())) {
      refusal.fields[each.key()] = std::move(each.value());
    }
  }
  return refusal;
}

Refusal refuse(const CompiledGuard& guard, const Error& error) {
  return {.guard = guard.name, .fields = {{"message", error.message}}};
}

// The refusal of the first row for which the guard does not hold.
std::optional<Refusal> judge(const CompiledGuard& guard, Bindings start, const lang::ActionSymbol& action,
                             const StateReader& state, const Moment& moment) {
  auto rows = solve(guard.where, std::move(start), state, moment, guard.title);
  if (!rows) return refuse(guard, rows.error());
  for (const Bindings& row : *rows) {
    auto found = solve(guard.require, row, state, moment, guard.title);
    if (!found) return refuse(guard, found.error());
    if (!found->empty()) continue;
    Refusal refusal = refuse(guard, action, evaluate(guard.arguments, row, moment));
    refusal.next = next_steps(guard.next, row, moment);
    return refusal;
  }
  return std::nullopt;
}

void note(std::optional<Refusal>& first, std::optional<Refusal> next) {
  if (!next) return;
  if (first) {
    first->also.push_back(next->guard);
  } else {
    first = std::move(next);
  }
}

Moment moment_of(const CompiledGuard& guard, const StateReader& state) {
  return {state.now_ms(), id_source(state.now_ms(), guard.title)};
}

}  // namespace

struct GuardSet::Compiled {
  std::shared_ptr<const lang::CheckedKit> kit;
  std::vector<CompiledGuard> guards;                             // by name
  std::vector<std::vector<std::vector<size_t>>> before;          // by concept and action
  std::map<std::string, std::vector<size_t>, std::less<>> over;  // by relation
};

Result<std::shared_ptr<const GuardSet>> GuardSet::compile(std::shared_ptr<const lang::CheckedKit> kit) {
  auto compiled = std::make_unique<Compiled>();
  const lang::Symbols& symbols = kit->symbols();
  for (const lang::GuardSymbol& symbol : kit->guards()) {
    compiled->guards.push_back(compile_guard(kit->kit().guards[symbol.guard].tree, symbol, symbols));
  }
  std::ranges::sort(compiled->guards, {}, &CompiledGuard::name);
  auto twice = std::ranges::adjacent_find(compiled->guards, {}, &CompiledGuard::name);
  if (twice != compiled->guards.end()) {
    return Error{.code = Code::invalid, .message = "two active guards are called `" + twice->name + "`"};
  }
  for (const lang::ConceptSymbol& each : symbols.concepts) compiled->before.emplace_back(each.actions.size());
  for (size_t g = 0; g < compiled->guards.size(); ++g) {
    const CompiledGuard& guard = compiled->guards[g];
    if (guard.over) {
      compiled->over[guard.over->relation].push_back(g);
      continue;
    }
    for (size_t c = 0; c < symbols.concepts.size(); ++c) {
      for (size_t a = 0; a < symbols.concepts[c].actions.size(); ++a) {
        if (guard.bound_action.names({c, a}, symbols)) compiled->before[c][a].push_back(g);
      }
    }
  }
  compiled->kit = std::move(kit);
  return std::shared_ptr<const GuardSet>(new GuardSet(std::move(compiled)));
}

GuardSet::GuardSet(std::unique_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
GuardSet::~GuardSet() = default;

std::optional<Refusal> GuardSet::before(lang::ActionRef action, const json::object& input,
                                        const StateReader& state) const {
  const lang::Symbols& symbols = compiled_->kit->symbols();
  std::optional<Refusal> first;
  for (size_t number : compiled_->before[action.concept_][action.action]) {
    const CompiledGuard& guard = compiled_->guards[number];
    Bindings start(guard.slots);
    std::vector<size_t> bound;
    if (guard.concept_slot) start[*guard.concept_slot] = json::value(symbols.concepts[action.concept_].name);
    if (guard.action_slot) start[*guard.action_slot] = json::value(symbols.action(action).name);
    if (!fit_all(guard.input, input, start, bound)) continue;
    note(first, judge(guard, std::move(start), symbols.action(action), state, moment_of(guard, state)));
  }
  return first;
}

std::optional<Refusal> GuardSet::over(lang::ActionRef action, const std::vector<ChangedRow>& rows,
                                      const StateReader& state) const {
  const lang::Symbols& symbols = compiled_->kit->symbols();
  std::map<size_t, std::vector<const ChangedRow*>> watched;  // by guard, so by name
  for (const ChangedRow& row : rows) {
    auto found = compiled_->over.find(row.relation);
    if (found == compiled_->over.end()) continue;
    for (size_t number : found->second) watched[number].push_back(&row);
  }
  std::optional<Refusal> first;
  for (const auto& [number, changed] : watched) {
    const CompiledGuard& guard = compiled_->guards[number];
    Moment moment = moment_of(guard, state);
    for (const ChangedRow* row : changed) {
      Bindings start(guard.slots);
      std::vector<size_t> bound;
      if (!guard.over->fits({row->key, row->value}, start, bound)) continue;
      auto refusal = judge(guard, std::move(start), symbols.action(action), state, moment);
      if (!refusal) continue;
      note(first, std::move(refusal));
      break;
    }
  }
  return first;
}

}  // namespace sluice::engine
