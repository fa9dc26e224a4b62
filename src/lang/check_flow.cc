// What follows from what: outcomes that nothing handles, completions that lead nowhere, requests that nothing answers,
// and endless cascades. All of these are warnings, told at the sync that starts the action.
//
// Only plain patterns count as handling an outcome (`caused by` and `latest` never trigger), and only those that name
// their concept: a sync on `?c/?a` records, it does not handle.
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

#include "lang/flow_index.h"

namespace sluice::lang {
namespace {

using Start = FlowIndex::Start;

class Flow {
 public:
  Flow(const FlowIndex& flow, Report& report) : flow_(flow), report_(report) {}

  void tell(const std::vector<Cycle>& cycles) {
    told_ = check_answers(flow_, report_);
    for (size_t number = 0; number < flow_.actions.size(); ++number) {
      if (!flow_.answered[number].empty()) tell_unreachable(number);
      if (flow_.started[number].empty()) continue;
      tell_unhandled(number);
      tell_nowhere(number);
    }
    for (const Cycle& cycle : cycles) {
      if (cycle.outside || cycle.loop) continue;
      const Sync& first = flow_.kit.syncs[cycle.turns[0].sync].tree;
      report_.warning(place_of(first.file, first.name), "cycle",
                      "an endless cascade: " + to_string(cycle, flow_.kit, flow_.symbols),
                      "break it, or mark a sync on it [loop] if it ends by itself");
    }
  }

 private:
  bool is_matched(size_t number, size_t variant) const { return !flow_.matched[flow_.first[number] + variant].empty(); }
  bool is_told(size_t number, size_t variant) const { return told_[flow_.first[number] + variant]; }

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

  void tell_unhandled(size_t number) {
    const ActionSymbol& action = flow_.action(number);
    const std::vector<Start>& starts = flow_.started[number];
    std::vector<std::string> missing;
    for (size_t v = 0; v < action.variants.size(); ++v) {
      const std::string& name = action.variants[v].name;
      if (name == "ok" || is_matched(number, v) || is_told(number, v) || flow_.ends_quietly(number, v)) continue;
      if (is_repeated(starts, name) || action.variants[v].code == Code::ok) continue;
      missing.push_back(name);
    }
    if (missing.empty() || action.runs == Runs::query) return;
    std::vector<std::string> words;
    for (const std::string& name : missing) words.push_back(quoted(name));
    report_.warning(
        flow_.place(starts[0]), "unhandled-variant",
        starters(starts) + " " + quoted(flow_.name(number)) + ", but no sync matches its " + join(words, "or"),
        "write a sync: " + quoted("when { " + flow_.name(number) + ": [] => " + missing[0] + "[] }"));
  }

  void tell_nowhere(size_t number) {
    const ActionSymbol& action = flow_.action(number);
    auto ok = find_variant(action, "ok");
    if (!ok || action.runs == Runs::query || is_matched(number, *ok) || is_told(number, *ok)) return;
    std::vector<std::string> made, siblings;
    for (const FieldSymbol& field : action.variants[*ok].fields) {
      if (!find_field(action.params, field.name)) made.push_back(quoted(field.name));
    }
    for (size_t v = 0; v < action.variants.size(); ++v) {
      if (is_matched(number, v)) siblings.push_back(quoted(action.variants[v].name));
    }
    std::vector<Start> eager;
    for (const Start& start : flow_.started[number]) {
      if (!flow_.tree(start.sync).eventual) eager.push_back(start);
    }
    if (eager.empty() || made.empty() || (action.is_answered() && siblings.empty())) return;
    report_.warning(
        flow_.place(eager[0]), "leads-nowhere",
        quoted(flow_.name(number) + " => ok") + " leads nowhere: " + starters(eager) + " it, and no sync takes its " +
            join(made) + (siblings.empty() ? "" : ", though one goes on after " + join(siblings, "or")),
        "match " + quoted(flow_.name(number) + ": [] => ok[ … ]") + ", or start it from an [eventual] sync");
  }

  void tell_unreachable(size_t number) {
    const ActionSymbol& action = flow_.action(number);
    const std::set<size_t>& answers = flow_.answered[number];
    const ConceptSymbol& owner = flow_.symbols.concepts[flow_.actions[number].concept_];
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

void check_flow(const Kit& kit, const Symbols& symbols, const std::vector<SyncSymbol>& syncs,
                const std::vector<Cycle>& cycles, Report& report) {
  Flow(FlowIndex(kit, symbols, syncs), report).tell(cycles);
}

}  // namespace sluice::lang
