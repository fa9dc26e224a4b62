// sluice approvals: calls that wait for people to agree.
#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/action_command.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/command_door.h"
#include "cli/opening.h"
#include "deploy/views/approvals.h"

namespace sluice::cli {
namespace approval_commands {

namespace views = deploy::views;

// What the call is about, on one line: "deployment=01K… steps=1".
std::string brief(const json::value& input) {
  constexpr size_t kMostCharacters = 120;
  std::string text;
  if (!input.is_object()) return text;
  for (const auto& each : input.get_object()) {
    if (each.value().is_null()) continue;
    text += (text.empty() ? "" : " ") + std::string(each.key()) + "=" +
            (each.value().is_string() ? std::string(each.value().get_string()) : write(each.value()));
  }
  if (text.size() > kMostCharacters) text = text.substr(0, kMostCharacters) + "…";
  return text;
}

Result<Code> list(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto all = (*door)->read<std::vector<views::ApprovalDocument>>("approvals", {{"over", context.given.flag("all")}});
  if (!all) return all.error();
  context.output.print(to_json(*all), [&](const Terminal& terminal) {
    Table table{
        .columns = {{"APPROVAL"}, {"STATUS"}, {"WHO"}, {"WHAT"}, {"ABOUT"}, {"ENVIRONMENT"}, {"AGREED"}, {"REASON"}}};
    for (const views::ApprovalDocument& each : *all) {
      table.rows.push_back({{each.approval},
                            {each.status},
                            {each.requester},
                            {each.action + (each.part_of ? " in " + *each.part_of : "")},
                            {brief(each.input)},
                            {each.environment.value_or("")},
                            {std::to_string(each.yes.size()) + " of " + std::to_string(each.needed)},
                            {each.reason}});
    }
    return all->empty() ? std::string("nothing waits for approval\n") : render(table, terminal);
  });
  return Code::ok;
}

Result<Code> vote(Context& context, bool agree) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  const std::string given = context.given.text("approval");
  auto found = (*door)->read<std::vector<views::ApprovalDocument>>("approvals", {{"approval", given}});
  if (!found) return found.error();
  if (found->size() != 1) {
    return Error{.code = found->empty() ? Code::not_found : Code::conflict,
                 .message = (found->empty() ? "there is no approval " : "several approvals begin with ") + given,
                 .next = "sluice approvals list"};
  }
  json::object input{{"approval", found->front().approval}, {"agree", agree}};
  if (context.given.has("reason")) input["reason"] = context.given.text("reason");
  auto answer = (*door)->call("Approval/vote", input);
  if (!answer) return answer.error();
  if (answer->code != Code::ok) {
    Error error = refusal_in_words(context, *answer);
    if (answer->variant == "ownRequest") {
      error.next = "another person runs: sluice approvals approve " + found->front().approval;
    }
    return error;
  }
  const bool more = answer->variant == "counted";
  print_done(context, *answer, agree ? "agreed" : "rejected",
             found->front().action + " of " + found->front().requester +
                 (more    ? "; it needs " + std::to_string(found->front().needed)
                  : agree ? "; it runs now"
                          : ""));
  return Code::ok;
}

}  // namespace approval_commands

void add_approval_commands(Commands& commands) {
  using namespace approval_commands;
  commands.add_noun(
      {.name = "approvals", .group = Group::team, .summary = "Approve or reject calls that need approval"});
  commands.add(
      {.name = "approvals list",
       .summary = "List calls that wait for approval",
       .details = "A policy with `approvals:` has others agree before something is done. The call waits, its "
                  "command exits with 10, and it runs when enough people have agreed.",
       .options = {lock_timeout_option(), {.name = "all", .help = "include those that were decided or expired"}},
       .example = "sluice approvals list",
       .run = list});
  const Arg which{.name = "approval", .help = "its id, or the beginning of it"};
  commands.add({.name = "approvals approve",
                .summary = "Approve a call; the last approval needed runs it",
                .args = {which},
                .options = changing_options({}),
                .example = "sluice approvals approve 01K",
                .run = [](Context& context) { return vote(context, true); }});
  commands.add({.name = "approvals reject",
                .summary = "Reject a call, which ends it",
                .args = {which},
                .options = changing_options({}),
                .example = "sluice approvals reject 01K",
                .run = [](Context& context) { return vote(context, false); }});
}

}  // namespace sluice::cli
