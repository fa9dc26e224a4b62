// no-answer: an answered action that no sync begins, or an outcome beneath it from which no sync leads to an answer.
//
// Not told for the ok of side work: what is started beside an action, or an answer, that does lead to one. Not told of
// what is reached only through a sync that starts an `answered outside` action of which each variant leads to an
// answer: that one keeps the request open, whatever becomes of its siblings. Not told of an inner request beneath which
// the outer one is answered: what happens there is judged for the inner one.
//
// Costs, for each answered action, what runs directly beneath it; where a sync elsewhere answers it, also what runs
// beneath the requests that are made there. What is told of one outcome beneath several requests is told once.
#include <algorithm>
#include <map>

#include "lang/flow_index.h"

namespace sluice::lang {
namespace {

class Answers {
 public:
  Answers(const FlowIndex& flow, Report& report)
      : flow_(flow),
        report_(report),
        all_(flow),
        judged_(flow),
        leads_(flow.syncs.size()),
        good_(flow.actions.size()),
        within_(flow.actions.size()),
        answering_(flow.actions.size()),
        told_(flow.matched.size()) {
    for (size_t s = 0; s < flow.syncs.size(); ++s) {
      for (size_t action : flow.answers[s]) answering_[action].push_back(s);
    }
  }

  std::vector<bool> tell() {
    for (size_t number = 0; number < flow_.actions.size(); ++number) {
      bool built_in = flow_.symbols.concepts[flow_.actions[number].concept_].built_in;
      if (flow_.action(number).runs == Runs::answered && !built_in) judge(number);
    }
    for (const auto& [what, found] : found_) {
      const auto& [number, missing] = what;
      const std::string request = flow_.name(found.request);
      std::vector<std::string> words;
      for (size_t variant : missing) words.push_back(quoted(flow_.action(number).variants[variant].name));
      std::string others = found.requests == 1   ? " is"
                           : found.requests == 2 ? " and one other are"
                                                 : " and " + std::to_string(found.requests - 1) + " others are";
      report_.warning(
          flow_.place(found.start), "no-answer",
          quoted(request) + others + " never answered after " + quoted(flow_.name(number)) + " => " + join(words, "or"),
          "write a sync: " + quoted("when { " + flow_.name(number) + ": [] => …  caused by " + request +
                                    ": [] => requested as ?ask } then { answer ?ask => … }"));
    }
    return std::move(told_);
  }

 private:
  // What runs beneath syncs, through those that follow from it.
  struct Beneath {
    explicit Beneath(const FlowIndex& flow) : action(flow.actions.size()), seen(flow.syncs.size()) {}
    std::vector<size_t> actions, syncs;  // syncs: none of them [eventual]
    Marks action;
    Marks seen;  // these syncs, and the [eventual] ones, which are not followed
  };

  // `nested`: also what runs beneath the requests that are made on the way.
  template <typename Skip>
  void walk(Beneath& found, const std::vector<size_t>& from, bool nested, const Skip& skip) {
    found.actions.clear();
    found.syncs.clear();
    found.action.clear();
    found.seen.clear();
    auto visit = [&](size_t sync) {
      if (skip(sync) || !found.seen.add(sync) || flow_.tree(sync).eventual) return;
      found.syncs.push_back(sync);
    };
    for (size_t sync : from) visit(sync);
    for (size_t at = 0; at < found.syncs.size(); ++at) {
      for (size_t number : flow_.invokes[found.syncs[at]]) {
        if (!found.action.add(number)) continue;
        found.actions.push_back(number);
        for (size_t v = 0; v < flow_.action(number).variants.size(); ++v) {
          for (size_t next : flow_.matched[flow_.first[number] + v]) visit(next);
        }
        if (!nested) continue;
        for (size_t next : flow_.requested[number]) visit(next);
      }
    }
  }

  // Syncs that lead to an answer, and actions of which some outcome does, or beneath which one is given.
  void find_leads(size_t request) {
    leads_.clear();
    good_.clear();
    within_.clear();
    std::vector<size_t> queue;
    auto visit = [&](size_t sync) {
      bool walked = all_.seen.has(sync) && !flow_.tree(sync).eventual;
      if (walked && leads_.add(sync)) queue.push_back(sync);
    };
    auto visit_starts = [&](size_t number) {
      if (!all_.action.has(number) || !good_.add(number)) return;
      for (const FlowIndex::Start& start : flow_.started[number]) visit(start.sync);
    };
    for (size_t sync : answering_[request]) visit(sync);
    while (!queue.empty()) {
      size_t sync = queue.back();
      queue.pop_back();
      for (size_t number : flow_.completions[sync]) visit_starts(number);
      const Sync& rule = flow_.tree(sync);
      for (size_t p = 0; p < rule.when.size(); ++p) {
        if (rule.when[p].outcome != Pattern::Outcome::requested || rule.when[p].link != Pattern::Link::plain) continue;
        for (ActionRef ref : flow_.syncs[sync].when[p].requests()) {
          size_t number = flow_.number(ref);
          if (number == request) continue;
          within_.add(number);
          visit_starts(number);
        }
      }
    }
  }

