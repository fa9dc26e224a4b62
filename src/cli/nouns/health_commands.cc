// sluice health: whether what is deployed answers now.
#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_writer.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/command_door.h"
#include "deploy/views/objects.h"

namespace sluice::cli {
namespace health_commands {

namespace views = deploy::views;

// What is meant by a name: a revision (shop@2), or a bundle's deployment.
Result<views::MeantNames> meant_by(Context& context, CommandDoor& door, const std::string& name) {
  json::object query{{"environment", context.given.text("env")}};
  if (context.given.has("customer-id")) query["customer"] = context.given.text("customer-id");
  if (name.find('@') == std::string::npos) {
    if (!name.empty()) query["bundle"] = name;
  } else {
    query["about"] = "revisions";
    query["revisions"] = json::array{name};
  }
  return door.read<views::MeantNames>("names", query);
}

Result<Code> check(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  const std::string name = context.given.text("name");
  auto meant = meant_by(context, **door, name);
  if (!meant) return meant.error();
  const bool one = name.find('@') != std::string::npos;
  auto answer =
      one ? (*door)->call("Health/checkConcept", {{"concept", meant->revisions.front().revision}})
          : (*door)->call("Health/checkKit", {{"kit", meant->deployment}, {"environment", meant->environment}});
  if (!answer) return answer.error();
  const std::string what = one ? name : meant->bundle + " for " + meant->customer;
  if (answer->code == Code::ok) {
    print_done(context, *answer, "healthy", what);
    return Code::ok;
  }
  Error error = refusal_in_words(context, *answer, meant->environment);
  std::string which;
  for (const char* list : {"failed", "degraded"}) {
    const auto* all = answer->fields.if_contains(list);
    if (all == nullptr || !all->is_array()) continue;
    for (const auto& each : all->as_array()) which += (which.empty() ? "" : ", ") + std::string(each.as_string());
  }
  error.message = what + (answer->variant == "degraded" ? " answers slowly" : " does not answer") +
                  (which.empty() ? "" : ": " + which);
  error.next = "sluice why " + (name.empty() ? meant->bundle : name);
  return error;
}

}  // namespace health_commands

void add_health_commands(Commands& commands) {
  using namespace health_commands;
  commands.add_noun({.name = "health", .group = Group::operate, .summary = "Ask whether what is deployed answers"});
  commands.add({.name = "health check",
                .summary = "Ask a deployment, or one revision of it, at its health path",
                .details = "Of a deployment every revision that its split names is asked. Exit 0 if all answer, 7 if "
                           "one does not, or is slow.",
                .args = {{.name = "name", .help = "BUNDLE, or BUNDLE@SEQUENCE for one revision", .optional = true}},
                .options = reading_options(
                    {{.name = "env", .value = "ENV", .help = "in this environment", .fallback = "local"},
                     {.name = "customer-id", .value = "CUSTOMER", .help = "the customer whose deployment is meant"}}),
                .example = "sluice health check hello --env local",
                .run = check});
}

}  // namespace sluice::cli
