// What follows from what: outcomes that nothing handles, completions that lead nowhere, requests that nothing answers,
// and endless cascades. All of these are warnings, told at the sync that starts the action.
//
// Only plain patterns count as handling an outcome (`caused by` and `latest` never trigger), and only those that name
// their concept and action: a sync on `?c/?a` records, it does not handle.
//
// - unhandled-variant: a sync starts the action, and no sync matches this variant other than ok. An action that no
//   sync starts is the caller's, who hears every variant. A variant in `[eventual retry(…)]` is handled by repetition;
//   one that says @code(ok) is no failure, and may be an end that was meant.
// - leads-nowhere: a sync that is not [eventual] starts a pure action or an effect, no sync matches its ok, and its ok
//   carries a field that is not among its arguments: something was made and nobody takes it. An ok that only echoes,
//   and whatever an [eventual] sync starts, is an end that was meant. So is the ok of an answered action.
// - no-answer: beneath an answered action, an outcome from which no sync leads to an answer. Not told for the ok of
//   side work: what is started beside an action, or an answer, that does lead to one. Not told of what is reached only
//   through a sync that starts an `answered outside` action of which each variant leads to an answer: that one keeps
//   the request open, whatever becomes of its siblings.
// - unreachable-variant: syncs answer the action, and none with its ok. Other variants are not judged, as begin and
//   finish, which are C++, may end it in any; that work was done is for those to say who did it.
// - cycle: see cycles.cc; told unless a sync on it says [loop].
#include <algorithm>
#include <map>
#include <set>

#include "lang/check_parts.h"

namespace sluice::lang {
namespace {

struct Start {
  size_t sync;    // in the list of checked syncs
  size_t effect;  // in its then
};

// An outcome of an action.
using Outcome = std::pair<ActionRef, size_t>;

class Flow {
 public:
  Flow(const Kit& kit, const Symbols& symbols, const std::vector<SyncSymbol>& syncs, Report& report)
      : kit_(kit), symbols_(symbols), syncs_(syncs), report_(report) {
    for (size_t s = 0; s < syncs.size(); ++s) {
      const Sync& sync = tree(s);
      for (size_t p = 0; p < sync.when.size(); ++p) {
        auto ref = syncs[s].when[p].ref();
        if (!ref || sync.when[p].link != Pattern::Link::plain) continue;
        if (sync.when[p].outcome == Pattern::Outcome::requested) requested_[*ref].push_back(s);
        for (size_t variant : syncs[s].when[p].variants) matched_[{*ref, variant}].push_back(s);
      }
      for (size_t e = 0; e < sync.then.size(); ++e) {
        for (const TargetSymbol& target : syncs[s].then[e]) {
          if (sync.then[e].kind == Effect::Kind::invoke) started_[target.action].push_back({s, e});
          if (sync.then[e].kind == Effect::Kind::answer) answered_[target.action].insert(target.variant);
        }
      }
    }
  }

  void tell(const std::vector<Cycle>& cycles) {
    for (size_t c = 0; c < symbols_.concepts.size(); ++c) {
      for (size_t a = 0; a < symbols_.concepts[c].actions.size(); ++a) {
        ActionRef ref{c, a};
        if (symbols_.action(ref).runs == Runs::answered && !symbols_.concepts[c].built_in) tell_answers(ref);
      }
    }
    for (const auto& [ref, variants] : answered_) tell_unreachable(ref, variants);
    for (const auto& [ref, starts] : started_) {
      tell_unhandled(ref, starts);
      tell_nowhere(ref, starts);
    }
    for (const Cycle& cycle : cycles) {
      if (cycle.outside || cycle.loop) continue;
      const Sync& first = kit_.syncs[cycle.turns[0].sync].tree;
      report_.warning(place_of(first.file, first.name), "cycle",
                      "an endless cascade: " + to_string(cycle, kit_, symbols_),
                      "break it, or mark a sync on it [loop] if it ends by itself");
    }
  }

 private:
  const Sync& tree(size_t sync) const { return kit_.syncs[syncs_[sync].sync].tree; }

  // Supersession is how a wait is renewed: the newer wait goes on in its place.
  bool ends_quietly(ActionRef ref, size_t variant) const {
    return symbols_.concepts[ref.concept_].built_in && symbols_.action(ref).variants[variant].name == "superseded";
  }

  bool is_repeated(const std::vector<Start>& starts, const std::string& variant) const {
    return std::ranges::all_of(starts, [&](const Start& start) {
      return std::ranges::any_of(tree(start.sync).retry_variants,
                                 [&](const Name& name) { return name.text == variant; });
    });
  }

  Place place(const Start& start) const {
    const Sync& sync = tree(start.sync);
    const Effect& effect = sync.then[start.effect];
    std::string word = effect.concept_.text + "/" + effect.action.text;
    return {sync.file, effect.concept_.at, effect.candidates.empty() ? word.size() : effect.concept_.text.size()};
  }

