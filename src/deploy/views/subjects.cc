// One of each kind says how it stands; what waits for a program to become healthy says what that answers.
#include "deploy/views/subjects.h"

#include <algorithm>
#include <boost/describe/enum_to_string.hpp>

#include "base/basis_points.h"
#include "base/clock.h"
#include "deploy/concepts/revision/lifecycle.h"
#include "deploy/views/doctor.h"
#include "deploy/views/instances.h"
#include "deploy/views/names.h"
#include "deploy/views/rollouts.h"
#include "health.gen.h"
#include "router.gen.h"
#include "runtime.gen.h"
#include "traffic.gen.h"

namespace sluice::deploy::views {
namespace {

using revision::RevisionLifecycle;

// "Its program started 4 s ago and is not healthy yet: it answers /health with 503; it has 26 s more …"
std::string start_text(const process::ReplicaState& state, int64_t within_ms, int64_t now_ms) {
  const int64_t left_ms = state.since_ms + within_ms - now_ms;
  return "Its program started " + std::to_string(std::max<int64_t>(now_ms - state.since_ms, 0) / 1000) + " s ago and " +
         (state.message.empty() ? "has not answered yet" : state.message) + "; it has " +
         std::to_string((std::max<int64_t>(left_ms, 0) + 999) / 1000) + " s more to become healthy.";
}

// What the programs wait for that are being started for a revision. They are not in its list before they are healthy.
std::vector<std::string> starts_of(const lang::Reading& reading, const std::string& revision) {
  std::vector<std::string> said;
  auto* here = reading.tools.find<process::Replicas>();
  if (here == nullptr) return said;
  for (const std::string& each : started_for(*here, revision)) {
    auto state = here->look(each);
    auto workload = here->workload(each);
    if (!state || !workload || state->phase != process::Phase::starting) continue;
    said.push_back(start_text(*state, workload->health.start_within_ms, reading.now_ms));
  }
  return said;
}

int64_t share_of(const States& states, const revision::RevisionFound& found) {
  for (const auto& entry : states.traffic().entries(traffic::TrafficId(found.record.deployment)).values()) {
    if (entry.revision == found.id.text()) return entry.weightBps;
  }
  return 0;
}

std::string standing(const States& states, const revision::RevisionFound& found) {
  std::string text = name_of(found) + " is " + std::string(revision::name_of(found.record.lifecycle)) + " and gets " +
                     print_basis_points(static_cast<int>(share_of(states, found))) + " of the traffic";
  if (found.record.lifecycle == RevisionLifecycle::failed) {
    const std::string& message = found.record.failure.message;
    text += "; it failed in " + found.record.failure.check + ": " + message.substr(0, message.find("; next: "));
  }
  return text + ".";
}

Subject about(const lang::Reading& reading, const States& states, const revision::RevisionFound& found) {
  Subject subject{.kind = "revision",
                  .id = found.id.text(),
                  .name = name_of(found),
                  .relation = "Revision",
                  .key = found.id.text(),
                  .waits = found.record.busy.has_value() || found.record.openWarm.has_value()};
  subject.said.push_back(standing(states, found));
  for (const auto& instance : states.runtime().find_by_concept(found.id.text())) {
    for (const auto& check : states.health().find_by_target(instance.id.text())) {
      if (check.record.kind != health::HealthKind::suspect || !check.record.details) continue;
      subject.said.push_back("It is degraded: " + *check.record.details + ".");
    }
  }
  if (std::string rollout = rollout_under_way(reading, found.id.text()); !rollout.empty()) {
    subject.said.push_back(std::move(rollout));
  }
  std::ranges::move(starts_of(reading, found.id.text()), std::back_inserter(subject.said));
  return subject;
}

Subject about(const States& states, const std::string& environment, const router::RouterMember& member) {
  Subject subject{.kind = "router", .id = member.router, .name = member.name, .relation = "Router", .key = environment};
  const auto table = states.router().get(router::RouterId(environment));
  const int64_t newest = table ? table->generation : 0;
  std::string text =
      "Router " + member.name + " of " + environment + " obeys table " + std::to_string(member.acknowledged);
  text += member.acknowledged >= newest ? ", the newest." : "; the newest is " + std::to_string(newest) + ".";
  subject.said.push_back(text);
  if (!member.trouble.empty()) subject.said.push_back("It was last heard to say: " + member.trouble + ".");
  return subject;
}

Subject about(const lang::Reading& reading, const States& states, const deployment::DeploymentFound& found) {
  Subject subject{.kind = "deployment",
                  .id = found.id.text(),
                  .name = found.record.bundle + " for " + found.record.customer,
                  .relation = "Traffic",
                  .key = found.id.text()};
  subject.said.push_back(subject.name + " in " + found.record.environment + " is " +
                         boost::describe::enum_to_string(found.record.status, "") + ".");
  if (!states.traffic().get(traffic::TrafficId(found.id.text()))) {
    subject.relation = "Deployment";
    subject.said.emplace_back("No revision of it gets traffic.");
  }
  for (const auto& each : states.revision().find_by_deployment(found.id.text())) {
    if (each.record.lifecycle == RevisionLifecycle::archived) continue;
    Subject one = about(reading, states, each);
    if (one.waits) {
      subject.waits = true;
      subject.relation = one.relation;
      subject.key = one.key;
    }
    std::ranges::move(one.said, std::back_inserter(subject.said));
  }
  // Who has not heard of its newest split.
  const router::RouterId environment(found.record.environment);
  const auto table = states.router().get(environment);
  for (const router::RouterMember& each : states.router().members(environment).values()) {
    if (!table || each.acknowledged >= table->generation) continue;
    std::ranges::move(about(states, environment.text(), each).said, std::back_inserter(subject.said));
  }
  return subject;
}

Subject about(const lang::Reading& reading, const States& states, const env::EnvFound& found) {
  Subject subject{
      .kind = "environment", .id = found.id.text(), .name = found.id.text(), .relation = "Env", .key = found.id.text()};
  const std::vector<Finding> findings = examine(reading.rows, found.id.text());
  subject.said.push_back(found.id.text() + (findings.empty() ? " is as it should be." : " needs attention."));
  for (const Finding& each : findings) subject.said.push_back(each.what + "; next: " + each.next);
  for (const auto& each : states.deployment().find_by_environment(found.id.text())) {
    if (each.record.status == deployment::DeploymentStatus::archived) continue;
    std::ranges::move(about(reading, states, each).said, std::back_inserter(subject.said));
  }
  return subject;
}

}  // namespace

Result<Subject> find_subject(const lang::Reading& reading, const std::string& name, const std::string& customer) {
  const States states(reading.rows);
  std::vector<Subject> meant;
  std::vector<std::string> titles;
  auto add = [&](Subject subject, const std::string& title) {
    if (std::ranges::find(meant, subject.id, &Subject::id) != meant.end()) return;
    meant.push_back(std::move(subject));
    titles.push_back(title);
  };
  for (const auto& environment : states.env().all()) {
    const std::string& where = environment.id.text();
    if (where == name) return about(reading, states, environment);
    for (const auto& each : revisions_named(states, where, name)) {
      if (!customer.empty() && customer_of(states, each) != customer) continue;
      add(about(reading, states, each), title_of(states, each) + " in " + where);
    }
    for (const auto& wanted : {DeploymentName{.deployment = name, .customer = customer},
                               DeploymentName{.bundle = name, .customer = customer}}) {
      for (const auto& each : deployments_named(states, where, wanted)) {
        add(about(reading, states, each), title_of(each) + " in " + where);
      }
    }
    for (const auto& member : states.router().members(router::RouterId(where)).values()) {
      if (member.name == name || member.router == name) {
        add(about(states, where, member), "router " + member.name + " of " + where);
      }
    }
  }
  if (meant.size() == 1) return std::move(meant.front());
  if (meant.empty()) return Error{.code = Code::not_found, .message = "nothing is called '" + name + "'"};
  std::string all;
  for (const std::string& each : titles) all += (all.empty() ? "" : ", ") + each;
  return Error{
      .code = Code::conflict,
      .message = std::to_string(meant.size()) + " things are called '" + name + "': " + all,
      .next = customer.empty() ? "name the customer with --customer-id, or one by its id" : "name one by its id"};
}

}  // namespace sluice::deploy::views
