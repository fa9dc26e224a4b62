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
// One walk for each distinct P; a walk costs the pairs (record, sync that matches it).
#include <algorithm>
#include <set>

#include "lang/check_parts.h"

namespace sluice::lang {
namespace {

// A record that a pattern can match: an action and its variant's number, or one of these.
constexpr size_t kRequested = SIZE_MAX, kEngine = SIZE_MAX - 1;
using Record = std::pair<ActionRef, size_t>;

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
      : kit_(kit), symbols_(symbols), syncs_(syncs), report_(report) {
    for (size_t s = 0; s < syncs.size(); ++s) {
      const Sync& sync = tree(s);
      for (size_t p = 0; p < sync.when.size(); ++p) {
        if (sync.when[p].link == Pattern::Link::caused_by) continue;
        if (!syncs[s].when[p].ref()) matching_all_.push_back(s);
        for (const Record& record : records(s, p)) matching_[record].push_back(s);
      }
    }
    for (size_t c = 0; c < symbols.concepts.size(); ++c) {
      for (const ActionSymbol& action : symbols.concepts[c].actions) {
        if (action.reversal) reversals_.push_back({c, action.reversal->action});
      }
    }
  }

  void tell() {
    for (size_t s = 0; s < syncs_.size(); ++s) {
      const Sync& sync = tree(s);
      size_t above = 0;
      for (size_t p = 0; p < sync.when.size(); ++p) {
        if (sync.when[p].link == Pattern::Link::plain) above = p;
        if (sync.when[p].link == Pattern::Link::caused_by) tell(s, above, p);
      }
    }
  }

 private:
  const Sync& tree(size_t sync) const { return kit_.syncs[syncs_[sync].sync].tree; }

  std::vector<Record> records(size_t sync, size_t pattern) const {
    const PatternSymbol& symbol = syncs_[sync].when[pattern];
    std::vector<Record> found;
    if (!symbol.ref()) return found;
    Pattern::Outcome outcome = tree(sync).when[pattern].outcome;
    if (outcome == Pattern::Outcome::requested) found.emplace_back(*symbol.ref(), kRequested);
    if (outcome == Pattern::Outcome::engine) found.emplace_back(*symbol.ref(), kEngine);
    for (size_t variant : symbol.variants) found.emplace_back(*symbol.ref(), variant);
    return found;
  }

  void tell(size_t s, size_t plain, size_t cause) {
    auto effect = syncs_[s].when[plain].ref(), origin = syncs_[s].when[cause].ref();
    if (!effect || !origin) return;
    const Sync& sync = tree(s);
    const Pattern& pattern = sync.when[cause];
    bool beneath = pattern.outcome == Pattern::Outcome::requested;
    if (beneath && *effect == *origin) return;  // its own opening
    const std::set<Record>& reached = walk(records(s, cause), beneath);
    bool possible = std::ranges::any_of(records(s, plain), [&](const Record& each) { return reached.contains(each); });
    if (possible) return;
    std::string name = symbols_.name(*origin);
    report_.warning({sync.file, pattern.concept_.at, name.size()}, "never-caused",
                    quoted(symbols_.name(*effect) + outcome_of(sync.when[plain], "")) + " can never be caused by " +
                        quoted(name + outcome_of(pattern, "")) + ": no sync leads there, so " + quoted(sync.name.text) +
                        " never fires",
                    "start it from a sync on " + quoted(name + ": []" + outcome_of(pattern, "[]")) +
                        ", or name what does lead to it");
  }

  // Every record that can have one of `from` among its ancestors, or beneath it.
  const std::set<Record>& walk(const std::vector<Record>& from, bool beneath) {
    auto [known, fresh] = walks_.try_emplace({from, beneath});
    std::set<Record>& reached = known->second;
    if (!fresh) return reached;
    std::vector<Record> queue = from;
    std::vector<bool> seen(syncs_.size());
    auto reach = [&](const Record& record) {
      if (reached.insert(record).second) queue.push_back(record);
    };
    auto start = [&](ActionRef action) {
      for (size_t v = 0; v < symbols_.action(action).variants.size(); ++v) reach({action, v});
      reach({action, kEngine});
      if (symbols_.action(action).is_answered()) reach({action, kRequested});
    };
    auto fire = [&](size_t s) {
      if (seen[s]) return;
      seen[s] = true;
      const Sync& sync = tree(s);
      for (size_t e = 0; e < sync.then.size(); ++e) {
        for (const TargetSymbol& target : syncs_[s].then[e]) {
          if (sync.then[e].kind == Effect::Kind::invoke) start(target.action);
          if (sync.then[e].kind == Effect::Kind::answer && !beneath) reach({target.action, target.variant});
        }
      }
    };
    while (!queue.empty()) {
      Record record = queue.back();
      queue.pop_back();
      for (size_t sync : matching_all_) fire(sync);
      if (auto found = matching_.find(record); found != matching_.end()) {
        for (size_t sync : found->second) fire(sync);
      }
      undo(record, start);
    }
    return reached;
  }

  // The engine starts reversals itself: beneath Flow/undo, and because of what they undo.
  template <typename Start>
  void undo(const Record& record, const Start& start) const {
    if (symbols_.concepts[record.first.concept_].built_in && symbols_.action(record.first).name == "undo") {
      for (ActionRef each : reversals_) start(each);
    }
    if (const auto& reversal = symbols_.action(record.first).reversal) {
      start({record.first.concept_, reversal->action});
    }
  }

  const Kit& kit_;
  const Symbols& symbols_;
  const std::vector<SyncSymbol>& syncs_;
  Report& report_;
  std::map<Record, std::vector<size_t>> matching_;
  std::vector<size_t> matching_all_;  // syncs with a pattern on `?c/?a`
  std::vector<ActionRef> reversals_;
  std::map<std::pair<std::vector<Record>, bool>, std::set<Record>> walks_;
};

}  // namespace

void check_causes(const Kit& kit, const Symbols& symbols, const std::vector<SyncSymbol>& syncs, Report& report) {
  Causes(kit, symbols, syncs, report).tell();
}

}  // namespace sluice::lang
