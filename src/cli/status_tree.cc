// Weights that were asked for come from the split, those that are obeyed from the routers.
#include "cli/status_tree.h"

#include <boost/json.hpp>
#include <map>

#include "base/basis_points.h"
#include "base/terminal.h"
#include "cli/objects.h"
#include "cli/opening.h"
#include "cli/running_instances.h"
#include "deploy/concepts/revision/lifecycle.h"
#include "deploy/views/documents.h"
#include "host/background.h"
#include "local_runtime.gen.h"
#include "router.gen.h"
#include "router/control_client.h"
#include "runtime.gen.h"
#include "traffic.gen.h"

namespace sluice::cli {
namespace {

namespace views = deploy::views;

constexpr int64_t kRouterAnswers_ms = 1'000;

// What the routers say of a revision, together.
struct Obeyed {
  bool known = false;
  int64_t weight_bps = 0;
  int64_t requests = 0;
  int64_t in_flight = 0;
  int64_t websockets = 0;
};

int64_t number_of(const json::value& value) {
  if (value.is_int64()) return value.get_int64();
  return value.is_uint64() ? static_cast<int64_t>(value.get_uint64()) : 0;
}

using ObeyedByRevision = std::map<std::string, Obeyed, std::less<>>;

void add_stats(ObeyedByRevision& obeyed, const json::object& stats) {
  const json::value* deployments = stats.if_contains("deployments");
  if (deployments == nullptr || !deployments->is_array()) return;
  for (const json::value& deployment : deployments->get_array()) {
    for (const json::value& each : deployment.at("revisions").as_array()) {
      Obeyed& one = obeyed[std::string(each.at("id").as_string())];
      one.known = true;
      one.weight_bps = number_of(each.at("weight_bps"));
      one.requests += number_of(each.at("requests"));
      one.in_flight += number_of(each.at("in_flight"));
      one.websockets += number_of(each.at("websockets"));
    }
  }
}

std::string bps(int64_t weight) { return print_basis_points(static_cast<int>(weight)); }

class Drawing {
 public:
  Drawing(Context& context, const views::States& states, const ObeyedByRevision& obeyed)
      : context_(context), states_(states), obeyed_(obeyed) {}

  StatusTree take() { return std::move(tree_); }

  void environment(const std::string& id, const std::vector<host::RunningRouter>& routers) {
    json::array deployments;
    const size_t line = tree_.lines.size();
    tree_.lines.push_back({0, id});
    for (const auto& each : states_.deployment().find_by_environment(id)) {
      if (each.record.status == deploy::deployment::DeploymentStatus::archived) continue;
      deployments.push_back(deployment(each));
    }
    json::array shown;
    std::string text;
    bool any_runs = false;
    for (const auto& member : states_.router().members(deploy::router::RouterId(id)).values()) {
      auto runs = std::ranges::find(routers, member.router, &host::RunningRouter::router);
      const bool up = runs != routers.end();
      any_runs = any_runs || up;
      json::object one{{"name", member.name}, {"running", up}, {"generation", member.acknowledged}};
      json::array listen;
      std::string where;
      if (up) {
        one["pid"] = runs->pid;
        for (const std::string& address : runs->listen) {
          listen.emplace_back(address);
          where += " " + address;
        }
      }
      one["listen"] = std::move(listen);
      shown.push_back(std::move(one));
      text += ", router " + member.name +
              (up ? where + " pid " + std::to_string(runs->pid)
                  : " does not run; next: " + host::command_to_run_router(member.name));
    }
    if (deployments.empty() && !any_runs) {
      tree_.lines.resize(line);
      return;
    }
    tree_.lines[line].text += text.empty() ? ", no router" : text;
    tree_.data.push_back(
        json::object{{"environment", id}, {"routers", std::move(shown)}, {"deployments", std::move(deployments)}});
  }

 private:
  json::object deployment(const deploy::deployment::DeploymentFound& found) {
    const auto& record = found.record;
    const bool paused = record.status == deploy::deployment::DeploymentStatus::paused;
    tree_.lines.push_back(
        {1, record.bundle + " for " + record.customer + " (" + found.id.text() + ")" + (paused ? ", paused" : "")});
    std::map<std::string, int64_t> weights;
    for (const auto& entry : states_.traffic().entries(deploy::traffic::TrafficId(found.id.text())).values()) {
      weights[entry.revision] = entry.weightBps;
    }
    json::array revisions;
    for (const auto& each : views::live_revisions_of(states_, found.id.text())) {
      revisions.push_back(revision(each, weights[each.id.text()]));
    }
    return {{"deployment", found.id.text()},
            {"bundle", record.bundle},
            {"customer", record.customer},
            {"status", paused ? "paused" : "active"},
            {"revisions", std::move(revisions)}};
  }

