// One walk over the syncs.
#include "lang/check/flow_index.h"

#include <algorithm>

namespace sluice::lang {

FlowIndex::FlowIndex(const Kit& kit, const Symbols& symbols, const std::vector<SyncSymbol>& syncs, const Kinds& kinds)
    : kit(kit),
      symbols(symbols),
      syncs(syncs),
      kinds(kinds),
      requested(kinds.all.size()),
      started(kinds.all.size()),
      invokes(syncs.size()),
      takes(syncs.size()),
      opens(syncs.size()),
      answers(syncs.size()),
      answered(kinds.actions.size()) {
  size_t outcomes = 0;
  for (size_t kind = 0; kind < kinds.all.size(); ++kind) {
    first.push_back(outcomes);
    outcomes += action(kind).variants.size();
  }
  matched.resize(outcomes);
  for (size_t s = 0; s < syncs.size(); ++s) {
    const Sync& sync = tree(s);
    for (size_t p = 0; p < sync.when.size(); ++p) {
      if (sync.when[p].link == Pattern::Link::plain) index(s, p);
    }
    for (size_t e = 0; e < sync.then.size(); ++e) {
      for (size_t kind : kinds.started(s, e)) {
        started[kind].push_back({s, e});
        invokes[s].push_back(kind);
      }
      if (sync.then[e].kind != Effect::Kind::answer) continue;
      for (const TargetSymbol& target : syncs[s].then[e]) {
        answered[number(target.action)].insert(target.variant);
        answers[s].push_back(number(target.action));
      }
    }
  }
}

void FlowIndex::index(size_t sync, size_t pattern) {
  const PatternSymbol& symbol = syncs[sync].when[pattern];
  if (symbol.ref()) {
    const std::vector<size_t>& those = kinds.taken(sync, pattern);
    if (tree(sync).when[pattern].outcome == Pattern::Outcome::requested) take(sync, those, std::nullopt);
    for (size_t variant : symbol.variants) take(sync, those, variant);
    return;
  }
  bool answers = std::ranges::any_of(tree(sync).then, [](const Effect& e) { return e.kind == Effect::Kind::answer; });
  if (!symbol.concept_ && !answers) return;
  for (size_t i = 0; i < symbol.open.size(); ++i) take(sync, kinds.taken(sync, pattern, i), symbol.open[i].second);
}

void FlowIndex::take(size_t sync, const std::vector<size_t>& those, std::optional<size_t> variant) {
  for (size_t kind : those) {
    auto& syncs_on_it = variant ? matched[first[kind] + *variant] : requested[kind];
    if (!syncs_on_it.empty() && syncs_on_it.back() == sync) continue;  // by another of its patterns
    syncs_on_it.push_back(sync);
    (variant ? takes : opens)[sync].push_back(kind);
  }
}

bool FlowIndex::ends_quietly(size_t kind, size_t variant) const {
  return owner(kind).built_in && action(kind).variants[variant].name == "superseded";
}

Place FlowIndex::place(const Start& start) const {
  const Sync& sync = tree(start.sync);
  const Effect& effect = sync.then[start.effect];
  std::string word = effect.concept_.text + "/" + effect.action.text;
  return {sync.file, effect.concept_.at, effect.candidates.empty() ? word.size() : effect.concept_.text.size()};
}

}  // namespace sluice::lang
