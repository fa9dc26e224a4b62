// sluice runtime: what runs where, and how it is. `stop` is one action, of Runtime or of Revision; the others read, and
// look at the replicas of this machine.
#include <boost/json.hpp>

#include "base/clock.h"
#include "base/duration.h"
#include "base/json.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/opening.h"
#include "cli/running_instances.h"
#include "host/background.h"
#include "runtime.gen.h"

namespace sluice::cli {
namespace runtime_commands {

// A replica as it is now.
struct Seen {
  RunningReplica replica;
  process::ReplicaState state;
};

Result<std::vector<Seen>> look_at(const Context& context, const RunningInstance& instance) {
  auto replicas = host::local_replicas(concepts_of(context));
  if (!replicas) return replicas.error();
  std::vector<Seen> seen;
  for (const RunningReplica& each : instance.replicas) {
    auto state = (*replicas)->look(each.name);
    process::ReplicaState gone{.phase = process::Phase::lost, .message = "there is nothing of it"};
    seen.push_back({.replica = each, .state = state ? *state : gone});
  }
  return seen;
}

std::string phase_name(process::Phase phase) { return boost::describe::enum_to_string(phase, ""); }

std::string how(const process::ReplicaState& state) {
  if (state.phase == process::Phase::backing_off && state.reason == process::Reason::crash_loop) return "crash_loop";
  if (state.phase != process::Phase::running) return phase_name(state.phase);
  return state.healthy ? "healthy" : "unhealthy";
}

Style style_of_replica(const process::ReplicaState& state) {
  if (state.healthy) return Style::good;
  return process::is_over(state.phase) || state.phase == process::Phase::running ? Style::bad : Style::warning;
}

json::object json_of(const Seen& seen) {
  const process::ReplicaState& state = seen.state;
  json::object shown{{"replica", seen.replica.name},     {"label", seen.replica.label},
                     {"phase", phase_name(state.phase)}, {"healthy", state.healthy},
                     {"restarts", state.restarts},       {"since", utc_text(state.since_ms)},
                     {"message", state.message},         {"endpoint", seen.replica.endpoint},
                     {"log", seen.replica.log},          {"limitedBy", state.limited_by}};
  shown["reason"] = state.reason == process::Reason::none
                        ? json::value()
                        : json::value(boost::describe::enum_to_string(state.reason, ""));
  shown["pid"] = state.program ? json::value(state.program->pid) : json::value();
  return shown;
}

json::object json_of(const RunningInstance& instance, const std::vector<Seen>& seen) {
  json::array replicas;
  for (const Seen& each : seen) replicas.push_back(json_of(each));
  return {{"instance", instance.id}, {"component", instance.component}, {"name", instance.name},
          {"type", instance.type},   {"version", instance.version},     {"status", instance.status},
          {"replicas", replicas},    {"endpoint", instance.endpoint}};
}

size_t healthy_of(const std::vector<Seen>& seen) {
  return static_cast<size_t>(std::ranges::count_if(seen, [](const Seen& each) { return each.state.healthy; }));
}

// ----------------------------------------------------------------------------------------------------------- list

Result<Code> list(Context& context) {
  auto objects = Objects::to_look(context);
  if (!objects) return objects.error();
  const Running running = running_in(objects->get());
  Table table{.columns = {{"NAME"},
                          {.title = "INSTANCE", .whole = true},
                          {"TYPE"},
                          {"VERSION"},
                          {"STATUS"},
                          {"HEALTHY", Align::right},
                          {"ENDPOINT"}},
              .empty = "Nothing runs here."};
  json::array shown;
  for (const RunningInstance& each : running.all()) {
    auto seen = look_at(context, each);
    if (!seen) return seen.error();
    shown.push_back(json_of(each, *seen));
    const size_t healthy = healthy_of(*seen);
    table.rows.push_back({{each.name, Style::strong},
                          {each.id},
                          {each.type},
                          {each.version},
                          {each.status},
                          {std::to_string(healthy) + "/" + std::to_string(seen->size()),
                           healthy == seen->size() ? Style::good : Style::bad},
                          {each.endpoint}});
  }
  context.output.print(shown, [&](const Terminal& terminal) { return render(table, terminal); });
  return Code::ok;
}

// ----------------------------------------------------------------------------------------------------------- show

std::string text_of(const RunningInstance& instance, const std::vector<Seen>& seen, const json::array& history,
                    const Terminal& terminal) {
  std::string text;
  auto row = [&](const std::string& name, const std::string& value) {
    if (!value.empty())
      text += terminal.paint(Style::faint, name) + std::string(11 - name.size(), ' ') + printable(value) + "\n";
  };
  row("name", instance.name);
  row("instance", instance.id);
  row("type", instance.type);
  row("status", instance.status);
  row("version", instance.version);
  row("endpoint", instance.endpoint);
  for (const json::value& each : history) {
    row("deployed",
        std::string(each.at("deployedAt").as_string()) + "  " + std::string(each.at("version").as_string()));
  }
  Table table{.columns = {{"REPLICA"},
                          {"STATE"},
                          {"PID", Align::right},
                          {"RESTARTS", Align::right},
                          {"SINCE"},
                          {.title = "NAME", .whole = true},
                          {"LAST"}},
              .empty = "It has no replicas on this machine."};
  for (const Seen& each : seen) {
    const process::ReplicaState& state = each.state;
    table.rows.push_back({{each.replica.label, Style::strong},
                          {how(state), style_of_replica(state)},
                          {state.program ? std::to_string(state.program->pid) : "-"},
                          {std::to_string(state.restarts)},
                          {utc_text(state.since_ms)},
                          {each.replica.name},
                          {state.message}});
  }
  return text + "\n" + render(table, terminal);
}

Result<Code> show(Context& context) {
  auto objects = Objects::to_look(context);
  if (!objects) return objects.error();
  auto instance = running_in(objects->get()).find_instance(context.given.text("name"));
  if (!instance) return instance.error();
  auto seen = look_at(context, *instance);
  if (!seen) return seen.error();
  json::array history;
  for (const auto& each : (*objects)->states().runtime().history(deploy::runtime::RuntimeId(instance->id)).values()) {
    history.push_back(json::object{
        {"version", each.version}, {"artifactHash", each.artifactHash}, {"deployedAt", utc_text(each.deployedAt.ms)}});
  }
  json::object value = json_of(*instance, *seen);
  value["history"] = history;
  context.output.print(value, [&](const Terminal& terminal) { return text_of(*instance, *seen, history, terminal); });
  return Code::ok;
}

// ----------------------------------------------------------------------------------------------------------- stop

Result<Code> stop(Context& context) {
  auto objects = Objects::to_look(context);
  if (!objects) return objects.error();
  auto instance = running_in(objects->get()).find_instance(context.given.text("name"));
  if (!instance) return instance.error();
  objects->reset();  // and with it the store
  const bool dry = context.given.flag("dry-run");
  json::object shown{{"instance", instance->id},
                     {"component", instance->component},
                     {"name", instance->name},
                     {"replicas", instance->replicas.size()},
                     {"stopped", !dry}};
  if (!dry) {
    auto home = DeployHome::open(context);
    if (!home) return home.error();
    // A revision that may serve is let go by the routers first, and is not ready any more.
    auto answer = instance->ready ? (*home)->call("Revision/drain", {{"revision", instance->component}})
                                  : (*home)->call("Runtime/destroy", {{"instance", instance->id}});
    if (!answer) return answer.error();
    if (answer->variant == "destroyFailed") {
      return Error{.code = Code::failed,
                   .message = instance->name + " was not stopped: " + answer->text("reason"),
                   .next = "sluice flow trace " + to_string(*answer->flow)};
    }
    if (answer->code != Code::ok) return refusal_in_words(*answer);
    if (auto settled = (*home)->wait_until_all(*answer->flow); !settled) return settled.error();
    shown["flow"] = to_string(*answer->flow);
  }
  context.output.print(shown, [&](const Terminal& terminal) {
    const size_t count = instance->replicas.size();
    return terminal.paint(dry ? Style::warning : Style::good, dry ? "would stop" : "stopped") + "  " +
           printable(instance->name) + " " + instance->id + ", " + std::to_string(count) +
           (count == 1 ? " replica\n" : " replicas\n");
  });
  return Code::ok;
}

}  // namespace runtime_commands

void add_runtime_commands(Commands& commands) {
  using namespace runtime_commands;
  const Arg name{.name = "name",
                 .help = "a revision (hello@2) or deployment that runs once, or an instance's id or a part of it"};
  commands.add_noun({.name = "runtime", .group = Group::run, .summary = "See and stop what runs"});
  commands.add({.name = "runtime list",
                .summary = "List what runs, where, and how many of it are healthy",
                .options = {lock_timeout_option()},
                .example = "sluice runtime list",
                .run = list});
  commands.add({.name = "runtime show",
                .summary = "Show an instance, its history and its replicas",
                .args = {name},
                .options = {lock_timeout_option()},
                .example = "sluice runtime show hello",
                .run = show});
  std::vector<Option> options = {{.name = "dry-run", .help = "say what would be stopped, and stop nothing"}};
  for (Option& each : call_options()) options.push_back(std::move(each));
  commands.add({.name = "runtime stop",
                .summary = "Stop an instance and forget it",
                .details = "All its replicas get SIGTERM and, when the drain of their bundle is over, SIGKILL. Their "
                           "logs go with them, and so does what they have stored, unless the instance's config names "
                           "a storage.\n\nA revision is drained, as `revisions drain` does it: one that gets traffic "
                           "is not stopped, and one that was is started again with `revisions retry` and `revisions "
                           "warm`.",
                .args = {name},
                .options = std::move(options),
                .example = "sluice runtime stop hello --dry-run",
                .run = stop});
}

}  // namespace sluice::cli
