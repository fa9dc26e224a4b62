// Routes are compared as sets: their order means nothing.
#include "cli/up_deployment.h"

#include <algorithm>
#include <boost/json.hpp>

namespace sluice::cli {
namespace {

constexpr std::string_view kUpEnvironment = "local";

struct Routes {
  std::vector<std::string> hosts;  // empty: any
  std::vector<std::string> prefixes;
};

Routes routes_of(const bundle::Manifest& manifest) {
  Routes routes;
  bool any_host = false;
  auto add = [](std::vector<std::string>& to, const std::string& text) {
    if (std::ranges::find(to, text) == to.end()) to.push_back(text);
  };
  for (const bundle::Route& route : manifest.routes) {
    any_host = any_host || !route.host;
    if (route.host) add(routes.hosts, route.host->text);
    add(routes.prefixes, route.path.text);
  }
  if (any_host) routes.hosts.clear();
  if (routes.prefixes.empty()) routes.prefixes = {"/"};
  return routes;
}

json::object add_input(const bundle::Manifest& manifest, const std::string& customer) {
  const Routes routes = routes_of(manifest);
  return {{"environment", kUpEnvironment},
          {"bundle", manifest.name.text},
          {"customer", customer},
          {"hosts", json::value_from(routes.hosts)},
          {"pathPrefixes", json::value_from(routes.prefixes)},
          {"tenant", ""},
          {"team", ""},
          {"parties", json::array()}};
}

json::object update_input(const bundle::Manifest& manifest, const deploy::deployment::DeploymentFound& deployment) {
  const Routes wanted = routes_of(manifest);
  return {{"deployment", deployment.id.text()},
          {"hosts", json::value_from(wanted.hosts)},
          {"pathPrefixes", json::value_from(wanted.prefixes)}};
}

Result<void> refused_routes(const Result<Answer>& answer, const std::string& what) {
  if (!answer) return answer.error();
  if (answer->code == Code::ok) return {};
  Error refused = refusal_in_words(*answer);
  refused.message = what + refused.message;
  return refused;
}

}  // namespace

Result<deploy::deployment::DeploymentFound> deployment_for(Objects& objects, const bundle::Manifest& manifest,
                                                           const std::string& customer) {
  const std::string& name = manifest.name.text;
  for (const auto& each : objects.states().deployment().find_by_environment(std::string(kUpEnvironment))) {
    if (each.record.bundle != name || (!customer.empty() && each.record.customer != customer)) continue;
    if (each.record.status != deploy::deployment::DeploymentStatus::active) {
      return Error{.code = Code::conflict,
                   .message = name + " (" + each.id.text() + ") is not active",
                   .next = "sluice bundles update local --deployment " + each.id.text() + " --status active"};
    }
    return each;
  }
  json::object input = add_input(manifest, customer);
  auto answer = objects.change("Deployment/add", input, "add");
  if (answer && answer->variant == "ambiguous" && manifest.routes.empty()) {
    input["hosts"] = json::array{name + ".localhost"};
    answer = objects.change("Deployment/add", input, "add-host");
  }
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(*answer);
  const deploy::deployment::DeploymentId id(answer->text("deployment"));
  auto record = objects.states().deployment().get(id);
  if (!record) return Error{.message = "the deployment " + id.text() + " was removed meanwhile"};
  return deploy::deployment::DeploymentFound{id, *record};
}

bool wants_other_routes(const bundle::Manifest& manifest, const deploy::deployment::DeploymentFound& deployment) {
  if (manifest.routes.empty()) return false;
  auto differ = [](std::vector<std::string> one, std::vector<std::string> other) {
    std::ranges::sort(one);
    std::ranges::sort(other);
    return one != other;
  };
  const Routes wanted = routes_of(manifest);
  return differ(wanted.hosts, deployment.record.route.hosts) ||
         differ(wanted.prefixes, deployment.record.route.pathPrefixes);
}

Result<void> may_have_routes(Objects& objects, const bundle::Manifest& manifest,
                             const deploy::deployment::DeploymentFound& deployment) {
  return refused_routes(objects.would("Deployment/update", update_input(manifest, deployment)),
                        "it cannot have its routes, and everything stays as it was: ");
}

Result<void> give_routes(Objects& objects, const bundle::Manifest& manifest,
                         deploy::deployment::DeploymentFound& deployment) {
  auto answer = objects.change("Deployment/update", update_input(manifest, deployment), "routes");
  if (auto done = refused_routes(answer, "it gets requests by the routes that it had before: "); !done) return done;
  if (auto record = objects.states().deployment().get(deployment.id)) deployment.record = *record;
  return {};
}

}  // namespace sluice::cli
