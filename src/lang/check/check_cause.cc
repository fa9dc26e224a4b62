// never-caused: a `caused by P` that no record can satisfy, because no way leads from P through the kit's syncs to the
// plain pattern that it speaks of. A call from outside may be P, but has no cause itself, so only syncs count.
//
// A walk goes from the records that P matches to the syncs that match those, and on to what they start. Literals are
// compared (lang/check/check_kinds.h): what P names it is known to have. Else it errs on the side of silence:
// conditions are not looked at, `?c/?a` matches everything, and so on. Two things are left out because the language
// says so:
// - a `caused by` of a sync on the way leads nowhere new, since its record is an ancestor already;
// - what is beneath a request is started from its opening. Its completion, and an answer, lead out of it, so they do
//   not count when P is `requested`.
//
// The graph has a node for each record of each kind, each sync and each kind that is started; its walks
// (lang/check/graph.h) take 64 distinct P at once and cost the pairs (record, sync that matches it).
#include <algorithm>
#include <map>

#include "lang/check/check_kinds.h"
#include "lang/check/check_parts.h"
#include "lang/check/graph.h"

namespace sluice::lang {
namespace {

std::string outcome_of(const Pattern& pattern, std::string_view brackets) {
  switch (pattern.outcome) {
    case Pattern::Outcome::variant:
      return " => " + pattern.variant_text() + std::string(brackets);
    case Pattern::Outcome::engine:
      return " => engine." + pattern.variant_text() + std::string(brackets);
    case Pattern::Outcome::requested:
      return " => requested";
    case Pattern::Outcome::any:
      break;
  }
  return brackets.empty() ? "" : " => " + std::string(brackets);
}

class Causes {
 public:
  Causes(const Kit& kit, const Symbols& symbols, const std::vector<SyncSymbol>& syncs, const Kinds& kinds,
         Report& report)
      : kit_(kit), symbols_(symbols), syncs_(syncs), kinds_(kinds), report_(report), graph_(syncs.size() + 2) {
    for (size_t kind = 0; kind < kinds.all.size(); ++kind) {
      first_.push_back(static_cast<uint32_t>(graph_.size()));
      graph_.resize(graph_.size() + action(kind).variants.size() + kOthers);
    }
    for (size_t kind = 0; kind < kinds.all.size(); ++kind) add_kind(kind);
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
        if (requested && *effect == *origin) continue;  // its own opening
        std::vector<uint32_t> origins = records(s, p, kinds_.meant(s, p));
        if (records(s, above).empty() || origins.empty()) continue;  // a misspelt outcome, which is told
        (requested ? beneath : after)[std::move(origins)].push_back({s, above, p});
      }
    }
    tell(beneath);
    // An answer ends a request of whatever kind.
    std::vector<std::vector<size_t>> kinds_of(kinds_.actions.size());
    for (size_t kind = 0; kind < kinds_.all.size(); ++kind) kinds_of[kinds_.all[kind].action].push_back(kind);
    for (const auto& [sync, target] : answers_) {
      for (size_t kind : kinds_of[kinds_.number(target.action)]) {
        graph_[sync].push_back(variant(kind, target.variant));
      }
    }
    tell(after);
  }

 private:
  // Of each kind, behind its variants: its engine outcomes, its opening, and its start.
  static constexpr uint32_t kEngine = 0, kRequested = 1, kStart = 2, kOthers = 3;

  struct Cause {
    size_t sync, plain, cause;
  };

  const Sync& tree(size_t sync) const { return kit_.syncs[syncs_[sync].sync].tree; }

  ActionRef ref(size_t kind) const { return kinds_.actions[kinds_.all[kind].action]; }
  const ActionSymbol& action(size_t kind) const { return symbols_.action(ref(kind)); }

  uint32_t variant(size_t kind, size_t number) const { return first_[kind] + static_cast<uint32_t>(number); }
  uint32_t other(size_t kind, uint32_t which) const { return variant(kind, action(kind).variants.size() + which); }
  uint32_t everything() const { return static_cast<uint32_t>(syncs_.size()); }  // leads to syncs on `?c/?a`
  uint32_t undoing() const { return everything() + 1; }                         // leads to every reversal

