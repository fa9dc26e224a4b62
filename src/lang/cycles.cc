// Cycles in the graph of syncs: S leads to T when S starts an action that T matches, or answers one whose outcome T
// matches. Literals are compared, so a sync that starts `runtimeType: "local"` does not lead to one that matches
// `runtimeType: "k8s"`.
//
// What an answered action leads to at once is its request; its completions follow from the answer. A pure action leads
// to its completions. Both happen in one cascade. An effect's completion comes from outside: a cycle through one, or
// through Timer/wait, ends a cascade at every turn and is only worth knowing. So does the answer to a request that was
// read from state: that one waits in a flow of its own.
//
// Tarjan's algorithm, without recursion, finds the strongly connected parts; a breadth-first search inside each gives
// its shortest cycle through its first sync. Costs the number of edges.
#include <algorithm>
#include <deque>
#include <limits>

#include "lang/check_parts.h"

namespace sluice::lang {
namespace {

struct Edge {
  size_t to;
  ActionRef action;
  bool outside;
};

struct Matched {
  size_t sync;  // in the list of checked syncs
  size_t pattern;
};

bool literals_agree(const std::vector<Argument>& given, const std::vector<FieldPattern>& wanted) {
  for (const FieldPattern& field : wanted) {
    if (field.match.op != Expr::Op::literal) continue;
    for (const Argument& argument : given) {
      if (argument.name != field.field || argument.value.op != Expr::Op::literal) continue;
      if (argument.value.value != field.match.value) return false;
    }
  }
  return true;
}

std::vector<std::vector<Edge>> edges(const Kit& kit, const Symbols& symbols, const std::vector<SyncSymbol>& syncs) {
  std::map<ActionRef, std::vector<Matched>> matched;
  for (size_t s = 0; s < syncs.size(); ++s) {
    const Sync& sync = kit.syncs[syncs[s].sync].tree;
    for (size_t p = 0; p < sync.when.size(); ++p) {
      auto ref = syncs[s].when[p].ref();
      if (ref && sync.when[p].link == Pattern::Link::plain) matched[*ref].push_back({s, p});
    }
  }
  std::vector<std::vector<Edge>> out(syncs.size());
  for (size_t s = 0; s < syncs.size(); ++s) {
    const Sync& sync = kit.syncs[syncs[s].sync].tree;
    for (size_t e = 0; e < sync.then.size(); ++e) {
      const Effect& effect = sync.then[e];
      bool answers = effect.kind == Effect::Kind::answer;
      for (const TargetSymbol& target : syncs[s].then[e]) {
        auto found = matched.find(target.action);
        if (found == matched.end()) continue;
        const ActionSymbol& action = symbols.action(target.action);
        for (const Matched& match : found->second) {
          const Pattern& pattern = kit.syncs[syncs[match.sync].sync].tree.when[match.pattern];
          const PatternSymbol& symbol = syncs[match.sync].when[match.pattern];
          bool requested = pattern.outcome == Pattern::Outcome::requested;
          if (action.is_answered() && requested == answers) continue;
          if (answers) {
            bool same = std::ranges::find(symbol.variants, target.variant) != symbol.variants.end();
            if (!same || !literals_agree(effect.arguments, pattern.output)) continue;
          } else if (!literals_agree(effect.arguments, pattern.input)) {
            continue;
          }
          bool from_state = answers && syncs[s].then[e].size() > 1;
          out[s].push_back({match.sync, target.action, action.runs == Runs::effect || from_state});
        }
      }
    }
  }
  return out;
}

// The strongly connected part of each node, by number; parts without a cycle are numbered too.
std::vector<size_t> components(const std::vector<std::vector<Edge>>& graph, const std::vector<bool>& skip, bool all) {
  constexpr size_t kNone = std::numeric_limits<size_t>::max();
  std::vector<size_t> index(graph.size(), kNone), low(graph.size()), part(graph.size(), kNone);
  std::vector<bool> on_stack(graph.size());
  std::vector<size_t> stack;
  struct Frame {
    size_t node, next;
  };
  size_t count = 0, parts = 0;
  for (size_t start = 0; start < graph.size(); ++start) {
    if (index[start] != kNone || skip[start]) continue;
    std::vector<Frame> frames = {{start, 0}};
    while (!frames.empty()) {
      auto& [node, next] = frames.back();
      if (next == 0) {
        index[node] = low[node] = count++;
        stack.push_back(node);
        on_stack[node] = true;
      }
      bool deeper = false;
      while (next < graph[node].size()) {
        const Edge& edge = graph[node][next++];
        if (skip[edge.to] || (!all && edge.outside)) continue;
        if (index[edge.to] == kNone) {
          frames.push_back({edge.to, 0});
          deeper = true;
          break;
        }
        if (on_stack[edge.to]) low[node] = std::min(low[node], index[edge.to]);
      }
      if (deeper) continue;
      size_t done = node;
      if (low[done] == index[done]) {
        size_t top;
        do {
          top = stack.back();
          stack.pop_back();
          on_stack[top] = false;
          part[top] = parts;
        } while (top != done);
        ++parts;
      }
      frames.pop_back();
      if (!frames.empty()) low[frames.back().node] = std::min(low[frames.back().node], low[done]);
    }
  }
  return part;
}

// The shortest way from a node back to itself inside its part.
std::vector<Cycle::Turn> way_round(const std::vector<std::vector<Edge>>& graph, const std::vector<size_t>& part,
                                   size_t start, bool all, const std::vector<SyncSymbol>& syncs, bool& outside) {
  struct Step {
    size_t from;
    const Edge* edge;
  };
  std::map<size_t, Step> reached;
  std::deque<size_t> queue = {start};
  while (!queue.empty() && !reached.contains(start)) {
    size_t node = queue.front();
    queue.pop_front();
    for (const Edge& edge : graph[node]) {
      if (part[edge.to] != part[start] || (!all && edge.outside) || reached.contains(edge.to)) continue;
      reached[edge.to] = {node, &edge};
      queue.push_back(edge.to);
    }
  }
  std::vector<Cycle::Turn> turns;
  if (!reached.contains(start)) return turns;
  size_t node = start;
  do {
    const Step& step = reached[node];
    turns.push_back({syncs[step.from].sync, step.edge->action});
    outside = outside || step.edge->outside;
    node = step.from;
  } while (node != start);
  std::ranges::reverse(turns);
  return turns;
}

}  // namespace

std::vector<Cycle> find_cycles(const Kit& kit, const Symbols& symbols, const std::vector<SyncSymbol>& syncs) {
  auto graph = edges(kit, symbols, syncs);
  std::vector<Cycle> found;
  auto gather = [&](const std::vector<bool>& skip, bool all) {
    auto part = components(graph, skip, all);
    std::vector<bool> seen(graph.size());
    for (size_t node = 0; node < graph.size(); ++node) {
      if (skip[node] || seen[part[node]]) continue;
      Cycle cycle;
      cycle.turns = way_round(graph, part, node, all, syncs, cycle.outside);
      if (cycle.turns.empty()) continue;
      seen[part[node]] = true;
      for (const Cycle::Turn& turn : cycle.turns) cycle.loop = cycle.loop || kit.syncs[turn.sync].tree.loop;
      found.push_back(std::move(cycle));
    }
  };
  // First the endless cascades: no [loop], nothing from outside. Then the parts of the whole graph, where they differ.
  std::vector<bool> looped(graph.size());
  for (size_t i = 0; i < syncs.size(); ++i) looped[i] = kit.syncs[syncs[i].sync].tree.loop;
  gather(looped, false);
  size_t endless = found.size();
  gather(std::vector<bool>(graph.size()), true);
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
