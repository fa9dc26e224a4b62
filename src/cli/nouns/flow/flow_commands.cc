// sluice flow and sluice why: what runs, what ran, and why it is as it is. Each is a view of the host.
#include <boost/json.hpp>
#include <filesystem>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/command_door.h"
#include "cli/fitting_table.h"
#include "cli/nouns/flow/flow_text.h"
#include "cli/opening.h"
#include "deploy/views/approvals.h"
#include "host/flows/flow_views.h"
#include "host/home_store.h"
#include "host/kit_place.h"

namespace sluice::cli {
namespace flow_commands {

// The one thing that a command can say of an empty home without having been asked for something in it.
Code say_nothing_has_run(Context& context, const json::value& empty) {
  Error error = host::nothing_has_run();
  context.output.print(empty,
                       [&](const Terminal&) { return "Nothing has run here yet.\nnext:  " + error.next + "\n"; });
  return Code::ok;
}

bool says_nothing_has_run(const Error& error) { return error.message == host::nothing_has_run().message; }

Style style_of(const std::string& state) {
  if (state == "settled") return Style::good;
  return state == "failed" || state == "stuck" ? Style::bad : Style::accent;
}

Result<Code> list(Context& context) {
  const bool table_wanted = context.output.settings().format == Format::table;
  host::FlowsQuery query{.failed = context.given.flag("failed"), .limit = context.given.number("limit").value_or(0)};
  if (query.limit == 0) {
    return Error{.code = Code::usage, .message = "--limit is at least 1", .next = "sluice flow list --limit 1"};
  }
  if (auto age = context.given.number("since")) query.since = lang::DateTime{.ms = RealClock().wall_ms() - *age};
  // People are told whether there are more.
  const auto limit = static_cast<size_t>(query.limit);
  if (table_wanted) ++query.limit;
  auto door = CommandDoor::open_any(context);
  if (!door) return door.error();
  auto answer = (*door)->view("flows", to_json(query).as_object());
  if (!answer) return answer.error();
  if (answer->position == 0) return say_nothing_has_run(context, answer->document);
  auto flows = read<std::vector<host::ListedFlow>>(answer->document);
  if (!flows) return flows.error();
  const bool more = flows->size() > limit;
  if (more) flows->resize(limit);
  context.output.print(answer->document, [&](const Terminal& terminal) {
    Table table{
        .columns = {{.title = "FLOW", .whole = true}, {"STATE"}, {"ACTION"}, {"CALLER"}, {"BEGAN"}, {"FAILURE"}},
        .empty = query.failed ? "No flow has failed." : "No flows."};
    for (const host::ListedFlow& each : *flows) {
      table.rows.push_back({{each.flow},
                            {each.state, style_of(each.state)},
                            {each.action},
                            {each.caller},
                            {utc_text(each.beganAt.ms)},
                            {each.failure.value_or("")}});
    }
    return render_fitting(std::move(table), terminal, {"CALLER"});
  });
  if (more) context.output.note("There are more; --limit shows more of them.");
  return Code::ok;
}

// The kit at --kit, as whoever reads the view finds it.
std::string given_kit(const Context& context) {
  const std::string kit = context.given.text("kit");
  std::error_code ignored;
  return std::filesystem::exists(kit, ignored) ? absolute_folder(kit) : kit;
}

// Prints a view of one thing; of an empty home it is said that it is one where nothing special was asked for.
template <class Document>
Result<Code> tell(Context& context, const std::string& view, const json::object& query, const std::string& name,
                  const std::function<std::string(const Document&, const Terminal&)>& text) {
  auto door = CommandDoor::open_any(context);
  if (!door) return door.error();
  auto answer = (*door)->view(view, query);
  if (!answer && name == host::kLatest && says_nothing_has_run(answer.error())) {
    return say_nothing_has_run(context, nullptr);
  }
  if (!answer) return answer.error();
  auto document = read<Document>(answer->document);
  if (!document) return document.error();
  context.output.print(answer->document, [&](const Terminal& terminal) { return text(*document, terminal); });
  for (const std::string& note : document->notes) context.output.note(note);
  return Code::ok;
}

Result<Code> show(Context& context) {
  const std::string name = context.given.text("flow");
  return tell<host::FlowDocument>(context, "flow", {{"flow", name}}, name, show_text);
}

Result<Code> trace(Context& context) {
  const std::string name = context.given.text("flow");
  const host::FlowQuery query{.flow = name, .misses = true, .kit = given_kit(context)};
  return tell<host::FlowDocument>(context, "flow", to_json(query).as_object(), name,
                                  [&](const host::FlowDocument& flow, const Terminal& terminal) {
                                    return trace_text(flow, context.given.flag("gates"), terminal);
                                  });
}

// Whether the name is that of a call that waits, or waited, for approval; then it is told of.
Result<bool> told_approval(Context& context, const std::string& name) {
  if (!Ulid::parse(name)) return false;
  auto door = CommandDoor::open_any(context);
  if (!door) return door.error();
  auto found = (*door)->look("approvals", {{"approval", name}, {"over", true}});
  if (!found || !found->document.is_array() || found->document.get_array().size() != 1) return false;
  auto asked = read<deploy::views::ApprovalDocument>(found->document.get_array()[0]);
  if (!asked) return false;
  host::WhyDocument why{.kind = "approval", .id = asked->approval};
  why.said.push_back(asked->requester + " asked for " + asked->action + " " + write(asked->input) + "; it is " +
                     asked->status + ", and " + std::to_string(asked->yes.size()) + " of " +
                     std::to_string(asked->needed) + " people agree.");
  if (!asked->outcome.empty()) why.said.push_back("Its outcome: " + asked->outcome);
  if (asked->status == "waiting") why.notes.push_back("next:  another person runs: sluice approvals approve " + name);
  context.output.print(to_json(why), [&](const Terminal& terminal) {
    std::string text;
    for (const std::string& each : why.said) text += sentence(each, terminal);
    return text;
  });
  for (const std::string& note : why.notes) context.output.note(note);
  return true;
}

Result<Code> why(Context& context) {
  const std::string name = context.given.text("what");
  auto told = told_approval(context, name);
  if (!told) return told.error();
  if (*told) return Code::ok;
  const host::WhyQuery query{.about = name,
                             .rules = context.given.flag("rules") || context.given.has("kit"),
                             .kit = given_kit(context),
                             .customer = context.given.text("customer-id")};
  return tell<host::WhyDocument>(context, "why", to_json(query).as_object(), name,
                                 [](const host::WhyDocument& why, const Terminal& terminal) {
                                   std::string text;
                                   for (const std::string& each : why.said) text += sentence(each, terminal);
                                   return text;
                                 });
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
  commands.add_noun({.name = "flow", .group = Group::see, .summary = "Follow flows: what runs, and what ran"});
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
  commands.add(
      {.name = "flow trace",
       .summary = "Show what happened in a flow, and what did not",
       .details = ids + "\n\nWhat was done to answer a request stands beneath it; what followed from a "
                        "completion stands beside it. Repeats are folded; --output json has them all.",
       .args = {flow},
       .options = {{.name = "gates", .help = "show what the flow waits for, and which syncs continue from there"},
                   kit,
                   lock_timeout_option()},
       .example = "sluice flow trace latest --gates",
       .run = trace});
  commands.add(
      {.name = "why",
       .group = Group::see,
       .summary = "Explain the state of something, and what it waits for",
       .details = "Takes what you have: a revision (hello@2), a deployment (hello, or its id), an environment, a "
                  "router, a flow or an invocation. Of an object it says how it stands, what it waits for and for how "
                  "much longer, and which flow made it so.\n\n" +
                  ids + " Invocations are named the same way; `flow trace` shows the ends of their ids.",
       .args = {{.name = "what", .help = "a revision, deployment, environment, router, flow or invocation; or latest"}},
       .options = {{.name = "rules", .help = "name the syncs and guards that decided it, and those that did not fire"},
                   kit,
                   customer_option(),
                   lock_timeout_option()},
       .example = "sluice why latest",
       .run = why});
}

}  // namespace sluice::cli
