// never-caused: a `caused by P` that no record can satisfy, because no way leads from P through the kit's syncs to the
// plain pattern that it speaks of. A call from outside may be P, but has no cause itself, so only syncs count.
//
// A walk goes from the records that P matches to the syncs that match those, and on to what they start. It errs on the
// side of silence: literals and conditions are not looked at, `?c/?a` matches everything, and so on. Two things are
// left out because the language says so:
// - a `caused by` of a sync on the way leads nowhere new, since its record is an ancestor already;
// - what is beneath a request is started from its opening. Its completion, and an answer, lead out of it, so they do
//   not count when P is `requested`.
//
// The graph has a node for each record, each sync and each action that is started; its walks (lang/graph.h) take 64
// distinct P at once and cost the pairs (record, sync that matches it).
#include <algorithm>
#include <map>

#include "lang/check_parts.h"
#include "lang/graph.h"

namespace sluice::lang {
namespace {

std::string outcome_of(const Pattern& pattern, std::string_view brackets) {
  switch (pattern.outcome) {
    case Pattern::Outcome::variant:
      return " => " + pattern.variant.text + std::string(brackets);
    case Pattern::Outcome::engine:
      return " => engine." + pattern.variant.text + std::string(brackets);
    case Pattern::Outcome::requested:
      return " => requested";
    case Pattern::Outcome::any:
      break;
  }
  return brackets.empty() ? "" : " => " + std::string(brackets);
}

class Causes {
 public:
  Causes(const Kit& kit, const Symbols& symbols, const std::vector<SyncSymbol>& syncs, Report& report)
      : kit_(kit), symbols_(symbols), syncs_(syncs), report_(report), graph_(syncs.size() + 2) {
    for (const ConceptSymbol& owner : symbols.concepts) {
      auto& actions = first_.emplace_back();
      for (const ActionSymbol& action : owner.actions) {
        actions.push_back(static_cast<uint32_t>(graph_.size()));
        graph_.resize(graph_.size() + action.variants.size() + kOthers);
      }
    }
    for (size_t c = 0; c < symbols.concepts.size(); ++c) {
      for (size_t a = 0; a < symbols.concepts[c].actions.size(); ++a) add_action({c, a});
    }
    for (uint32_t s = 0; s < syncs.size(); ++s) add_sync(s);
  }

  void tell() {
    std::map<std::vector<uint32_t>, std::vector<Cause>> beneath, after;
    for (size_t s = 0; s < syncs_.size(); ++s) {
      const Sync& sync = tree(s);
      size_t above = 0;
      for (size_t p = 0; p < sync.when.size(); ++p) {
        if (sync.when[p].link == Pattern::Link::plain) above = p;
        if (sync.when[p].link != Pattern::Link::caused_by) continue;
        auto effect = syncs_[s].when[above].ref(), origin = syncs_[s].when[p].ref();
        if (!effect || !origin) continue;
        bool requested = sync.when[p].outcome == Pattern::Outcome::requested;
        if (requested && *effect == *origin) continue;                     // its own opening
        if (records(s, above).empty() || records(s, p).empty()) continue;  // a misspelt outcome, which is told
        (requested ? beneath : after)[records(s, p)].push_back({s, above, p});
      }
    }
    tell(beneath);
    for (const auto& [sync, record] : answers_) graph_[sync].push_back(record);
    tell(after);
  }

 private:
  // Of each action, behind its variants: its engine outcomes, its opening, and its start.
  static constexpr uint32_t kEngine = 0, kRequested = 1, kStart = 2, kOthers = 3;

  struct Cause {
    size_t sync, plain, cause;
  };

  const Sync& tree(size_t sync) const { return kit_.syncs[syncs_[sync].sync].tree; }

  uint32_t variant(ActionRef ref, size_t number) const {
    return first_[ref.concept_][ref.action] + static_cast<uint32_t>(number);
  }
  uint32_t other(ActionRef ref, uint32_t which) const {
    return variant(ref, symbols_.action(ref).variants.size() + which);
  }
  uint32_t everything() const { return static_cast<uint32_t>(syncs_.size()); }  // leads to syncs on `?c/?a`
  uint32_t undoing() const { return everything() + 1; }                         // leads to every reversal

