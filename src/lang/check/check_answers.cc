// no-answer: an answered action that no sync begins, or an outcome beneath it from which no sync leads to an answer.
//
// A request is judged once for each set of literals with which a sync begins it (`kind: "deploy"`): what is known of it
// then holds for each `caused by` beneath it. Which syncs can fire there is said in check_beneath.h.
//
// Not told for the ok of side work: what is started beside an action, or an answer, that does lead to one, and what
// follows from it. Not told of what is reached only through a sync that starts an `answered outside` action of which
// each variant leads to an answer: that one keeps the request open, whatever becomes of its siblings. Not told of an
// inner request beneath which the outer one is answered: what happens there is judged for the inner one.
//
// Told is the last outcome of each way, since what stands before it leads on. A ring, such as a timer that is set again
// and again, has no last one: if nothing in it, and nothing that follows from it, leads to an answer or is told, its
// first outcome is. Not so if some sync answers the request from state: the ring keeps it open for that one.
//
// Costs, for each answered action, what runs directly beneath it; where a sync elsewhere answers it, also what runs
// beneath the requests that are made there. What is told of one outcome beneath several requests is told once.
#include <algorithm>
#include <map>

#include "lang/check/check_beneath.h"
#include "lang/check/graph.h"

namespace sluice::lang {
namespace {

constexpr size_t kMaxCases = 100;  // sets of literals of one request; if there are more, all are judged as one

class Answers {
 public:
  Answers(const FlowIndex& flow, Report& report)
      : flow_(flow),
        report_(report),
        requests_(flow),
        all_(flow, requests_),
        judged_(flow, requests_),
        leads_(flow.syncs.size()),
        good_(flow.kinds.all.size()),
        within_(flow.kinds.all.size()),
        onward_(flow.kinds.all.size()),
        main_(flow.kinds.all.size()),
        walked_(flow.syncs.size()),
        answering_(flow.kinds.actions.size()),
        told_(flow.matched.size()) {
    for (size_t s = 0; s < flow.syncs.size(); ++s) {
      for (size_t action : flow.answers[s]) answering_[action].push_back(s);
    }
  }

  std::vector<bool> tell() {
    for (size_t action = 0; action < flow_.kinds.actions.size(); ++action) {
      if (flow_.action(action).runs == Runs::answered && !flow_.owner(action).built_in) judge(action);
    }
    for (size_t kind = flow_.kinds.actions.size(); kind < flow_.kinds.all.size(); ++kind) judge_started(kind);
    for (const auto& [what, found] : found_) {
      const auto& [kind, missing] = what;
      const std::string request = flow_.name(found.request);
      std::vector<std::string> words;
      for (size_t variant : missing) words.push_back(quoted(flow_.action(kind).variants[variant].name));
      std::string others = found.requests == 1   ? " is"
                           : found.requests == 2 ? " and one other are"
                                                 : " and " + std::to_string(found.requests - 1) + " others are";
      report_.warning(
          flow_.place(found.start), "no-answer",
          quoted(request) + others + " never answered after " + quoted(flow_.title(kind)) + " => " + join(words, "or"),
          "write a sync: " + quoted("when { " + flow_.pattern(kind) + " => …  caused by " + request +
                                    ": [] => requested as ?ask } then { answer ?ask => … }"));
    }
    return std::move(told_);
  }

 private:
  using Missing = std::map<size_t, std::set<size_t>>;  // by kind: variants
  struct Lacks {
    FlowIndex::Start start;  // where it is told: the first on the way
    std::set<size_t> variants;
  };

  // Syncs that lead to an answer, and kinds of which some outcome does, or beneath which one is given.
  void find_leads(size_t request) {
    leads_.clear();
    good_.clear();
    within_.clear();
    std::vector<size_t> queue;
    auto visit = [&](size_t sync) {
      if (all_.seen.has(sync) && leads_.add(sync)) queue.push_back(sync);
    };
    auto visit_starts = [&](size_t kind) {
      if (!all_.kind.has(kind) || !good_.add(kind)) return;
      for (const FlowIndex::Start& start : flow_.started[kind]) visit(start.sync);
    };
    for (size_t sync : answering_[request]) visit(sync);
    while (!queue.empty()) {
      size_t sync = queue.back();
      queue.pop_back();
      for (size_t kind : flow_.takes[sync]) visit_starts(kind);
      for (size_t kind : flow_.opens[sync]) {
        if (flow_.kinds.all[kind].action == request) continue;
        within_.add(kind);
        visit_starts(kind);
      }
    }
  }

  bool leads(size_t kind, size_t variant) const {
    return within_.has(kind) || std::ranges::any_of(flow_.matched[flow_.first[kind] + variant],
                                                    [&](size_t sync) { return leads_.has(sync); });
  }

