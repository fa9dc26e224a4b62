// What follows from what: outcomes that nothing handles, completions that lead nowhere, requests that nothing answers,
// and endless cascades. All of these are warnings, told at the sync that starts the action.
//
// Only plain patterns count as handling an outcome (`caused by` and `latest` never trigger), and only those that name
// their concept: a sync on `?c/?a` records, it does not handle. Literals are compared: a sync on `A/a: [ n: 2 ]` does
// not handle what another one starts with `n: 1`.
//
// - unhandled-variant: a sync starts the action, and no sync matches this variant other than ok. An action that no
//   sync starts is the caller's, who hears every variant. A variant in `[eventual retry(…)]` is handled by repetition;
//   one that says @code(ok) is no failure, and may be an end that was meant.
// - leads-nowhere: a sync that is not [eventual] starts an action, no sync matches its ok, and its ok carries a field
//   that is not among its arguments: something was made and nobody takes it. An ok that only echoes, and whatever an
//   [eventual] sync starts, is an end that was meant. So is the ok of an answered action, unless a sync goes on after
//   another of its variants.
// - no-answer: see check_answers.cc; what it tells of is not told again.
// - unreachable-variant: syncs answer the action, and none with its ok. Other variants are not judged, as begin and
//   finish, which are C++, may end it in any; that work was done is for those to say who did it.
// - cycle: see cycles.cc; told unless a sync on it says [loop].
#include <algorithm>

#include "lang/check/flow_index.h"

namespace sluice::lang {
namespace {

using Start = FlowIndex::Start;

class Flow {
 public:
  Flow(const FlowIndex& flow, Report& report) : flow_(flow), report_(report) {}

  void tell(const std::vector<Cycle>& cycles, size_t unlisted) {
    told_ = check_answers(flow_, report_);
    for (size_t action = 0; action < flow_.kinds.actions.size(); ++action) {
      if (!flow_.answered[action].empty()) tell_unreachable(action);
    }
    std::vector<bool> started(flow_.kinds.actions.size());
    for (size_t kind = 0; kind < flow_.kinds.all.size(); ++kind) {
      if (flow_.started[kind].empty()) continue;
      started[flow_.kinds.all[kind].action] = true;
      tell_unhandled(kind);
      tell_nowhere(kind);
    }
    for (size_t action = 0; action < started.size(); ++action) {
      if (!started[action] && !flow_.owner(action).built_in) tell_nowhere(action);
    }
    for (const Cycle& cycle : cycles) {
      if (cycle.outside || cycle.loop) continue;
      const Sync& first = flow_.kit.syncs[cycle.turns[0].sync].tree;
      report_.warning(place_of(first.file, first.name), "cycle",
                      "an endless cascade: " + to_string(cycle, flow_.kit, flow_.symbols),
                      "break it, or mark a sync on it [loop] if it ends by itself");
    }
    if (unlisted > 0) {
      const Sync& first = flow_.kit.syncs[cycles[0].turns[0].sync].tree;
      report_.warning(place_of(first.file, first.name), "cycle",
                      std::to_string(unlisted) + (unlisted == 1 ? " more sync is" : " more syncs are") +
                          " on endless cascades with these, and not listed",
                      "break the ones that are listed, and check again");
    }
  }

 private:
  bool is_matched(size_t kind, size_t variant) const { return !flow_.matched[flow_.first[kind] + variant].empty(); }
  bool is_told(size_t kind, size_t variant) const { return told_[flow_.first[kind] + variant]; }

  bool is_repeated(const std::vector<Start>& starts, const std::string& variant) const {
    return std::ranges::all_of(starts, [&](const Start& start) {
      return std::ranges::any_of(flow_.tree(start.sync).retry_variants,
                                 [&](const Name& name) { return name.text == variant; });
    });
  }