  std::string starters(const std::vector<Start>& starts) const {
    std::vector<std::string> names;
    for (const Start& start : starts) {
      std::string name = quoted(tree(start.sync).name.text);
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    constexpr size_t kMost = 3;
    bool more = names.size() > kMost;
    if (more) names.resize(kMost);
    return (names.size() == 1 ? "sync " : "syncs ") +
           (more ? join(names, ",") + " and others start" : join(names) + (names.size() == 1 ? " starts" : " start"));
  }

  void tell_unhandled(ActionRef ref, const std::vector<Start>& starts) {
    const ActionSymbol& action = symbols_.action(ref);
    std::vector<std::string> missing;
    for (size_t v = 0; v < action.variants.size(); ++v) {
      const std::string& name = action.variants[v].name;
      Outcome outcome{ref, v};
      if (name == "ok" || matched_.contains(outcome) || told_.contains(outcome) || ends_quietly(ref, v)) continue;
      if (is_repeated(starts, name) || action.variants[v].code == Code::ok) continue;
      missing.push_back(name);
    }
    if (missing.empty() || action.runs == Runs::query) return;
    std::vector<std::string> words;
    for (const std::string& name : missing) words.push_back(quoted(name));
    report_.warning(
        place(starts[0]), "unhandled-variant",
        starters(starts) + " " + quoted(symbols_.name(ref)) + ", but no sync matches its " + join(words, "or"),
        "write a sync: " + quoted("when { " + symbols_.name(ref) + ": [] => " + missing[0] + "[] }"));
  }

  void tell_nowhere(ActionRef ref, const std::vector<Start>& starts) {
    const ActionSymbol& action = symbols_.action(ref);
    auto ok = find_variant(action, "ok");
    if (!ok || action.is_answered() || action.runs == Runs::query || matched_.contains({ref, *ok}) ||
        told_.contains({ref, *ok}))
      return;
    std::vector<std::string> made;
    for (const FieldSymbol& field : action.variants[*ok].fields) {
      if (!find_field(action.params, field.name)) made.push_back(quoted(field.name));
    }
    std::vector<Start> eager;
    for (const Start& start : starts) {
      if (!tree(start.sync).eventual) eager.push_back(start);
    }
    if (made.empty() || eager.empty()) return;
    report_.warning(
        place(eager[0]), "leads-nowhere",
        quoted(symbols_.name(ref) + " => ok") + " leads nowhere: " + starters(eager) + " it, and no sync takes its " +
            join(made),
        "match " + quoted(symbols_.name(ref) + ": [] => ok[ … ]") + ", or start it from an [eventual] sync");
  }

  void tell_unreachable(ActionRef ref, const std::set<size_t>& answers) {
    const ActionSymbol& action = symbols_.action(ref);
    const ConceptSymbol& owner = symbols_.concepts[ref.concept_];
    auto ok = find_variant(action, "ok");
    if (!ok || answers.contains(*ok) || owner.built_in) return;
    std::vector<std::string> given;
    for (size_t variant : answers) given.push_back(quoted(action.variants[variant].name));
    Place declared = report_.word(owner.source->file, action.source->variants[*ok].at, "ok");
    report_.warning(
        declared, "unreachable-variant",
        "no sync answers " + quoted(symbols_.name(ref)) + " with `ok`: syncs answer it with " + join(given) + " alone",
        "write " + quoted("answer ?ask => ok[ … ]") + " where its work is done");
  }

  // What runs beneath syncs, through those that follow from it.
  struct Reach {
    std::set<ActionRef> actions;
    std::vector<size_t> syncs;  // none of them [eventual]
    std::set<size_t> seen;      // these, and the [eventual] ones, which are not followed
  };

  template <typename Skip>
  Reach reach(const std::vector<size_t>& from, const Skip& skip) const {
    Reach found;
    std::vector<size_t> queue;
    auto visit = [&](size_t sync) {
      if (skip(sync) || !found.seen.insert(sync).second || tree(sync).eventual) return;
      queue.push_back(sync);
    };
    for (size_t sync : from) visit(sync);
    while (!queue.empty()) {
      size_t sync = queue.back();
      queue.pop_back();
      found.syncs.push_back(sync);
      for_targets(sync, Effect::Kind::invoke, [&](const TargetSymbol& target) {
        if (!found.actions.insert(target.action).second) return;
        for (size_t v = 0; v < symbols_.action(target.action).variants.size(); ++v) {
          auto matching = matched_.find({target.action, v});
          if (matching == matched_.end()) continue;
          for (size_t next : matching->second) visit(next);
        }
      });
    }
    return found;
  }

  // Everything that runs directly beneath a request, and from which outcomes of it an answer can be reached.
  void tell_answers(ActionRef request) {
    auto begun = requested_.find(request);
    const ActionSymbol& asked = symbols_.action(request);
    const Concept& owner = *symbols_.concepts[request.concept_].source;
    if (begun == requested_.end()) {
      report_.warning(report_.word(owner.file, asked.source->at, asked.name), "no-answer",
                      "no active sync matches " + quoted(symbols_.name(request) + ": [] => requested") +
                          ": every request ends in engine.unanswered",
                      "write the sync that does its work, or declare it `answered outside`");
      return;
    }
    Reach all = reach(begun->second, [](size_t) { return false; });

    // Syncs that lead to an answer, and actions of which some outcome does; to a fixed point.
    std::set<size_t> leads;
    std::set<ActionRef> good;
    for (bool grown = true; grown;) {
      grown = false;
      for (size_t sync : all.syncs) {
        if (leads.contains(sync)) continue;
        bool answer = false;
        for_targets(sync, Effect::Kind::answer,
                    [&](const TargetSymbol& target) { answer = answer || target.action == request; });
        for_targets(sync, Effect::Kind::invoke,
                    [&](const TargetSymbol& target) { answer = answer || good.contains(target.action); });
        if (!answer) continue;
        leads.insert(sync);
        grown = true;
        const Sync& rule = tree(sync);
        for (size_t p = 0; p < rule.when.size(); ++p) {
          auto ref = syncs_[sync].when[p].ref();
          bool completes = !syncs_[sync].when[p].variants.empty() && rule.when[p].link == Pattern::Link::plain;
          if (ref && completes && all.actions.contains(*ref)) good.insert(*ref);
        }
      }
    }
    auto answered = [&](ActionRef ref, size_t variant) {
      auto found = matched_.find({ref, variant});
      return found != matched_.end() &&
             std::ranges::any_of(found->second, [&](size_t sync) { return leads.contains(sync); });
    };
    auto keeps_open = [&](ActionRef ref) {
      const ActionSymbol& action = symbols_.action(ref);
      for (size_t v = 0; v < action.variants.size(); ++v) {
        if (!answered(ref, v)) return false;
      }
      return action.runs == Runs::answered_outside;
    };
    // A sync that starts such an action is left out: what follows from it, or beside it, is kept open. What can be
    // reached in another way is judged.
    auto opens = [&](size_t sync) {
      bool found = false;
      for_targets(sync, Effect::Kind::invoke,
                  [&](const TargetSymbol& target) { found = found || keeps_open(target.action); });
      return found;
    };
    Reach judged = reach(begun->second, opens);
    auto starts_more = [&](ActionRef ref, size_t variant) {
      auto found = matched_.find({ref, variant});
      if (found == matched_.end()) return false;
      bool more = false;
      for (size_t sync : found->second) {
        if (!all.seen.contains(sync)) continue;
        for_targets(sync, Effect::Kind::invoke, [&](const TargetSymbol&) { more = true; });
      }
      return more;
    };
    for (ActionRef ref : judged.actions) {
      const ActionSymbol& action = symbols_.action(ref);
      std::vector<Start> starts;
      bool beside = true;
      for (const Start& start : started_.at(ref)) {
        if (!judged.seen.contains(start.sync) || tree(start.sync).eventual) continue;
        starts.push_back(start);
        bool other = false;
        for_targets(start.sync, Effect::Kind::answer, [&](const TargetSymbol&) { other = true; });
        for_targets(start.sync, Effect::Kind::invoke, [&](const TargetSymbol& target) {
          other = other || (target.action != ref && good.contains(target.action));
        });
        beside = beside && other;
      }
      std::vector<std::string> missing;
      for (size_t v = 0; v < action.variants.size(); ++v) {
        if (answered(ref, v) || ends_quietly(ref, v)) continue;
        if (action.variants[v].name == "ok" && beside) continue;
        // What it starts is told of itself; a ring without an answer is told at its first action.
        if (starts_more(ref, v) && !(good.empty() && ref == *judged.actions.begin())) continue;
        missing.push_back(quoted(action.variants[v].name));
        told_.insert({ref, v});
      }
      if (missing.empty() || starts.empty() || action.runs == Runs::query) continue;
      report_.warning(
          place(starts[0]), "no-answer",
          quoted(symbols_.name(request)) + " is never answered after " + quoted(symbols_.name(ref)) + " => " +
              join(missing, "or"),
          "write a sync: " + quoted("when { " + symbols_.name(ref) + ": [] => …  caused by " + symbols_.name(request) +
                                    ": [] => requested as ?ask } then { answer ?ask => … }"));
    }
  }

  template <typename Visit>
  void for_targets(size_t sync, Effect::Kind kind, const Visit& visit) const {
    const Sync& rule = tree(sync);
    for (size_t e = 0; e < rule.then.size(); ++e) {
      if (rule.then[e].kind != kind) continue;
      for (const TargetSymbol& target : syncs_[sync].then[e]) visit(target);
    }
  }

  const Kit& kit_;
  const Symbols& symbols_;
  const std::vector<SyncSymbol>& syncs_;
  Report& report_;
  std::map<ActionRef, std::vector<size_t>> requested_;
  std::map<ActionRef, std::set<size_t>> answered_;  // with which variants
  std::map<Outcome, std::vector<size_t>> matched_;
  std::map<ActionRef, std::vector<Start>> started_;
  std::set<Outcome> told_;  // by no-answer, which says more
};

}  // namespace

void check_flow(const Kit& kit, const Symbols& symbols, const std::vector<SyncSymbol>& syncs,
                const std::vector<Cycle>& cycles, Report& report) {
  Flow(kit, symbols, syncs, report).tell(cycles);
}

}  // namespace sluice::lang
