// A zip on two keys: the link's name and the tuple (scope, target, initiator). All of it is linear but for the sets.
#include "mesh/join.h"

#include <boost/json.hpp>
#include <map>
#include <set>
#include <tuple>

#include "base/json_text.h"

namespace sluice::mesh {
namespace {

using Tuple = std::tuple<Scope, std::string_view, std::string_view>;

void expand(Scope scope, const std::optional<std::vector<Acl>>& list, std::set<Tuple>& into) {
  if (!list) return;
  for (const Acl& acl : *list) {
    for (const SpiffeId& initiator : acl.allow) into.emplace(scope, acl.target, initiator);
  }
}

std::string at(const LinkLabel& side) { return std::string(side.link) + "/" + std::to_string(side.label); }

}  // namespace

std::vector<JoinRule> judge_join(const Vertex& mgmt, uint64_t mgmt_version, const Ctrl& ctrl, uint64_t obeys) {
  std::vector<JoinRule> rules = {{.rule = 1, .demands = "every active link is one of the operator's links"},
                                 {.rule = 2, .demands = "every label is of an active link"},
                                 {.rule = 3, .demands = "every binding is of a pair that the operator allows"},
                                 {.rule = 4, .demands = "every label that comes in on a link means one thing"},
                                 {.rule = 5, .demands = "ctrl has seen the mgmt version that is held"}};
  const auto breach = [&](size_t rule, std::string what) {
    rules[rule - 1].holds = false;
    rules[rule - 1].breaches.push_back(std::move(what));
  };
  std::set<std::string_view> links;
  for (const LinkRule& rule : mgmt.links) {
    for (const Link& link : rule.members) links.insert(link.name);
  }
  std::set<std::string_view> active;
  for (const Name& link : ctrl.active_links) {
    active.insert(link);
    if (!links.contains(link)) breach(1, "the operator has no link " + json_quoted(link));
  }
  std::map<LinkLabel, std::string> incoming;
  const auto take = [&](const LinkLabel& side, const std::string& user, bool in) {
    if (!active.contains(side.link))
      breach(2, user + " uses the link " + json_quoted(side.link) + ", which is not active");
    if (!in) return;  // labels that go out live in the neighbour's space
    auto [first, added] = incoming.emplace(side, user);
    if (!added)
      breach(4, "label " + std::to_string(side.label) + " of link " + json_quoted(side.link) + " is that of " +
                    first->second + " and of " + user);
  };
  std::set<Tuple> allowed;
  expand(Scope::ingress, mgmt.ingress, allowed);
  expand(Scope::egress, mgmt.egress, allowed);
  for (const LabelBinding& binding : ctrl.label_bindings) {
    const std::string flow = std::string(binding.scope == Scope::ingress ? "ingress " : "egress ") + binding.initiator +
                             " → " + binding.target;
    if (!allowed.contains({binding.scope, binding.target, binding.initiator}))
      breach(3, "the operator does not allow " + flow);
    if (binding.in) take(*binding.in, flow, true);
    if (binding.out) take(*binding.out, flow, false);
  }
  for (const ForwardingRow& row : ctrl.forwarding_table) {
    const std::string user = "the row " + at(row.in) + " → " + at(row.out);
    take(row.in, user, true);
    take(row.out, user, false);
  }
  if (obeys < mgmt_version) {
    breach(5, "ctrl obeys mgmt version " + std::to_string(obeys) + ", and version " + std::to_string(mgmt_version) +
                  " is held");
  }
  return rules;
}

Result<void> check_join(const Artifact& mgmt, const Artifact& ctrl) {
  const Vertex* vertex = std::get_if<Vertex>(&mgmt.payload);
  const Ctrl* chosen = std::get_if<Ctrl>(&ctrl.payload);
  if (vertex == nullptr || chosen == nullptr) {
    return Error{.code = Code::invalid,
                 .message = "a join takes the mgmt artifact of a vertex, then its ctrl artifact"};
  }
  if (mgmt.envelope.node != ctrl.envelope.node || mgmt.envelope.name != ctrl.envelope.name) {
    return Error{.code = Code::invalid,
                 .message = mgmt.identity() + " and " + ctrl.identity() + " are not of one vertex"};
  }
  if (vertex->kind != VertexKind::mesh)
    return Error{.code = Code::invalid, .message = mgmt.identity() + " is a link vertex, which has no ctrl artifact"};
  for (const JoinRule& rule : judge_join(*vertex, mgmt.envelope.version, *chosen, ctrl.obeys())) {
    if (!rule.holds) {
      return Error{.code = Code::gate_rejected,
                   .message = ctrl.identity() + ": rule " + std::to_string(rule.rule) + ": " + rule.breaches.front()};
    }
  }
  return {};
}

}  // namespace sluice::mesh
