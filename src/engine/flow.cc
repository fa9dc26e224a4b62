// Keeps the tree of scopes consistent: an invocation is a child of exactly one open request, or at the top.
#include "engine/flow.h"

#include <cassert>

namespace sluice::engine {
namespace {

bool is_idle(Invocation::Phase phase) {
  return phase == Invocation::Phase::waiting || phase == Invocation::Phase::open;
}

}  // namespace

Path::~Path() {
  std::shared_ptr<Path> next = std::move(parent);
  while (next && next.use_count() == 1) next = std::move(next->parent);
}

Invocation& Flow::add(std::unique_ptr<Invocation> invocation) {
  Invocation& added = *invocation;
  (added.beneath == nullptr ? top : added.beneath->children).insert(added.id);
  bool fresh = open.emplace(added.id, std::move(invocation)).second;
  assert(fresh);
  return added;
}

void Flow::set_phase(Invocation& invocation, Invocation::Phase phase) {
  idle += is_idle(phase) ? 1 : 0;
  idle -= is_idle(invocation.phase) ? 1 : 0;
  invocation.phase = phase;
  assert(idle <= open.size());
}

void Flow::remove(Invocation& invocation) {
  std::set<Ulid>& siblings = invocation.beneath == nullptr ? top : invocation.beneath->children;
  for (const Ulid& child : invocation.children) {
    open.at(child)->beneath = invocation.beneath;
    siblings.insert(child);
  }
  bool was_there = siblings.erase(invocation.id) == 1;
  assert(was_there);
  idle -= is_idle(invocation.phase) ? 1 : 0;
  open.erase(invocation.id);
  assert(idle <= open.size());
}

void Flow::fail(const std::string& what) {
  if (failure.empty()) {
    failure = what;
  } else if (failed_too.empty()) {
    failed_too = what;
  }
}

store::FlowStatus Flow::status() const {
  if (!standstill.empty() || (child && child->dead)) return store::FlowStatus::stuck;
  if (!work.empty() || resolved || answers_out > 0 || open.size() > idle || (child && child->due_ms != 0)) {
    return store::FlowStatus::running;
  }
  if (!open.empty()) return store::FlowStatus::waiting;
  return failure.empty() ? store::FlowStatus::settled_ok : store::FlowStatus::settled_failed;
}

}  // namespace sluice::engine