  bool leads(size_t number, size_t variant) const {
    return within_.has(number) || std::ranges::any_of(flow_.matched[flow_.first[number] + variant],
                                                      [&](size_t sync) { return leads_.has(sync); });
  }

  // A request outside of which each variant leads to an answer.
  bool keeps_open(size_t number) const {
    const ActionSymbol& action = flow_.action(number);
    if (action.runs != Runs::answered_outside) return false;
    for (size_t v = 0; v < action.variants.size(); ++v) {
      if (!leads(number, v)) return false;
    }
    return true;
  }

  bool starts_more(size_t number, size_t variant) const {
    return std::ranges::any_of(flow_.matched[flow_.first[number] + variant], [&](size_t sync) {
      bool walked = all_.seen.has(sync) && !flow_.tree(sync).eventual;
      return walked && !flow_.invokes[sync].empty();
    });
  }

  void judge(size_t request) {
    // What an [eventual] sync does, it does in a flow of its own, where it keeps no request open.
    std::vector<size_t> begun = flow_.requested[request];
    std::erase_if(begun, [&](size_t sync) { return flow_.tree(sync).eventual; });
    const ActionSymbol& asked = flow_.action(request);
    if (begun.empty()) {
      bool none = flow_.requested[request].empty();
      const Concept& owner = *flow_.symbols.concepts[flow_.actions[request].concept_].source;
      report_.warning(report_.word(owner.file, asked.source->at, asked.name), "no-answer",
                      (none ? "no active sync matches " : "only [eventual] syncs match ") +
                          quoted(flow_.name(request) + ": [] => requested") +
                          ": every request ends in engine.unanswered",
                      none ? "write the sync that does its work, or declare it `answered outside`"
                           : "make the sync that does its work [eager]");
      return;
    }
    auto none = [](size_t) { return false; };
    walk(all_, begun, false, none);
    bool elsewhere = std::ranges::any_of(answering_[request], [&](size_t sync) { return !all_.seen.has(sync); });
    if (elsewhere) walk(all_, begun, true, none);
    find_leads(request);
    // A sync that starts such an action is left out: what follows from it, or beside it, is kept open. What can be
    // reached in another way is judged.
    walk(judged_, begun, false, [&](size_t sync) {
      return std::ranges::any_of(flow_.invokes[sync], [&](size_t number) { return keeps_open(number); });
    });
    bool any_good = std::ranges::any_of(all_.actions, [&](size_t number) { return good_.has(number); });
    auto lowest = std::ranges::min_element(judged_.actions);
    for (size_t number : judged_.actions) judge(request, number, !any_good && number == *lowest);
  }

  // One action beneath a request. A ring without an answer is told at its first action.
  void judge(size_t request, size_t number, bool tells_ring) {
    const ActionSymbol& action = flow_.action(number);
    const FlowIndex::Start* first = nullptr;
    bool beside = true;
    for (const FlowIndex::Start& start : flow_.started[number]) {
      if (!judged_.seen.has(start.sync) || flow_.tree(start.sync).eventual) continue;
      if (first == nullptr) first = &start;
      bool other = !flow_.answers[start.sync].empty() ||
                   std::ranges::any_of(flow_.invokes[start.sync],
                                       [&](size_t each) { return each != number && good_.has(each); });
      beside = beside && other;
    }
    std::vector<size_t> missing;
    for (size_t v = 0; v < action.variants.size(); ++v) {
      if (leads(number, v) || flow_.ends_quietly(number, v)) continue;
      if (action.variants[v].name == "ok" && beside) continue;
      if (starts_more(number, v) && !tells_ring) continue;  // what it starts is told of itself
      missing.push_back(v);
      told_[flow_.first[number] + v] = true;
    }
    if (missing.empty() || first == nullptr || action.runs == Runs::query) return;
    auto [place, fresh] = found_.try_emplace({number, std::move(missing)}, Found{request, 0, *first});
    ++place->second.requests;
  }

  struct Found {
    size_t request;   // the first
    size_t requests;  // how many there are
    FlowIndex::Start start;
  };

  const FlowIndex& flow_;
  Report& report_;
  Beneath all_, judged_;
  Marks leads_;                                 // syncs
  Marks good_;                                  // actions
  Marks within_;                                // actions beneath which the answer is given
  std::vector<std::vector<size_t>> answering_;  // by action: the syncs that answer it
  std::map<std::pair<size_t, std::vector<size_t>>, Found> found_;
  std::vector<bool> told_;  // by outcome
};

}  // namespace

std::vector<bool> check_answers(const FlowIndex& flow, Report& report) { return Answers(flow, report).tell(); }

}  // namespace sluice::lang
