// Cycles in the graph of syncs: S leads to T when S starts an action that T matches, or answers one whose outcome T
// matches. Literals are compared, so a sync that starts `runtimeType: "local"` does not lead to one that matches
// `runtimeType: "k8s"`.
//
// What an answered action leads to at once is its request; its completions follow from the answer. A pure action leads
// to its completions. Both happen in one cascade. An effect's completion comes from outside: a cycle through one, or
// through Timer/wait, ends a cascade at every turn and is only worth knowing. So does the answer to a request that was
// read from state: that one waits in a flow of its own.
//
// What starts one action with the same literals, and what matches it with the same, stand together: S → the records it
// makes → those who wait for such records → T. So the graph has as many edges as the rules have lines, and not the
// pairs of them. Literals are compared between the two sorts of nodes (lang/check/check_literals.h); where that would
// take more than kMaxComparisons, records of one action are taken to agree.
//
// The strongly connected parts of that graph (lang/check/graph.h) give their cycles: the shortest through their first
// sync, then the shortest through the first that is on none of those, and so on, kMaxOfPart in all.
#include <algorithm>
#include <deque>

#include "lang/check/check_literals.h"
#include "lang/check/check_parts.h"
#include "lang/check/graph.h"

namespace sluice::lang {
namespace {

constexpr size_t kMaxComparisons = 4'000'000;
constexpr size_t kMaxOfPart = 20;

// What happens to an action: it is asked for or, if a variant is named, ends so by an answer.
using Event = std::pair<ActionRef, std::optional<size_t>>;

struct SyncGraph {
  Graph all, inside;  // inside: without the edges that end a cascade
  // For each node that stands for records: the action. For others nothing.
  std::vector<std::optional<ActionRef>> action;
  std::vector<bool> outside;  // for each such node: whether these records come from outside
};

class GraphOfSyncs {
 public:
  GraphOfSyncs(const Kit& kit, const Symbols& symbols, const std::vector<SyncSymbol>& syncs)
      : kit_(kit), symbols_(symbols), syncs_(syncs) {
    graph_.all.resize(syncs.size());
    for (uint32_t s = 0; s < syncs.size(); ++s) {
      wait(s);
      start(s);
    }
  }

  SyncGraph make() {
    size_t left = kMaxComparisons;
    for (const auto& [event, records] : started_) {
      if (auto waiting = waiting_.find(event); waiting != waiting_.end()) connect(records, waiting->second, left);
    }
    graph_.action.resize(graph_.all.size());
    graph_.outside.resize(graph_.all.size());
    graph_.inside = graph_.all;
    for (size_t node = 0; node < graph_.all.size(); ++node) {
      if (graph_.outside[node]) graph_.inside[node].clear();
    }
    return std::move(graph_);
  }

 private:
  using Nodes = std::map<Literals, uint32_t>;
  using Started = std::map<std::pair<Literals, bool>, uint32_t>;

  uint32_t node() {
    graph_.all.emplace_back();
    return static_cast<uint32_t>(graph_.all.size() - 1);
  }

  void wait(uint32_t s) {
    const Sync& sync = kit_.syncs[syncs_[s].sync].tree;
    for (size_t p = 0; p < sync.when.size(); ++p) {
      auto ref = syncs_[s].when[p].ref();
      const Pattern& pattern = sync.when[p];
      if (pattern.link != Pattern::Link::plain) continue;
      Literals input = literals_of(pattern.input), output = literals_of(pattern.output);
      if (!ref) {
        wait_open(s, syncs_[s].when[p], input, output);
        continue;
      }
      // A request is what an answered action leads to at once, a completion what any other does.
      bool requested = pattern.outcome == Pattern::Outcome::requested;
      if (requested == symbols_.action(*ref).is_answered()) wait(s, {*ref, std::nullopt}, input);
      if (!symbols_.action(*ref).is_answered()) continue;
      for (size_t variant : syncs_[s].when[p].variants) wait(s, {*ref, variant}, output);
    }
  }

  // A pattern that leaves open what it takes. One that leaves even the concept open does not hear those that its own
  // sync starts.
  void wait_open(uint32_t s, const PatternSymbol& pattern, const Literals& input, const Literals& output) {
    std::set<size_t> own;
    for (const auto& targets : syncs_[s].then) {
      for (const TargetSymbol& target : targets) own.insert(target.action.concept_);
    }
    for (const auto& [action, variant] : pattern.open) {
      if (!pattern.concept_ && own.contains(action.concept_)) continue;
      bool by_answer = variant && symbols_.action(action).is_answered();
      wait(s, {action, by_answer ? variant : std::nullopt}, by_answer ? output : input);
    }
  }

  void wait(uint32_t s, const Event& event, const Literals& literals) {
    auto [place, fresh] = waiting_[event].try_emplace(literals, 0);
    if (fresh) place->second = node();
    std::vector<uint32_t>& to = graph_.all[place->second];
    if (to.empty() || to.back() != s) to.push_back(s);
  }

