// Two questions about the kit as a whole, each a walk from what is false at first; then one about a sync in its place.
#include "lang/check/check_beneath.h"

#include <algorithm>

namespace sluice::lang {

Requests::Requests(const FlowIndex& flow)
    : flow_(flow),
      reversals_(flow.kinds.actions.size()),
      starters_(flow.kinds.actions.size()),
      where_(flow.syncs.size()),
      there_(flow.kinds.actions.size()),
      tied_(flow.kinds.actions.size()) {
  for (size_t action = 0; action < flow.kinds.actions.size(); ++action) {
    if (const auto& reversal = flow.action(action).reversal) {
      reversals_[flow.number({flow.ref(action).concept_, reversal->action})] = true;
    }
  }
  for (size_t s = 0; s < flow.syncs.size(); ++s) {
    for (size_t kind : flow.invokes[s]) starters_[flow.kinds.all[kind].action].push_back(s);
    if (flow.tree(s).eventual) continue;
    for (size_t p = 0; p < flow.syncs[s].when.size(); ++p) {
      const Pattern& pattern = flow.tree(s).when[p];
      auto ref = flow.syncs[s].when[p].ref();
      bool requested = pattern.outcome == Pattern::Outcome::requested;
      if (pattern.link != Pattern::Link::plain && !requested) continue;
      if (requested && ref) tied_[flow.number(*ref)].push_back(s);
      std::vector<size_t> any;
      for (ActionRef each : flow.syncs[s].when[p].bound()) any.push_back(flow.number(each));
      if (any.empty() || std::ranges::find(where_[s], any) != where_[s].end()) continue;
      for (size_t action : any) there_[action].push_back({s, where_[s].size()});
      where_[s].push_back(std::move(any));
    }
  }
}

const std::vector<bool>& Requests::beneath(size_t above) {
  auto [place, fresh] = beneath_.try_emplace(above);
  if (!fresh) return place->second;
  // All that syncs start is beneath it, but for what is started where it need not be.
  std::vector<bool>& found = place->second;
  found.assign(flow_.kinds.actions.size(), true);
  std::vector<size_t> left(flow_.syncs.size()), queue;
  std::vector<std::vector<bool>> met(flow_.syncs.size());
  std::vector<bool> tied(flow_.syncs.size());
  for (size_t sync : tied_[above]) tied[sync] = true;
  auto elsewhere = [&](size_t action) {
    if (!found[action]) return;
    found[action] = false;
    queue.push_back(action);
  };
  for (size_t s = 0; s < left.size(); ++s) {
    left[s] = where_[s].size();
    met[s].resize(where_[s].size());
    if (left[s] > 0 || tied[s]) continue;
    for (size_t kind : flow_.invokes[s]) elsewhere(flow_.kinds.all[kind].action);
  }
  for (size_t action = 0; action < found.size(); ++action) {
    if (starters_[action].empty()) elsewhere(action);
  }
  while (!queue.empty()) {
    size_t action = queue.back();
    queue.pop_back();
    for (const auto& [sync, pattern] : there_[action]) {
      if (met[sync][pattern]) continue;
      met[sync][pattern] = true;
      if (--left[sync] > 0 || tied[sync]) continue;
      for (size_t kind : flow_.invokes[sync]) elsewhere(flow_.kinds.all[kind].action);
    }
  }
  return found;
}

bool Requests::always_beneath(size_t action, size_t above) { return beneath(above)[action]; }

// The actions from which syncs lead to the request.
const std::vector<bool>& Requests::before(size_t request) {
  auto [place, fresh] = before_.try_emplace(request);
  if (!fresh) return place->second;
  std::vector<bool>& found = place->second;
  found.resize(flow_.kinds.actions.size());
  std::vector<size_t> queue = {request};
  while (!queue.empty()) {
    size_t action = queue.back();
    queue.pop_back();
    for (size_t sync : starters_[action]) {
      for (size_t p = 0; p < flow_.syncs[sync].when.size(); ++p) {
        if (flow_.tree(sync).when[p].link != Pattern::Link::plain) continue;
        auto add = [&](ActionRef ref) {
          size_t from = flow_.number(ref);
          if (!found[from]) queue.push_back(from);
          found[from] = true;
        };
        if (auto ref = flow_.syncs[sync].when[p].ref()) add(*ref);
        for (const auto& [ref, variant] : flow_.syncs[sync].when[p].open) add(ref);
      }
    }
  }
  return found;
}

bool Requests::has_records(size_t sync, size_t request) {
  for (size_t p = 0; p < flow_.tree(sync).when.size(); ++p) {
    bool cause = flow_.tree(sync).when[p].link == Pattern::Link::caused_by;
    if (!cause && !can_be_there(sync, p, request)) return false;
  }
  return true;
}

bool Requests::can_be_there(size_t sync, size_t pattern, size_t request) {
  auto ref = flow_.syncs[sync].when[pattern].ref();
  if (!ref) return true;
  size_t action = flow_.number(*ref);
  if (action == request || reversals_[action]) return true;
  bool started =
      std::ranges::any_of(flow_.kinds.taken(sync, pattern), [&](size_t kind) { return !flow_.started[kind].empty(); });
  return started || before(request)[action];
}

void Beneath::clear() {
  kinds.clear();
  syncs.clear();
  kind.clear();
  seen.clear();
  for (auto& each : held_) each.clear();
}

bool Beneath::may_fire(const From& from, size_t sync) {
  if (!requests_.has_records(sync, from.request)) return false;
  const Sync& rule = flow_.tree(sync);
  std::optional<ActionRef> above;
  for (size_t p = 0; p < rule.when.size(); ++p) {
    auto ref = flow_.syncs[sync].when[p].ref();
    if (rule.when[p].link == Pattern::Link::plain) above = ref;
    if (rule.when[p].link != Pattern::Link::caused_by) continue;
    if (rule.when[p].outcome != Pattern::Outcome::requested) continue;
    // Of an alternation each may be the one.
    std::vector<ActionRef> any = ref ? std::vector{*ref} : flow_.syncs[sync].when[p].bound();
    if (any.empty() || (above && std::ranges::find(any, *above) != any.end())) continue;  // or its own opening
    bool there = std::ranges::any_of(any, [&](ActionRef each) {
      size_t needed = flow_.number(each);
      if (needed != from.request) return requests_.always_beneath(from.request, needed);
      return !ref || agree(from.known, flow_.kinds.all[flow_.kinds.meant(sync, p)].given);
    });
    there = there || (from.nested &&
                      std::ranges::any_of(flow_.kinds.taken(sync, p), [&](size_t made) { return kind.has(made); }));
    if (there) continue;
    for (ActionRef each : any) {
      if (from.nested) held_[flow_.number(each)].push_back(sync);
    }
    return false;
  }
  return true;
}

}  // namespace sluice::lang