  std::string starters(const std::vector<Start>& starts) const {
    constexpr size_t kMost = 3;
    std::vector<std::string> names;
    for (const Start& start : starts) {
      if (names.size() > kMost) break;
      std::string name = quoted(flow_.tree(start.sync).name.text);
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    bool more = names.size() > kMost;
    if (more) names.resize(kMost);
    return (names.size() == 1 ? "sync " : "syncs ") +
           (more ? join(names, ",") + " and others start" : join(names) + (names.size() == 1 ? " starts" : " start"));
  }

  void tell_unhandled(size_t kind) {
    const ActionSymbol& action = flow_.action(kind);
    const std::vector<Start>& starts = flow_.started[kind];
    std::vector<std::string> missing;
    for (size_t v = 0; v < action.variants.size(); ++v) {
      const std::string& name = action.variants[v].name;
      if (name == "ok" || is_matched(kind, v) || is_told(kind, v) || flow_.ends_quietly(kind, v)) continue;
      if (is_repeated(starts, name) || action.variants[v].code == Code::ok) continue;
      missing.push_back(name);
    }
    if (missing.empty() || action.runs == Runs::query) return;
    std::vector<std::string> words;
    for (const std::string& name : missing) words.push_back(quoted(name));
    report_.warning(
        flow_.place(starts[0]), "unhandled-variant",
        starters(starts) + " " + quoted(flow_.title(kind)) + ", but no sync matches its " + join(words, "or"),
        "write a sync: " + quoted("when { " + flow_.pattern(kind) + " => " + missing[0] + "[] }"));
  }

  void tell_nowhere(size_t kind) {
    const ActionSymbol& action = flow_.action(kind);
    auto ok = find_variant(action, "ok");
    if (!ok || action.runs == Runs::query || is_matched(kind, *ok) || is_told(kind, *ok)) return;
    std::vector<std::string> made, siblings;
    for (const FieldSymbol& field : action.variants[*ok].fields) {
      if (!find_field(action.params, field.name)) made.push_back(quoted(field.name));
    }
    for (size_t v = 0; v < action.variants.size(); ++v) {
      if (is_matched(kind, v)) siblings.push_back(quoted(action.variants[v].name));
    }
    std::vector<Start> eager;
    for (const Start& start : flow_.started[kind]) {
      if (!flow_.tree(start.sync).eventual) eager.push_back(start);
    }
    if (made.empty() || (action.is_answered() && siblings.empty())) return;
    if (flow_.started[kind].empty() && !siblings.empty()) return tell_nowhere_outside(kind, *ok, made, siblings);
    if (eager.empty()) return;
    report_.warning(flow_.place(eager[0]), "leads-nowhere",
                    quoted(flow_.title(kind) + " => ok") + " leads nowhere: " + starters(eager) +
                        " it, and no sync takes its " + join(made) +
                        (siblings.empty() ? "" : ", though one goes on after " + join(siblings, "or")),
                    "match " + quoted(flow_.pattern(kind) + " => ok[ … ]") + ", or start it from an [eventual] sync");
  }

  // An action that only callers start: told at the first sync that goes on after another of its variants.
  void tell_nowhere_outside(size_t kind, size_t ok, const std::vector<std::string>& made,
                            const std::vector<std::string>& siblings) {
    size_t v = ok == 0 ? 1 : 0;
    while (!is_matched(kind, v)) ++v;
    size_t sync = flow_.matched[flow_.first[kind] + v][0];
    const Sync& rule = flow_.tree(sync);
    for (size_t p = 0; p < rule.when.size(); ++p) {
      std::vector<ActionRef> bound = flow_.syncs[sync].when[p].bound();
      bool takes = std::ranges::any_of(bound, [&](ActionRef ref) { return flow_.number(ref) == kind; });
      if (!takes || rule.when[p].link != Pattern::Link::plain) continue;
      report_.warning({rule.file, rule.when[p].concept_.at, flow_.name(kind).size()}, "leads-nowhere",
                      quoted(flow_.name(kind) + " => ok") + " leads nowhere: no sync takes its " + join(made) +
                          ", though one goes on after " + join(siblings, "or"),
                      "match " + quoted(flow_.name(kind) + ": [] => ok[ … ]") + " too");
      return;
    }
  }

  void tell_unreachable(size_t number) {
    const ActionSymbol& action = flow_.action(number);
    const std::set<size_t>& answers = flow_.answered[number];
    const ConceptSymbol& owner = flow_.owner(number);
    auto ok = find_variant(action, "ok");
    if (!ok || answers.contains(*ok) || owner.built_in) return;
    std::vector<std::string> given;
    for (size_t variant : answers) given.push_back(quoted(action.variants[variant].name));
    Place declared = report_.word(owner.source->file, action.source->variants[*ok].at, "ok");
    report_.warning(
        declared, "unreachable-variant",
        "no sync answers " + quoted(flow_.name(number)) + " with `ok`: syncs answer it with " + join(given) + " alone",
        "write " + quoted("answer ?ask => ok[ … ]") + " where its work is done");
  }

  const FlowIndex& flow_;
  Report& report_;
  std::vector<bool> told_;  // outcomes, by no-answer, which says more
};

}  // namespace

void check_flow(const Kit& kit, const Symbols& symbols, const std::vector<SyncSymbol>& syncs, const Kinds& kinds,
                const std::vector<Cycle>& cycles, size_t unlisted, Report& report) {
  Flow(FlowIndex(kit, symbols, syncs, kinds), report).tell(cycles, unlisted);
}

}  // namespace sluice::lang