  void add_kind(size_t kind) {
    const ActionSymbol& action = this->action(kind);
    const size_t owner = ref(kind).concept_;
    uint32_t start = other(kind, kStart);
    for (uint32_t record = variant(kind, 0); record < start; ++record) {
      if (record != other(kind, kRequested) || action.is_answered()) graph_[start].push_back(record);
      graph_[record].push_back(everything());
      // The engine starts reversals itself: beneath Flow/undo, and because of what they undo.
      if (symbols_.concepts[owner].built_in && action.name == "undo") graph_[record].push_back(undoing());
      if (action.reversal) graph_[record].push_back(start_of({owner, action.reversal->action}));
    }
    if (action.reversal) graph_[undoing()].push_back(start_of({owner, action.reversal->action}));
  }

  // What the engine starts, with whatever it finds.
  uint32_t start_of(ActionRef action) const { return other(kinds_.number(action), kStart); }

  void add_sync(uint32_t s) {
    const Sync& sync = tree(s);
    for (size_t p = 0; p < sync.when.size(); ++p) {
      if (sync.when[p].link == Pattern::Link::caused_by) continue;
      if (syncs_[s].when[p].bound().empty()) graph_[everything()].push_back(s);
      for (uint32_t record : records(s, p)) graph_[record].push_back(s);
    }
    for (size_t e = 0; e < sync.then.size(); ++e) {
      for (size_t kind : kinds_.started(s, e)) graph_[s].push_back(other(kind, kStart));
      if (sync.then[e].kind != Effect::Kind::answer) continue;
      for (const TargetSymbol& target : syncs_[s].then[e]) answers_.emplace_back(s, target);
    }
  }

  // The records that a pattern takes, of all kinds or of one.
  std::vector<uint32_t> records(size_t sync, size_t pattern) const {
    std::vector<uint32_t> found;
    const PatternSymbol& symbol = syncs_[sync].when[pattern];
    for (size_t i = 0; !symbol.actions.empty() && i < symbol.open.size(); ++i) {
      for (size_t kind : kinds_.taken(sync, pattern, i)) {
        const auto& variant = symbol.open[i].second;
        found.push_back(variant ? this->variant(kind, *variant) : other(kind, kRequested));
      }
    }
    for (size_t kind : kinds_.taken(sync, pattern)) {
      std::vector<uint32_t> more = records(sync, pattern, kind);
      found.insert(found.end(), more.begin(), more.end());
    }
    return found;
  }
  std::vector<uint32_t> records(size_t sync, size_t pattern, size_t kind) const {
    const PatternSymbol& symbol = syncs_[sync].when[pattern];
    std::vector<uint32_t> found;
    if (!symbol.ref()) return found;
    Pattern::Outcome outcome = tree(sync).when[pattern].outcome;
    if (outcome == Pattern::Outcome::requested) found.push_back(other(kind, kRequested));
    if (outcome == Pattern::Outcome::engine) found.push_back(other(kind, kEngine));
    for (size_t each : symbol.variants) found.push_back(variant(kind, each));
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
    std::string known = to_string(literals_of(cause.input));
    report_.warning({sync.file, cause.concept_.at, name.size()}, "never-caused",
                    quoted(effect + to_string(literals_of(plain.input)) + outcome_of(plain, "")) +
                        " can never be caused by " + quoted(name + known + outcome_of(cause, "")) +
                        ": no sync leads there, so " + quoted(sync.name.text) + " never fires",
                    "start it from a sync on " +
                        quoted(name + (known.empty() ? ": []" : known) + outcome_of(cause, "[]")) +
                        ", or name what does lead to it");
  }

  const Kit& kit_;
  const Symbols& symbols_;
  const std::vector<SyncSymbol>& syncs_;
  const Kinds& kinds_;
  Report& report_;
  Graph graph_;                                           // syncs, `everything`, `undoing`, then the kinds' nodes
  std::vector<uint32_t> first_;                           // by kind: its first node
  std::vector<std::pair<size_t, TargetSymbol>> answers_;  // a sync and what it answers
};

}  // namespace

void check_causes(const Kit& kit, const Symbols& symbols, const std::vector<SyncSymbol>& syncs, const Kinds& kinds,
                  Report& report) {
  Causes(kit, symbols, syncs, kinds, report).tell();
}

}  // namespace sluice::lang
