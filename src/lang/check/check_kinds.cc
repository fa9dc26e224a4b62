// First what patterns name, then what syncs start, then who agrees with whom.
#include "lang/check/check_kinds.h"

#include <algorithm>

namespace sluice::lang {
namespace {

constexpr size_t kMaxCompared = 1'000'000;

}  // namespace

Kinds::Kinds(const Kit& kit, const Symbols& symbols, const std::vector<SyncSymbol>& syncs) {
  for (size_t c = 0; c < symbols.concepts.size(); ++c) {
    auto& numbers = numbers_.emplace_back();
    for (size_t a = 0; a < symbols.concepts[c].actions.size(); ++a) {
      numbers.push_back(actions.size());
      all.push_back({actions.size(), {}});
      by_literals_.push_back({{Literals{}, actions.size()}});
      actions.push_back({c, a});
    }
  }
  wanted_.resize(actions.size());
  std::vector<std::set<std::string>> fields(actions.size());
  for (const SyncSymbol& sync : syncs) {
    auto& taken = taken_.emplace_back();
    auto& meant = meant_.emplace_back();
    for (size_t p = 0; p < sync.when.size(); ++p) {
      Literals literals = literals_of(kit.syncs[sync.sync].tree.when[p].input);
      auto& those = taken.emplace_back();
      auto take = [&](size_t action) {
        for (const auto& [field, text] : literals) fields[action].insert(field);
        those.push_back(&*wanted_[action].try_emplace(literals).first);
      };
      if (auto ref = sync.when[p].ref()) {
        take(number(*ref));
        meant.push_back(kind(number(*ref), literals));
        continue;
      }
      for (const auto& [action, variant] : sync.when[p].open) take(number(action));
      meant.push_back(0);
    }
  }
  for (const SyncSymbol& sync : syncs) {
    auto& started = started_.emplace_back();
    for (size_t e = 0; e < sync.then.size(); ++e) {
      const Effect& effect = kit.syncs[sync.sync].tree.then[e];
      auto& those = started.emplace_back();
      if (effect.kind != Effect::Kind::invoke) continue;
      Literals literals = literals_of(effect.arguments);
      for (const TargetSymbol& target : sync.then[e]) {
        size_t action = number(target.action);
        Literals given = literals;
        std::erase_if(given, [&](const auto& each) { return !fields[action].contains(each.first); });
        those.push_back(kind(action, std::move(given)));
      }
    }
  }
  compare();
}

size_t Kinds::kind(size_t action, Literals given) {
  auto [place, fresh] = by_literals_[action].try_emplace(std::move(given), all.size());
  if (fresh) all.push_back({action, place->first});
  return place->second;
}

const std::vector<size_t>& Kinds::taken(size_t sync, size_t pattern, size_t open) const {
  static const std::vector<size_t> kNone;
  const auto& those = taken_[sync][pattern];
  return open < those.size() ? those[open]->second : kNone;
}

void Kinds::compare() {
  size_t left = kMaxCompared;
  std::vector<bool> merged(actions.size());
  for (size_t action = 0; action < actions.size(); ++action) {
    std::vector<const Literals*> given, wanted;
    std::vector<size_t> kinds;
    std::vector<std::vector<size_t>*> those;
    for (const auto& [literals, kind] : by_literals_[action]) {
      given.push_back(&literals);
      kinds.push_back(kind);
    }
    for (auto& [literals, agreed] : wanted_[action]) {
      wanted.push_back(&literals);
      those.push_back(&agreed);
    }
    if (auto pairs = agreeing(given, wanted, left)) {
      for (size_t g = 0; g < given.size(); ++g) {
        for (uint32_t w : (*pairs)[g]) those[w]->push_back(kinds[g]);
      }
      continue;
    }
    merged[action] = true;
    for (std::vector<size_t>* each : those) each->push_back(action);
  }
  auto merge = [&](size_t& kind) {
    if (merged[all[kind].action]) kind = all[kind].action;
  };
  for (auto& effects : started_) {
    for (auto& those : effects) std::ranges::for_each(those, merge);
  }
  for (auto& patterns : meant_) std::ranges::for_each(patterns, merge);
}

}  // namespace sluice::lang
