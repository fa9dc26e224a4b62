// sluice runtime: what runs where, and how it is. `stop` is one action, of Runtime or of Revision; the others read, and
// look at the replicas of this machine.
#include <algorithm>
#include <boost/json.hpp>

#include "base/clock.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/call_words.h"
#include "cli/command_door.h"
#include "cli/fitting_table.h"
#include "cli/opening.h"
#include "cli/outputs.h"
#include "deploy/views/instances.h"

namespace sluice::cli {
namespace runtime_commands {

using deploy::views::InstanceDetail;
using deploy::views::InstanceView;
using deploy::views::ReplicaView;

std::string phase_name(process::Phase phase) { return boost::describe::enum_to_string(phase, ""); }

std::string how(const ReplicaView& replica) {
  const bool loops = replica.reason && *replica.reason == process::Reason::crash_loop;
  if (replica.phase == process::Phase::backing_off && loops) return "crash_loop";
  if (replica.phase != process::Phase::running) return phase_name(replica.phase);
  return replica.healthy ? "healthy" : "unhealthy";
}

Style style_of_replica(const ReplicaView& replica) {
  if (replica.healthy) return Style::good;
  return process::is_over(replica.phase) || replica.phase == process::Phase::running ? Style::bad : Style::warning;
}

// ----------------------------------------------------------------------------------------------------------- list

Result<Code> list(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto all = (*door)->read<std::vector<InstanceView>>("instances");
  if (!all) return all.error();
  context.output.print(to_json(*all), [&](const Terminal& terminal) {
    Table table{.columns = {{.title = "NAME", .whole = true},
                            {"CUSTOMER"},
                            {.title = "INSTANCE", .whole = true},
                            {"TYPE"},
                            {"VERSION"},
                            {"STATUS"},
                            {"HEALTHY", Align::right},
                            {"ENDPOINT"}},
                .empty = "Nothing runs here."};
    for (const InstanceView& each : *all) {
      const auto healthy = static_cast<size_t>(std::ranges::count(each.replicas, true, &ReplicaView::healthy));
      table.rows.push_back({{each.name, Style::strong},
                            {each.customer.value_or("")},
                            {each.instance},
                            {each.type},
                            {each.version},
                            {each.status},
                            {std::to_string(healthy) + "/" + std::to_string(each.replicas.size()),
                             healthy == each.replicas.size() ? Style::good : Style::bad},
                            {each.endpoint}});
    }
    return render_fitting(std::move(table), terminal, {"TYPE", "INSTANCE"});
  });
  return Code::ok;
}

// ----------------------------------------------------------------------------------------------------------- show

std::string text_of(const InstanceDetail& instance, const Terminal& terminal) {
  std::string text;
  auto row = [&](const std::string& name, const std::string& value) {
    if (!value.empty())
      text += terminal.paint(Style::faint, name) + std::string(11 - name.size(), ' ') + printable(value) + "\n";
  };
  row("name", instance.name);
  row("instance", instance.instance);
  row("type", instance.type);
  row("status", instance.status);
  row("version", instance.version);
  row("endpoint", instance.endpoint);
  for (const auto& each : instance.history) row("deployed", utc_text(each.deployedAt.ms) + "  " + each.version);
  Table table{.columns = {{"REPLICA"},
                          {"STATE"},
                          {"PID", Align::right},
                          {"RESTARTS", Align::right},
                          {"SINCE"},
                          {.title = "NAME", .whole = true},
                          {"LAST"}},
              .empty = "It has no replicas on this machine."};
  for (const ReplicaView& each : instance.replicas) {
    table.rows.push_back({{each.label, Style::strong},
                          {how(each), style_of_replica(each)},
                          {each.pid ? std::to_string(*each.pid) : "-"},
                          {std::to_string(each.restarts)},
                          {utc_text(each.since.ms)},
                          {each.replica},
                          {each.message}});
  }
  return text + "\n" + render(table, terminal);
}

Result<Code> show(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto instance = (*door)->read<InstanceDetail>(
      "instance", {{"name", context.given.text("name")}, {"customer", context.given.text("customer-id")}});
  if (!instance) return instance.error();
  context.output.print(to_json(*instance), [&](const Terminal& terminal) { return text_of(*instance, terminal); });
  return Code::ok;
}

// ----------------------------------------------------------------------------------------------------------- stop

Result<Code> stop(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto instance = (*door)->read<InstanceDetail>(
      "instance", {{"name", context.given.text("name")}, {"customer", context.given.text("customer-id")}});
  if (!instance) return instance.error();
  const bool dry = context.given.flag("dry-run");
  outputs::InstanceStopped shown{.instance = instance->instance,
                                 .component = instance->component,
                                 .name = instance->name,
                                 .replicas = instance->replicas.size(),
                                 .stopped = !dry};
  if (!dry) {
    // A revision that may serve is let go by the routers first, and is not ready any more.
    const json::object drained{{"revision", instance->component}}, destroyed{{"instance", instance->instance}};
    auto answer = (*door)->call(instance->ready ? "Revision/drain" : "Runtime/destroy",
                                instance->ready ? drained : destroyed, host::WaitFor::all);
    if (!answer) return answer.error();
    if (answer->variant == "destroyFailed") {
      return Error{.code = Code::failed,
                   .message = instance->name + " was not stopped: " + answer->text("reason"),
                   .next = "sluice flow trace " + to_string(*answer->flow)};
    }
    if (answer->code != Code::ok) return refusal_in_words(context, *answer, instance->environment.value_or(""));
    shown.flow = to_string(*answer->flow);
  }
  context.output.print(to_json(shown), [&](const Terminal& terminal) {
    const size_t count = instance->replicas.size();
    return terminal.paint(dry ? Style::warning : Style::good, dry ? "would stop" : "stopped") + "  " +
           printable(instance->name) + " " + instance->instance + ", " + std::to_string(count) +
           (count == 1 ? " replica\n" : " replicas\n");
  });
  return Code::ok;
}

}  // namespace runtime_commands

void add_runtime_commands(Commands& commands) {
  using namespace runtime_commands;
  const Arg name{.name = "name",
                 .help = "a revision (hello@2) or deployment that runs once, or an instance's id or a part of it"};
  commands.add_noun({.name = "runtime", .group = Group::operate, .summary = "See and stop what runs"});
  commands.add({.name = "runtime list",
                .summary = "List what runs, where, and how many replicas are healthy",
                .options = {lock_timeout_option()},
                .example = "sluice runtime list",
                .run = list});
  commands.add({.name = "runtime show",
                .summary = "Show an instance, its history and its replicas",
                .args = {name},
                .options = {customer_option(), lock_timeout_option()},
                .example = "sluice runtime show hello",
                .run = show});
  std::vector<Option> options = {customer_option(),
                                 {.name = "dry-run", .help = "say what would be stopped, and stop nothing"}};
  for (Option& each : call_options()) options.push_back(std::move(each));
  commands.add(
      {.name = "runtime stop",
       .summary = "Stop an instance and forget it",
       .details = "All its replicas get SIGTERM and, after the drain time of their bundle, SIGKILL. Their logs are "
                  "kept for seven days; the data they have stored is deleted, unless the instance's config names a "
                  "storage.\n\nA revision is drained, as `revisions drain` does: one that gets traffic is not stopped, "
                  "and one that was stopped is started again with `revisions retry` and `revisions warm`.",
       .args = {name},
       .options = std::move(options),
       .example = "sluice runtime stop hello --dry-run",
       .run = stop});
}

}  // namespace sluice::cli