  json::object revision(const deploy::revision::RevisionFound& found, int64_t asked_bps) {
    const std::string name = found.record.bundle + "@" + std::to_string(found.record.sequence);
    const std::string lifecycle(deploy::revision::name_of(found.record.lifecycle));
    auto known = obeyed_.find(found.id.text());
    const Obeyed obeyed = known != obeyed_.end() ? known->second : Obeyed();
    std::string text = name + " (" + found.id.text() + ") " + lifecycle + ", asked " + bps(asked_bps) + ", obeyed " +
                       (obeyed.known ? bps(obeyed.weight_bps) : std::string("by nobody"));
    if (obeyed.known) {
      text += ", " + std::to_string(obeyed.requests) + (obeyed.requests == 1 ? " request, " : " requests, ") +
              std::to_string(obeyed.in_flight + obeyed.websockets) + " under way";
    }
    using enum deploy::revision::RevisionLifecycle;
    tree_.lines.push_back({2, text,
                           found.record.lifecycle == ready    ? Style::good
                           : found.record.lifecycle == failed ? Style::bad
                                                              : Style::plain});
    json::object shown{{"revision", found.id.text()},
                       {"name", name},
                       {"version", found.record.version},
                       {"lifecycle", lifecycle},
                       {"weight_asked_bps", asked_bps},
                       {"weight_obeyed_bps", obeyed.known ? json::value(obeyed.weight_bps) : json::value()},
                       {"requests", obeyed.requests},
                       {"in_flight", obeyed.in_flight},
                       {"websockets", obeyed.websockets},
                       {"replicas", replicas(found.id.text())}};
    return shown;
  }

  json::array replicas(const std::string& revision) {
    json::array shown;
    for (const auto& instance : states_.runtime().find_by_concept(revision)) {
      for (const auto& service : states_.local_runtime().find_by_instance(instance.id.text())) {
        for (const auto& program : states_.local_runtime().programs(service.id).values()) {
          auto here = host::local_replicas(concepts_of(context_));
          auto state = here ? (*here)->look(program.name) : Result<process::ReplicaState>(here.error());
          const bool runs = state && !process::is_over(state->phase);
          const int64_t pid = runs && state->program ? state->program->pid : 0;
          const bool healthy = runs && state->healthy;
          const int64_t restarts = state ? state->restarts : 0;
          tree_.lines.push_back({3,
                                 program.endpoint + (pid != 0 ? ", pid " + std::to_string(pid) : ", not running") +
                                     ", " + (healthy ? "healthy" : "unhealthy") + ", " + std::to_string(restarts) +
                                     (restarts == 1 ? " restart" : " restarts"),
                                 healthy ? Style::plain : Style::bad});
          shown.push_back(json::object{{"name", program.name},
                                       {"address", program.endpoint},
                                       {"pid", pid != 0 ? json::value(pid) : json::value()},
                                       {"healthy", healthy},
                                       {"restarts", restarts}});
        }
      }
    }
    return shown;
  }

  Context& context_;
  const views::States& states_;
  const ObeyedByRevision& obeyed_;
  StatusTree tree_;
};

}  // namespace

std::string StatusTree::render(const Terminal& terminal) const {
  std::string text = lines.empty() ? "" : sluice::render(lines, terminal);
  if (clock) text += terminal.paint(Style::warning, "clock") + "  " + clock->what + "\nnext:  " + clock->next + "\n";
  return text;
}

Result<StatusTree> status_tree(Context& context, const host::Home& home) {
  auto objects = Objects::to_look(context);
  // Whoever has the store right now is not waited for by someone who only wants to know whether it is served.
  if (!objects && objects.error().code == Code::conflict) return StatusTree();
  if (!objects) return objects.error();
  if (!*objects) return StatusTree();
  const views::States& states = (*objects)->states();
  const std::vector<host::RunningRouter> routers = host::running_routers(context.disk, home);
  ObeyedByRevision obeyed;
  for (const host::RunningRouter& each : routers) {
    auto client = ::sluice::router::ControlClient::connect(each.control, kRouterAnswers_ms);
    if (!client) continue;
    if (auto stats = client->ask({{"op", "stats"}})) add_stats(obeyed, *stats);
  }
  Drawing drawing(context, states, obeyed);
  for (const auto& each : states.env().all()) drawing.environment(each.id.text(), routers);
  StatusTree tree = drawing.take();
  tree.clock = views::clock_trouble((*objects)->snapshot());
  return tree;
}

}  // namespace sluice::cli