  // A request outside of which each variant leads to an answer.
  bool keeps_open(size_t kind) const {
    const ActionSymbol& action = flow_.action(kind);
    if (action.runs != Runs::answered_outside) return false;
    for (size_t v = 0; v < action.variants.size(); ++v) {
      if (!leads(kind, v)) return false;
    }
    return true;
  }

  bool starts_more(size_t kind, size_t variant) const {
    return std::ranges::any_of(flow_.matched[flow_.first[kind] + variant], [&](size_t sync) {
      return all_.seen.has(sync) && std::ranges::any_of(flow_.invokes[sync], [&](size_t next) {
               return flow_.action(next).runs != Runs::query;
             });
    });
  }

  void judge(size_t request) {
    // What an [eventual] sync does, it does in a flow of its own, where it keeps no request open.
    std::vector<size_t> begun = flow_.requested[request];
    std::erase_if(begun, [&](size_t sync) { return flow_.tree(sync).eventual; });
    const ActionSymbol& asked = flow_.action(request);
    bool eager = !begun.empty();
    std::erase_if(begun, [&](size_t sync) { return !requests_.has_records(sync, request); });
    if (begun.empty()) {
      bool none = eager || flow_.requested[request].empty();
      const Concept& owner = *flow_.owner(request).source;
      report_.warning(report_.word(owner.file, asked.source->at, asked.name), "no-answer",
                      (eager  ? "no sync can fire on "
                       : none ? "no active sync matches "
                              : "only [eventual] syncs match ") +
                          quoted(flow_.name(request) + ": [] => requested") +
                          ": every request ends in engine.unanswered",
                      none ? "write the sync that does its work, or declare it `answered outside`"
                           : "make the sync that does its work [eager]");
      return;
    }
    std::map<Literals, std::vector<size_t>> cases;
    for (size_t sync : begun) {
      for (size_t p = 0; p < flow_.syncs[sync].when.size(); ++p) {
        bool opens = flow_.tree(sync).when[p].outcome == Pattern::Outcome::requested &&
                     flow_.tree(sync).when[p].link == Pattern::Link::plain;
        auto ref = flow_.syncs[sync].when[p].ref();
        if (!opens || (ref && flow_.number(*ref) != request)) continue;
        cases[ref ? flow_.kinds.all[flow_.kinds.meant(sync, p)].given : Literals{}].push_back(sync);
      }
    }
    std::map<size_t, Lacks> missing;
    if (cases.size() > kMaxCases) {
      judge({request, Literals{}, begun, false}, missing);
    } else {
      for (const auto& [known, first] : cases) {
        std::vector<size_t> together;
        for (const auto& [other, syncs] : cases) {
          if (agree(known, other)) together.insert(together.end(), syncs.begin(), syncs.end());
        }
        judge({request, known, together, false}, missing);
      }
    }
    for (const auto& [kind, lacks] : missing) {
      for (size_t variant : lacks.variants) told_[flow_.first[kind] + variant] = true;
      auto [place, fresh] = found_.try_emplace({kind, lacks.variants}, Found{request, 0, lacks.start});
      ++place->second.requests;
    }
  }

  // A request that a sync makes with literals for which nobody waits, though somebody does for others.
  void judge_started(size_t kind) {
    bool asked = flow_.action(kind).runs == Runs::answered && !flow_.owner(kind).built_in;
    bool others = !flow_.requested[flow_.kinds.all[kind].action].empty();
    if (!asked || flow_.started[kind].empty() || !flow_.requested[kind].empty() || !others) return;
    report_.warning(flow_.place(flow_.started[kind][0]), "no-answer",
                    "no active sync matches " + quoted(flow_.pattern(kind) + " => requested") +
                        ": this request ends in engine.unanswered",
                    "write the sync that does its work, or mend the literal");
  }

  void judge(Beneath::From from, std::map<size_t, Lacks>& missing) {
    auto none = [](size_t) { return false; };
    all_.walk(from, none);
    bool elsewhere = std::ranges::any_of(answering_[from.request], [&](size_t sync) { return !all_.seen.has(sync); });
    if (elsewhere) {
      from.nested = true;
      all_.walk(from, none);
      from.nested = false;
    }
    find_leads(from.request);
    // A sync that starts such an action is left out: what follows from it, or beside it, is kept open. What can be
    // reached in another way is judged.
    judged_.walk(from, [&](size_t sync) {
      return std::ranges::any_of(flow_.invokes[sync], [&](size_t kind) { return keeps_open(kind); });
    });
    find_main(from.begun);
    Missing found;
    for (size_t kind : judged_.kinds) {
      if (flow_.action(kind).runs == Runs::query) continue;
      for (size_t v = 0; v < flow_.action(kind).variants.size(); ++v) {
        bool ends = !leads(kind, v) && !starts_more(kind, v) && !flow_.ends_quietly(kind, v);
        bool beside = flow_.action(kind).variants[v].name == "ok" && !main_.has(kind);
        if (ends && !beside) found[kind].insert(v);
      }
    }
    judge_rings(from.request, found);
    for (const auto& [kind, variants] : found) {
      Lacks& lacks = missing.try_emplace(kind, Lacks{first_start(kind), {}}).first->second;
      lacks.variants.insert(variants.begin(), variants.end());
    }
  }

