// Runtime knows the instances and their replicas, Revision and Deployment what people call them.
#include "deploy/views/instances.h"

#include <algorithm>
#include <boost/describe/enum_to_string.hpp>
#include <tuple>

#include "deploy/views/leading.h"
#include "deploy/views/names.h"
#include "deploy/views/objects.h"
#include "deployment.gen.h"
#include "env.gen.h"
#include "revision.gen.h"
#include "runtime.gen.h"

namespace sluice::deploy::views {
namespace {

constexpr size_t kLeastPart = 4;  // of an id, to stand for it

bool is_part(const std::string& id, const std::string& name) {
  return name.size() >= kLeastPart && (id.starts_with(name) || id.ends_with(name));
}

Error several(const std::string& name, const std::vector<std::string>& titles, const std::string& next) {
  std::string text;
  for (const std::string& each : titles) text += (text.empty() ? "" : ", ") + each;
  return {.code = Code::conflict, .message = "several are called " + name + ": " + text, .next = next};
}

}  // namespace

// One thing that a name can mean.
struct Running::Meant {
  std::string title;
  std::vector<InstanceView> instances;
};

Running::Running(const States& states, std::string customer) : states_(states), customer_(std::move(customer)) {
  struct Placed {
    std::string bundle;
    int64_t sequence = 0;
    InstanceView instance;
  };
  std::vector<Placed> all;
  for (const auto& found : states_.runtime().all()) {
    const auto& record = found.record;
    Placed placed{.bundle = record.concept_,
                  .instance = {.instance = found.id.text(),
                               .component = record.concept_,
                               .name = record.concept_,
                               .type = record.runtimeType,
                               .version = record.version,
                               .status = boost::describe::enum_to_string(record.status, ""),
                               .endpoint = record.endpoint}};
    InstanceView& instance = placed.instance;
    const revision::RevisionId revision(record.concept_);
    if (auto of = states_.revision().get(revision)) {
      placed.bundle = of->bundle;
      placed.sequence = of->sequence;
      instance.deployment = of->deployment;
      const deployment::DeploymentId whose(of->deployment);
      if (auto deployed = states_.deployment().get(whose)) {
        instance.environment = deployed->environment;
        instance.customer = deployed->customer;
      }
      instance.ready = of->lifecycle == revision::RevisionLifecycle::ready;
      instance.name = name_of(revision::RevisionFound{revision, *of});
    }
    if (!customer_.empty() && instance.customer.value_or("") != customer_) continue;
    for (const auto& replica : states_.runtime().replicas(found.id).values()) {
      instance.replicas.push_back({.replica = replica.name,
                                   .label = instance.name + "." + std::to_string(instance.replicas.size()),
                                   .endpoint = replica.endpoint,
                                   .instance = instance.instance});
    }
    all.push_back(std::move(placed));
  }
  std::ranges::sort(all, [](const Placed& a, const Placed& b) {
    return std::tie(a.bundle, a.sequence, a.instance.instance) < std::tie(b.bundle, b.sequence, b.instance.instance);
  });
  for (Placed& each : all) all_.push_back(std::move(each.instance));
}

std::vector<ReplicaView> Running::of_leading(std::vector<ReplicaView> replicas) const {
  std::vector<ReplicaView> leading;
  for (const InstanceView& each : all_) {
    if (!each.deployment || leading_revision(states_, *each.deployment) != each.component) continue;
    std::ranges::copy_if(replicas, std::back_inserter(leading),
                         [&](const ReplicaView& replica) { return replica.instance == each.instance; });
  }
  return leading.empty() ? replicas : leading;
}

// Two meanings of one and the same thing count once.
std::vector<Running::Meant> Running::meanings(const std::string& name) const {
  std::vector<Meant> meant;
  auto add = [&](const std::string& title, auto&& is_of) {
    Meant one{.title = title};
    std::ranges::copy_if(all_, std::back_inserter(one.instances), is_of);
    auto same = [&](const Meant& other) {
      return std::ranges::equal(one.instances, other.instances, {}, &InstanceView::instance, &InstanceView::instance);
    };
    if (std::ranges::none_of(meant, same)) meant.push_back(std::move(one));
  };
  for (const InstanceView& each : all_) {
    auto is_it = [&](const InstanceView& other) { return other.instance == each.instance; };
    if (each.instance == name) {
      meant.clear();
      add(each.instance, is_it);
      return meant;
    }
    if (each.component == name || is_part(each.instance, name) || is_part(each.component, name)) {
      add(each.instance + " (" + each.name + ")", is_it);
    }
  }
  if (name.empty()) return meant;
  for (const auto& environment : states_.env().all()) {
    const std::string& where = environment.id.text();
    for (const auto& found : revisions_named(states_, where, name)) {
      if (!customer_.empty() && customer_of(states_, found) != customer_) continue;
      add(title_of(states_, found), [&](const InstanceView& each) { return each.component == found.id.text(); });
    }
    for (const auto& wanted : {DeploymentName{.deployment = name, .customer = customer_},
                               DeploymentName{.bundle = name, .customer = customer_}}) {
      for (const auto& found : deployments_named(states_, where, wanted)) {
        add(title_of(found) + " in " + where,
            [&](const InstanceView& each) { return each.deployment && *each.deployment == found.id.text(); });
      }
    }
  }
  return meant;
}

Result<std::vector<InstanceView>> Running::find(const std::string& name) const {
  std::vector<Meant> meant = meanings(name);
  // What does not run stands back for what does.
  if (std::ranges::any_of(meant, [](const Meant& each) { return !each.instances.empty(); })) {
    std::erase_if(meant, [](const Meant& each) { return each.instances.empty(); });
  }
  if (meant.empty()) {
    return Error{.code = Code::not_found, .message = "nothing that runs is called " + name, .next = "view instances"};
  }
  if (meant.size() > 1) {
    std::vector<std::string> titles;
    for (const Meant& each : meant) titles.push_back(each.title);
    return several(name, titles,
                   customer_.empty() ? "name the customer with --customer-id, or one by its id" : "name one by its id");
  }
  return std::move(meant.front().instances);
}

Result<InstanceView> Running::find_instance(const std::string& name) const {
  auto found = find(name);
  if (!found) return found.error();
  if (found->size() == 1) return std::move(found->front());
  if (found->empty()) {
    return Error{.code = Code::not_found, .message = "nothing of " + name + " runs", .next = "view status"};
  }
  std::vector<std::string> titles;
  for (const InstanceView& each : *found) titles.push_back(each.name);
  return several(name, titles, "name one of them");
}

Result<std::vector<ReplicaView>> Running::find_replicas(const std::string& name) const {
  std::vector<ReplicaView> found;
  std::vector<std::string> titles;
  for (const InstanceView& instance : all_) {
    for (const ReplicaView& each : instance.replicas) {
      if (each.replica == name) return std::vector{each};
      if (each.label != name) continue;
      found.push_back(each);
      titles.push_back(each.replica);
    }
  }
  if (found.size() == 1) return found;
  if (found.size() > 1) return several(name, titles, "name the customer with --customer-id, or one of them");
  auto instances = find(name);
  if (!instances) return instances.error();
  for (InstanceView& each : *instances) std::ranges::move(each.replicas, std::back_inserter(found));
  if (found.empty()) {
    return Error{
        .code = Code::not_found, .message = "nothing of " + name + " runs on this machine", .next = "view instances"};
  }
  return found;
}

std::vector<std::string> started_for(const process::Replicas& replicas, const std::string& revision) {
  std::vector<std::string> started;
  auto names = replicas.list();
  if (!names) return started;
  for (const std::string& each : *names) {
    auto workload = replicas.workload(each);
    if (!workload) continue;
    auto of = workload->environment.find("SLUICE_REVISION");
    if (of != workload->environment.end() && of->second == revision) started.push_back(each);
  }
  return started;
}

void look_at(const lang::Tools& tools, ReplicaView& replica) {
  auto* here = tools.find<process::Replicas>();
  auto state = here != nullptr ? here->look(replica.replica) : Result<process::ReplicaState>(Error{});
  if (!state) return;
  replica.log = here->log_of(replica.replica);
  replica.phase = state->phase;
  replica.healthy = state->healthy && state->phase == process::Phase::running;
  replica.restarts = state->restarts;
  replica.since = {.ms = state->since_ms};
  replica.message = state->message;
  replica.limitedBy = state->limited_by;
  if (state->reason != process::Reason::none) replica.reason = state->reason;
  if (state->program && !process::is_over(state->phase)) replica.pid = state->program->pid;
}

namespace {

Result<std::vector<InstanceView>> read_instances(const lang::Reading& reading, const AllQuery&) {
  const States states(reading.rows);
  std::vector<InstanceView> all = Running(states).all();
  for (InstanceView& each : all) {
    for (ReplicaView& replica : each.replicas) look_at(reading.tools, replica);
  }
  return all;
}

Result<InstanceDetail> read_instance(const lang::Reading& reading, const NameQuery& query) {
  const States states(reading.rows);
  auto found = Running(states, query.customer).find_instance(query.name);
  if (!found) return found.error();
  InstanceDetail detail{*std::move(found), {}};
  for (ReplicaView& replica : detail.replicas) look_at(reading.tools, replica);
  for (const auto& each : states.runtime().history(runtime::RuntimeId(detail.instance)).values()) {
    detail.history.push_back({each.version, each.artifactHash, each.deployedAt});
  }
  return detail;
}

// What there was of a revision of which nothing runs: its logs are kept for a while.
std::vector<ReplicaView> kept_of(const lang::Reading& reading, const States& states, const ReplicasQuery& query) {
  std::vector<ReplicaView> kept;
  auto* here = reading.tools.find<process::Replicas>();
  if (here == nullptr) return kept;
  const std::vector<process::KeptLog> logs = here->kept_logs();
  for (const auto& environment : states.env().all()) {
    for (const auto& found : revisions_named(states, environment.id.text(), query.name)) {
      if (!query.customer.empty() && customer_of(states, found) != query.customer) continue;
      for (const process::KeptLog& each : logs) {
        if (each.of != found.id.text()) continue;
        kept.push_back({.replica = each.replica,
                        .label = name_of(found) + each.replica.substr(each.replica.rfind('.')),
                        .phase = process::Phase::stopped,
                        .since = {.ms = each.since_ms},
                        .message = "was removed; its log is kept for seven days",
                        .log = each.folder});
      }
    }
  }
  return kept;
}

// What was started for a revision that is not warm yet.
std::vector<ReplicaView> starting_of(const lang::Reading& reading, const States& states, const ReplicasQuery& query) {
  std::vector<ReplicaView> starting;
  auto* here = reading.tools.find<process::Replicas>();
  if (here == nullptr) return starting;
  for (const auto& environment : states.env().all()) {
    for (const auto& found : revisions_named(states, environment.id.text(), query.name)) {
      if (!query.customer.empty() && customer_of(states, found) != query.customer) continue;
      const auto instances = states.runtime().find_by_concept(found.id.text());
      for (const std::string& each : started_for(*here, found.id.text())) {
        starting.push_back({.replica = each,
                            .label = name_of(found) + each.substr(each.rfind('.')),
                            .instance = instances.empty() ? "" : instances.front().id.text()});
        look_at(reading.tools, starting.back());
      }
    }
  }
  return starting;
}

Result<std::vector<ReplicaView>> read_replicas(const lang::Reading& reading, const ReplicasQuery& query) {
  const States states(reading.rows);
  const Running running(states, query.customer);
  auto found = running.find_replicas(query.name);
  if (!found && found.error().code == Code::not_found) {
    if (auto starting = starting_of(reading, states, query); !starting.empty()) return starting;
    if (auto kept = kept_of(reading, states, query); !kept.empty()) return kept;
  }
  if (!found) return found.error();
  if (query.leading) found = running.of_leading(*std::move(found));
  for (ReplicaView& replica : *found) look_at(reading.tools, replica);
  return found;
}

}  // namespace

std::vector<lang::View> instance_views() {
  return {lang::make_view("instances", "What runs, where, and how its replicas are", read_instances),
          lang::make_view("instance", "An instance with its history and its replicas", read_instance),
          lang::make_view("replicas", "The replicas that a name means", read_replicas)};
}

}  // namespace sluice::deploy::views