  void start(uint32_t s) {
    const Sync& sync = kit_.syncs[syncs_[s].sync].tree;
    for (size_t e = 0; e < sync.then.size(); ++e) {
      Literals literals = literals_of(sync.then[e].arguments);
      bool answers = sync.then[e].kind == Effect::Kind::answer;
      for (const TargetSymbol& target : syncs_[s].then[e]) {
        Event event{target.action, answers ? std::optional(target.variant) : std::nullopt};
        // A request that was read from state waits in a flow of its own.
        bool outside = symbols_.action(target.action).runs == Runs::effect || (answers && syncs_[s].then[e].size() > 1);
        auto [place, fresh] = started_[event].try_emplace({literals, outside}, 0);
        if (fresh) {
          place->second = node();
          graph_.action.resize(graph_.all.size());
          graph_.outside.resize(graph_.all.size());
          graph_.action.back() = target.action;
          graph_.outside.back() = outside;
        }
        graph_.all[s].push_back(place->second);
      }
    }
  }

  void connect(const Started& records, const Nodes& waiting, size_t& left) {
    std::vector<const Literals*> given, wanted;
    std::vector<uint32_t> from, to;
    for (const auto& [key, node] : records) {
      given.push_back(&key.first);
      from.push_back(node);
    }
    for (const auto& [literals, node] : waiting) {
      wanted.push_back(&literals);
      to.push_back(node);
    }
    if (auto pairs = agreeing(given, wanted, left)) {
      for (size_t g = 0; g < from.size(); ++g) {
        for (uint32_t w : (*pairs)[g]) graph_.all[from[g]].push_back(to[w]);
      }
      return;
    }
    uint32_t hub = node();
    for (uint32_t each : from) graph_.all[each].push_back(hub);
    graph_.all[hub] = to;
  }

  const Kit& kit_;
  const Symbols& symbols_;
  const std::vector<SyncSymbol>& syncs_;
  SyncGraph graph_;
  std::map<Event, Started> started_;
  std::map<Event, Nodes> waiting_;
};

// The shortest way from a sync back to itself inside its part.
Cycle way_round(const SyncGraph& graph, bool all, const Parts& parts, uint32_t start,
                const std::vector<SyncSymbol>& syncs) {
  const Graph& edges = all ? graph.all : graph.inside;
  std::unordered_map<uint32_t, uint32_t> from;
  std::deque<uint32_t> queue = {start};
  while (!queue.empty() && !from.contains(start)) {
    uint32_t node = queue.front();
    queue.pop_front();
    for (uint32_t to : edges[node]) {
      if (parts.of[to] == parts.of[start] && from.try_emplace(to, node).second) queue.push_back(to);
    }
  }
  Cycle cycle;
  if (!from.contains(start)) return cycle;
  std::optional<ActionRef> action;
  uint32_t node = start;
  do {
    node = from[node];
    if (graph.action[node]) action = graph.action[node];
    cycle.outside = cycle.outside || graph.outside[node];
    if (node < syncs.size()) cycle.turns.push_back({syncs[node].sync, *action});
  } while (node != start);
  std::ranges::reverse(cycle.turns);
  return cycle;
}

}  // namespace

std::vector<Cycle> find_cycles(const Kit& kit, const Symbols& symbols, const std::vector<SyncSymbol>& syncs,
                               size_t& unlisted) {
  SyncGraph graph = GraphOfSyncs(kit, symbols, syncs).make();
  std::vector<Cycle> found;
  auto gather = [&](const std::vector<bool>& skip, bool all) {
    Parts parts = parts_of(all ? graph.all : graph.inside, skip);
    std::vector<size_t> tried(parts.count);
    std::vector<bool> on_one(kit.syncs.size());
    for (uint32_t node = 0; node < syncs.size(); ++node) {
      if (skip[node] || on_one[syncs[node].sync]) continue;
      if (tried[parts.of[node]] == kMaxOfPart) {
        unlisted += all ? 0 : 1;
        continue;
      }
      Cycle cycle = way_round(graph, all, parts, node, syncs);
      if (cycle.turns.empty()) continue;
      ++tried[parts.of[node]];
      for (const Cycle::Turn& turn : cycle.turns) on_one[turn.sync] = true;
      for (const Cycle::Turn& turn : cycle.turns) cycle.loop = cycle.loop || kit.syncs[turn.sync].tree.loop;
      found.push_back(std::move(cycle));
    }
  };
  // First the endless cascades: no [loop], nothing from outside. Then the parts of the whole graph, where they differ.
  std::vector<bool> looped(graph.all.size());
  for (size_t i = 0; i < syncs.size(); ++i) looped[i] = kit.syncs[syncs[i].sync].tree.loop;
  gather(looped, false);
  size_t endless = found.size();
  gather(std::vector<bool>(graph.all.size()), true);
  std::vector<Cycle> kept(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(endless));
  for (size_t i = endless; i < found.size(); ++i) {
    if (found[i].outside || found[i].loop) kept.push_back(found[i]);
  }
  return kept;
}

std::string to_string(const Cycle& cycle, const Kit& kit, const Symbols& symbols) {
  std::string text;
  for (const Cycle::Turn& turn : cycle.turns) {
    text += kit.syncs[turn.sync].tree.name.text + " → " + symbols.name(turn.action) + " → ";
  }
  return cycle.turns.empty() ? text : text + kit.syncs[cycle.turns[0].sync].tree.name.text;
}

}  // namespace sluice::lang