  // Kinds that are not side work: started on the way to an answer, and not beside something else that leads to one.
  void find_main(const std::vector<size_t>& begun) {
    onward_.clear();
    main_.clear();
    walked_.clear();
    std::vector<size_t> queue;
    auto visit = [&](size_t sync) {
      if (judged_.seen.has(sync) && walked_.add(sync)) queue.push_back(sync);
    };
    for (size_t sync : begun) visit(sync);
    while (!queue.empty()) {
      size_t sync = queue.back();
      queue.pop_back();
      for (size_t kind : flow_.invokes[sync]) {
        bool beside = !flow_.answers[sync].empty() || std::ranges::any_of(flow_.invokes[sync], [&](size_t each) {
          return each != kind && good_.has(each);
        });
        if (!beside) main_.add(kind);
        if ((beside && !good_.has(kind)) || !onward_.add(kind)) continue;
        for (size_t v = 0; v < flow_.action(kind).variants.size(); ++v) {
          for (size_t next : flow_.matched[flow_.first[kind] + v]) visit(next);
        }
      }
    }
  }

  // Kinds from which nothing leads to an answer, in parts that lead to one another.
  void judge_rings(size_t request, Missing& found) {
    std::vector<size_t> kinds;
    std::unordered_map<size_t, uint32_t> node;
    for (size_t kind : judged_.kinds) {
      if (good_.has(kind) || !main_.has(kind)) continue;
      node[kind] = static_cast<uint32_t>(kinds.size());
      kinds.push_back(kind);
    }
    Graph graph(kinds.size());
    for (size_t i = 0; i < kinds.size(); ++i) {
      for (size_t v = 0; v < flow_.action(kinds[i]).variants.size(); ++v) {
        for (size_t sync : flow_.matched[flow_.first[kinds[i]] + v]) {
          if (!judged_.seen.has(sync)) continue;
          for (size_t next : flow_.invokes[sync]) {
            if (auto to = node.find(next); to != node.end()) graph[i].push_back(to->second);
          }
        }
      }
    }
    Parts parts = parts_of(graph, std::vector<bool>(graph.size()));
    std::vector<std::vector<uint32_t>> members(parts.count);
    for (uint32_t i = 0; i < graph.size(); ++i) members[parts.of[i]].push_back(i);
    std::vector<bool> told(parts.count);
    // Edges lead to parts with smaller numbers, so those are known already.
    for (size_t part = 0; part < parts.count; ++part) {
      bool ring = members[part].size() > 1;
      for (uint32_t i : members[part]) {
        told[part] = told[part] || found.contains(kinds[i]);
        for (uint32_t to : graph[i]) {
          told[part] = told[part] || told[parts.of[to]];
          ring = ring || to == i;
        }
      }
      if (told[part] || (ring && is_answered_from_state(request))) {
        told[part] = true;
        continue;
      }
      for (uint32_t i : members[part]) {
        for (size_t v = 0; v < flow_.action(kinds[i]).variants.size(); ++v) {
          if (starts_more(kinds[i], v)) found[kinds[i]].insert(v);
        }
        told[part] = found.contains(kinds[i]);
        if (told[part]) break;
      }
    }
  }

  // By a request that no pattern of the sync has named.
  bool is_answered_from_state(size_t request) const {
    return std::ranges::any_of(answering_[request], [&](size_t sync) {
      const Sync& rule = flow_.tree(sync);
      return std::ranges::any_of(rule.then, [&](const Effect& effect) {
        return effect.request && std::ranges::none_of(rule.when, [&](const Pattern& pattern) {
                 return pattern.as && pattern.as->text == effect.request->text;
               });
      });
    });
  }

  FlowIndex::Start first_start(size_t kind) const {
    auto on_the_way = [&](const FlowIndex::Start& start) { return judged_.seen.has(start.sync); };
    return *std::ranges::find_if(flow_.started[kind], on_the_way);
  }

  struct Found {
    size_t request;   // the first
    size_t requests;  // how many there are
    FlowIndex::Start start;
  };

  const FlowIndex& flow_;
  Report& report_;
  Requests requests_;
  Beneath all_, judged_;
  Marks leads_;                                 // syncs
  Marks good_;                                  // kinds
  Marks within_;                                // kinds beneath which the answer is given
  Marks onward_, main_;                         // kinds, and
  Marks walked_;                                // syncs, of find_main
  std::vector<std::vector<size_t>> answering_;  // by action: the syncs that answer it
  std::map<std::pair<size_t, std::set<size_t>>, Found> found_;
  std::vector<bool> told_;  // by outcome
};

}  // namespace

std::vector<bool> check_answers(const FlowIndex& flow, Report& report) { return Answers(flow, report).tell(); }

}  // namespace sluice::lang
