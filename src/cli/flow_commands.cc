// sluice flow and sluice why: what runs, what ran, and why it is as it is. They read the home's store and change
// nothing.
#include <algorithm>
#include <boost/json.hpp>

#include "base/clock.h"
#include "base/json.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/context.h"
#include "cli/flow_view.h"
#include "cli/opening.h"
#include "engine/kept_set.h"
#include "host/home_store.h"
#include "host/kit_place.h"

namespace sluice::cli {
namespace flow_commands {

// What a reading command works on: one moment of the store.
struct Reading {
  std::unique_ptr<host::HomeStore> home;
  std::unique_ptr<store::Snapshot> snapshot;
};

// Nothing if nothing has run here yet.
Result<std::optional<Reading>> begin_reading(const Context& context) {
  RealClock clock;
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  auto home = host::open_for_reading(*opening, clock);
  if (!home) return home.error();
  if (!*home) return std::optional<Reading>();
  auto snapshot = (*home)->store->read();
  if (!snapshot) return snapshot.error();
  Reading reading{.home = *std::move(home), .snapshot = *std::move(snapshot)};
  return std::optional<Reading>(std::move(reading));
}

// The one thing that a command can say of an empty home without having been asked for something in it.
Code say_nothing_has_run(Context& context, const json::value& empty) {
  Error error = host::nothing_has_run();
  context.output.print(empty,
                       [&](const Terminal&) { return "Nothing has run here yet.\nnext:  " + error.next + "\n"; });
  return Code::ok;
}

// ---------------------------------------------------------------------------------------------------------- list

Style style_of(store::FlowStatus status) {
  switch (status) {
    case store::FlowStatus::settled_ok:
      return Style::good;
    case store::FlowStatus::settled_failed:
    case store::FlowStatus::stuck:
      return Style::bad;
    default:
      return Style::accent;
  }
}

Result<Code> list(Context& context) {
  auto reading = begin_reading(context);
  if (!reading) return reading.error();
  if (!*reading) return say_nothing_has_run(context, json::array());
  bool failed_only = context.given.flag("failed");
  auto limit = static_cast<size_t>(context.given.number("limit").value_or(0));
  if (limit == 0) {
    return Error{.code = Code::usage, .message = "--limit is at least 1", .next = "sluice flow list --limit 1"};
  }
  std::optional<int64_t> since_ms;
  if (auto age = context.given.number("since")) since_ms = RealClock().wall_ms() - *age;
  std::vector<store::FlowRow> flows;
  bool more = false;
  auto read = (*reading)->snapshot->flows_newest_first(std::nullopt, [&](const store::FlowRow& row) {
    if (since_ms && row.id.wall_ms() < *since_ms) return false;  // ids begin with their time
    if (failed_only && row.status != store::FlowStatus::settled_failed && row.status != store::FlowStatus::stuck) {
      return true;
    }
    more = flows.size() == limit;
    if (!more) flows.push_back(row);
    return !more;
  });
  if (!read) return read.error();
  json::array shown;
  for (const store::FlowRow& row : flows) shown.push_back(host::flow_row_json(row));
  context.output.print(shown, [&](const Terminal& terminal) {
    Table table{
        .columns = {{.title = "FLOW", .whole = true}, {"STATE"}, {"ACTION"}, {"CALLER"}, {"BEGAN"}, {"FAILURE"}},
        .empty = failed_only ? "No flow has failed." : "No flows."};
    for (const store::FlowRow& row : flows) {
      table.rows.push_back({{to_string(row.id)},
                            {std::string(state_name(row.status)), style_of(row.status)},
                            {engine::summary_text(row, "action")},
                            {engine::summary_text(row, "caller")},
                            {utc_text(row.id.wall_ms())},
                            {host::failure_of(row)}});
    }
    return render(table, terminal);
  });
  if (more) context.output.note("There are more; --limit shows more of them.");
  return Code::ok;
}

// -------------------------------------------------------------------------------------------------- show and trace

// The syncs of the kit at --kit, or those that the flow goes on under, with the concepts of the kit that they are of.
Result<std::shared_ptr<const engine::SyncSet>> syncs_of(const Context& context, store::Snapshot& snapshot,
                                                        const std::string& hash) {
  std::string folder = context.given.text("kit");
  bool named = !folder.empty();
  if (!named) {
    auto kit = host::kit_of_flow(snapshot, hash);
    if (!kit) return kit.error();
    folder = *std::move(kit);
  }
  if (folder.empty()) {
    context.output.detail("--kit FOLDER also shows the syncs that did not fire");
    return std::shared_ptr<const engine::SyncSet>();
  }
  auto place = kit_place_of(context, folder);
  if (!place) return place.error();
  if (named) {
    if (auto exists = host::must_exist(*place); !exists) return exists.error();
  }
  lang::Checked checked = check_kit_at(context, *place);
  if (!checked.kit && named) return host::kit_has_errors(*place, checked);
  if (!checked.kit) {
    context.output.detail("the kit in " + folder + " cannot be read, so syncs that did not fire are not shown");
    return std::shared_ptr<const engine::SyncSet>();
  }
  lang::Kit kit = checked.kit->kit();
  auto set = engine::SyncSet::compile(std::make_shared<const lang::CheckedKit>(*std::move(checked.kit)));
  if (!set) return set.error();
  if ((*set)->hash() == hash) return set;
  if (named) {
    context.output.note("The syncs in " + folder + " are not those that this flow goes on under.");
    return set;
  }
  // The kit has changed since; what the flow goes on under is kept.
  auto kept = engine::kept_set(snapshot, hash, kit);
  if (kept) return kept;
  context.output.note("Syncs that did not fire are not shown: " + kept.error().message + ".");
  return std::shared_ptr<const engine::SyncSet>();
}

Result<FlowView> read_view(const Context& context, store::Snapshot& snapshot, const store::FlowRow& row, bool misses) {
  auto flow = view_flow(snapshot, row);
  if (!flow || !misses) return flow;
  auto set = syncs_of(context, snapshot, row.sync_set);
  if (!set) return set.error();
  if (*set) {
    const engine::History& history = flow->history;
    flow->misses = engine::near_misses(**set, engine::records_of(history, **set), history.dead_ends());
    for (const auto& [at, record] : engine::open_records_of(history, **set)) {
      auto syncs = engine::awaiting(**set, *record);
      if (!syncs.empty()) flow->awaited_by[at] = std::move(syncs);
    }
  }
  return flow;
}

using Tell = std::string (*)(const FlowView&, const Context&, const Terminal&);

Result<Code> tell_flow(Context& context, bool misses, Tell tell) {
  std::string name = context.given.text("flow");
  auto reading = begin_reading(context);
  if (!reading) return reading.error();
  if (!*reading) {
    if (name == kLatest) return say_nothing_has_run(context, nullptr);
    return host::nothing_has_run();
  }
  store::Snapshot& snapshot = *(*reading)->snapshot;
  auto row = find_flow(snapshot, name);
  if (!row) return row.error();
  auto flow = read_view(context, snapshot, *row, misses);
  if (!flow) return flow.error();
  context.output.print(flow_json(*flow), [&](const Terminal& terminal) { return tell(*flow, context, terminal); });
  return Code::ok;
}

Result<Code> show(Context& context) {
  return tell_flow(context, false, [](const FlowView& flow, const Context&, const Terminal& terminal) {
    return show_text(flow, terminal);
  });
}

Result<Code> trace(Context& context) {
  return tell_flow(context, true, [](const FlowView& flow, const Context& given, const Terminal& terminal) {
    return trace_text(flow, given.given.flag("gates"), terminal);
  });
}

// ----------------------------------------------------------------------------------------------------------- why

Result<Code> why(Context& context) {
  std::string name = context.given.text("id");
  auto reading = begin_reading(context);
  if (!reading) return reading.error();
  if (!*reading) {
    if (name == kLatest) return say_nothing_has_run(context, nullptr);
    return host::nothing_has_run();
  }
  store::Snapshot& snapshot = *(*reading)->snapshot;
  auto row = find_flow(snapshot, name);
  if (row) {
    auto flow = read_view(context, snapshot, *row, true);
    if (!flow) return flow.error();
    context.output.print(flow_json(*flow), [&](const Terminal& terminal) { return why_text(*flow, terminal); });
    return Code::ok;
  }
  if (row.error().code != Code::not_found || name == kLatest) return row.error();
  auto found = find_invocation(snapshot, name);
  if (!found) return found.error();
  auto flow = view_flow(snapshot, found->flow);
  if (!flow) return flow.error();
  auto at = flow->history.find(found->invocation);
  if (!at) return row.error();
  context.output.print(invocation_json(flow->history, *at),
                       [&](const Terminal& terminal) { return why_text(*flow, *at, terminal); });
  return Code::ok;
}

}  // namespace flow_commands

void add_flow_commands(Commands& commands) {
  using namespace flow_commands;
  const std::string ids =
      "A flow is named by its id, by at least 6 characters of its beginning or its end that no other flow has, or as "
      "`latest`.";
  const Arg flow{.name = "flow", .help = "the flow's id, a part of it, or latest"};
  const Option kit{
      .name = "kit", .value = "FOLDER", .help = "the kit, to name the syncs that did not fire", .kind = Kind::path};
  commands.add_noun({.name = "flow", .group = Group::operate, .summary = "Follow what runs and what ran"});
  commands.add(
      {.name = "flow list",
       .summary = "List flows, the newest first",
       .options = {{.name = "failed", .help = "only those that failed or are stuck"},
                   {.name = "since",
                    .value = "TIME",
                    .help = "only what is not older than this, as 90m or 7d",
                    .kind = Kind::duration},
                   {.name = "limit", .value = "N", .help = "how many at most", .kind = Kind::count, .fallback = "50"},
                   lock_timeout_option()},
       .example = "sluice flow list --failed --since 7d",
       .run = list});
  commands.add({.name = "flow show",
                .summary = "Show a flow's state, its call and what it waits for",
                .details = ids,
                .args = {flow},
                .options = {lock_timeout_option()},
                .example = "sluice flow show latest",
                .run = show});
  commands.add({.name = "flow trace",
                .summary = "Show what happened in a flow, and what did not",
                .details = ids + "\n\nWhat was done to answer a request stands beneath it; what followed from a "
                                 "completion stands beside it. Repeats are folded; --output json has them all.",
                .args = {flow},
                .options = {{.name = "gates", .help = "show what the flow waits for, and which syncs go on from there"},
                            kit,
                            lock_timeout_option()},
                .example = "sluice flow trace latest --gates",
                .run = trace});
  commands.add({.name = "why",
                .group = Group::operate,
                .summary = "Explain why a flow or an invocation is as it is",
                .details = ids + " Invocations likewise; `flow trace` shows the ends of their ids.",
                .args = {{.name = "id", .help = "the id of a flow or an invocation, a part of it, or latest"}},
                .options = {kit, lock_timeout_option()},
                .example = "sluice why latest",
                .run = why});
}

}  // namespace sluice::cli
