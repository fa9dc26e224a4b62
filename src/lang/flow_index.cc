// One walk over the syncs.
#include "lang/flow_index.h"

#include <algorithm>

namespace sluice::lang {

FlowIndex::FlowIndex(const Kit& kit, const Symbols& symbols, const std::vector<SyncSymbol>& syncs)
    : kit(kit),
      symbols(symbols),
      syncs(syncs),
      invokes(syncs.size()),
      answers(syncs.size()),
      completions(syncs.size()) {
  size_t outcomes = 0;
  for (size_t c = 0; c < symbols.concepts.size(); ++c) {
    auto& numbers = numbers_.emplace_back();
    for (size_t a = 0; a < symbols.concepts[c].actions.size(); ++a) {
      numbers.push_back(actions.size());
      actions.push_back({c, a});
      first.push_back(outcomes);
      outcomes += symbols.concepts[c].actions[a].variants.size();
    }
  }
  requested.resize(actions.size());
  started.resize(actions.size());
  answered.resize(actions.size());
  matched.resize(outcomes);
  for (size_t s = 0; s < syncs.size(); ++s) {
    const Sync& sync = tree(s);
    for (size_t p = 0; p < sync.when.size(); ++p) {
      auto ref = syncs[s].when[p].ref();
      if (sync.when[p].link != Pattern::Link::plain) continue;
      if (!ref) {
        index_open(s, syncs[s].when[p]);
        continue;
      }
      size_t number = this->number(*ref);
      if (sync.when[p].outcome == Pattern::Outcome::requested) requested[number].push_back(s);
      for (size_t variant : syncs[s].when[p].variants) matched[first[number] + variant].push_back(s);
      if (!syncs[s].when[p].variants.empty()) completions[s].push_back(number);
    }
    for (size_t e = 0; e < sync.then.size(); ++e) {
      for (const TargetSymbol& target : syncs[s].then[e]) {
        size_t number = this->number(target.action);
        if (sync.then[e].kind == Effect::Kind::invoke) {
          started[number].push_back({s, e});
          invokes[s].push_back(number);
        } else {
          answered[number].insert(target.variant);
          answers[s].push_back(number);
        }
      }
    }
  }
}

void FlowIndex::index_open(size_t sync, const PatternSymbol& pattern) {
  bool answers = std::ranges::any_of(tree(sync).then, [](const Effect& e) { return e.kind == Effect::Kind::answer; });
  if (!pattern.concept_ && !answers) return;
  for (const auto& [action, variant] : pattern.open) {
    size_t number = this->number(action);
    if (!variant) {
      requested[number].push_back(sync);
      continue;
    }
    matched[first[number] + *variant].push_back(sync);
    if (completions[sync].empty() || completions[sync].back() != number) completions[sync].push_back(number);
  }
}

bool FlowIndex::ends_quietly(size_t number, size_t variant) const {
  return symbols.concepts[actions[number].concept_].built_in && action(number).variants[variant].name == "superseded";
}

Place FlowIndex::place(const Start& start) const {
  const Sync& sync = tree(start.sync);
  const Effect& effect = sync.then[start.effect];
  std::string word = effect.concept_.text + "/" + effect.action.text;
  return {sync.file, effect.concept_.at, effect.candidates.empty() ? word.size() : effect.concept_.text.size()};
}

}  // namespace sluice::lang
