// What the handlers of Deployment share: routes as they are kept and compared, and the queue of changes.
//
// A change is an open up, down or rollBack. Changes of one deployment run one at a time, in the order in which they
// were asked for; those of which the bundle is not known yet are waited for, as it may be the same. Rows are kept as
// long as the request is open.
#pragma once

#include <optional>
#include <string>

#include "deploy/routes.h"
#include "deployment.gen.h"

namespace sluice::deploy::deployment {

inline constexpr std::string_view kLocalEnvironment = "local";
inline constexpr std::string_view kLocalCustomer = "local-dev";

// Whether this can be the name of a bundle or a customer.
bool is_object_name(const std::string& text);

RouteBinding binding_of(const DeploymentRoute& route);
DeploymentRoute route_of(const RouteBinding& binding);

// Another deployment of the environment that shares a route with this binding.
struct Clash {
  DeploymentId with;
  std::string message;
};
std::optional<Clash> clash_of(const State& state, const std::string& environment, const RouteBinding& binding,
                              const DeploymentId& self);

template <class Outcome>
std::string reason_of(const Outcome& outcome) {
  const auto* end = get_if<lang::EngineEnd>(&outcome);
  return end != nullptr ? end->message : "";
}

// Of a change that has come to nothing: its deployment has the routes, and the number of replicas, again that it had
// before.
void give_routes_back(State& state, const DeploymentCRecord& change);

// What an up and a serve say of what was there before them.
std::vector<DeploymentBeforeItem> before_of(const State& state, const DeploymentCFound& change);
std::optional<DeploymentRouteBefore> route_before_of(const DeploymentCRecord& change);

// ---- what is stored

// The name under which programs of the deployment keep what they store.
std::string storage_of(const DeploymentId& id, const DeploymentRecord& record);
// The name for a new deployment: that of what an earlier one of the same environment, bundle and customer has left,
// which is not kept for others any more, or one of its own.
std::string take_data(State& state, const DeploymentId& id, const DeploymentRecord& record);
// Keeps what a deployment that goes has stored for the next one.
void leave_data(State& state, const DeploymentId& id, const DeploymentRecord& record);

// ---- the queue

// What a change of this deployment is of.
DeploymentTarget target_of(const DeploymentRecord& record);

// The change that this request is open for.
std::optional<DeploymentCFound> change_of(const State& state, const lang::Request& ask);
// Puts it last, and says under which id.
DeploymentCId enqueue(State& state, DeploymentCRecord change);
// Of a request that has ended: the change goes, those that wait for its turn come next, and those that joined it hear
// how it ended.
void dequeue(State& state, const DeploymentCFound& change, const std::string& outcome);
// Lets the changes run that nothing is before any more.
void release(State& state);

}  // namespace sluice::deploy::deployment