  void add_action(ActionRef ref) {
    const ActionSymbol& action = symbols_.action(ref);
    uint32_t start = other(ref, kStart);
    for (uint32_t record = variant(ref, 0); record < start; ++record) {
      if (record != other(ref, kRequested) || action.is_answered()) graph_[start].push_back(record);
      graph_[record].push_back(everything());
      // The engine starts reversals itself: beneath Flow/undo, and because of what they undo.
      if (symbols_.concepts[ref.concept_].built_in && action.name == "undo") graph_[record].push_back(undoing());
      if (action.reversal) graph_[record].push_back(other({ref.concept_, action.reversal->action}, kStart));
    }
    if (action.reversal) graph_[undoing()].push_back(other({ref.concept_, action.reversal->action}, kStart));
  }

  void add_sync(uint32_t s) {
    const Sync& sync = tree(s);
    for (size_t p = 0; p < sync.when.size(); ++p) {
      if (sync.when[p].link == Pattern::Link::caused_by) continue;
      if (!syncs_[s].when[p].ref()) graph_[everything()].push_back(s);
      for (uint32_t record : records(s, p)) graph_[record].push_back(s);
    }
    for (size_t e = 0; e < sync.then.size(); ++e) {
      for (const TargetSymbol& target : syncs_[s].then[e]) {
        if (sync.then[e].kind == Effect::Kind::invoke) graph_[s].push_back(other(target.action, kStart));
        if (sync.then[e].kind == Effect::Kind::answer) {
          answers_.emplace_back(s, variant(target.action, target.variant));
        }
      }
    }
  }

  std::vector<uint32_t> records(size_t sync, size_t pattern) const {
    const PatternSymbol& symbol = syncs_[sync].when[pattern];
    std::vector<uint32_t> found;
    if (!symbol.ref()) return found;
    Pattern::Outcome outcome = tree(sync).when[pattern].outcome;
    if (outcome == Pattern::Outcome::requested) found.push_back(other(*symbol.ref(), kRequested));
    if (outcome == Pattern::Outcome::engine) found.push_back(other(*symbol.ref(), kEngine));
    for (size_t each : symbol.variants) found.push_back(variant(*symbol.ref(), each));
    return found;
  }

  void tell(const std::map<std::vector<uint32_t>, std::vector<Cause>>& causes) {
    if (causes.empty()) return;
    Reach reach(graph_);
    for (auto next = causes.begin(); next != causes.end();) {
      auto first = next;
      std::vector<std::vector<uint32_t>> origins;
      for (; next != causes.end() && origins.size() < Reach::kAtOnce; ++next) origins.push_back(next->first);
      reach.from(origins);
      for (size_t i = 0; first != next; ++first, ++i) {
        for (const Cause& each : first->second) {
          bool possible = std::ranges::any_of(records(each.sync, each.plain),
                                              [&](uint32_t record) { return reach.reached(i, record); });
          if (!possible) tell(each);
        }
      }
    }
  }

  void tell(const Cause& never) {
    const Sync& sync = tree(never.sync);
    const Pattern& plain = sync.when[never.plain];
    const Pattern& cause = sync.when[never.cause];
    std::string name = symbols_.name(*syncs_[never.sync].when[never.cause].ref());
    std::string effect = symbols_.name(*syncs_[never.sync].when[never.plain].ref());
    report_.warning({sync.file, cause.concept_.at, name.size()}, "never-caused",
                    quoted(effect + outcome_of(plain, "")) + " can never be caused by " +
                        quoted(name + outcome_of(cause, "")) + ": no sync leads there, so " + quoted(sync.name.text) +
                        " never fires",
                    "start it from a sync on " + quoted(name + ": []" + outcome_of(cause, "[]")) +
                        ", or name what does lead to it");
  }

  const Kit& kit_;
  const Symbols& symbols_;
  const std::vector<SyncSymbol>& syncs_;
  Report& report_;
  Graph graph_;                                       // syncs, `everything`, `undoing`, then the actions' nodes
  std::vector<std::vector<uint32_t>> first_;          // by concept and action: its first node
  std::vector<std::pair<size_t, uint32_t>> answers_;  // a sync and the record that its answer makes
};

}  // namespace

void check_causes(const Kit& kit, const Symbols& symbols, const std::vector<SyncSymbol>& syncs, Report& report) {
  Causes(kit, symbols, syncs, report).tell();
}

}  // namespace sluice::lang
