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

// A message through the routers, to each revision that the split names or to one of them.
Result<Code> path(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  const std::string name = context.given.text("name");
  auto meant = meant_by(context, **door, name);
  if (!meant) return meant.error();
  json::object input;
  if (name.find('@') == std::string::npos) {
    input["sync"] = meant->deployment;
  } else {
    input["sync"] = meant->revisions.front().deployment;
    input["concepts"] = json::array{json::string(meant->revisions.front().revision)};
  }
  auto answer = (*door)->call("Health/checkSync", input);
  if (!answer) return answer.error();
  const std::string what = name.empty() ? meant->bundle : name;
  if (answer->code == Code::ok) {
    print_done(context, *answer, "reached",
               what + " through every router, in " + write(answer->fields.at("roundTripMs")) + " ms");
    return Code::ok;
  }
  Error error = refusal_in_words(context, *answer, meant->environment);
  error.message = answer->variant == "timeout"
                      ? what + " did not answer a message through the routers within " +
                            write(answer->fields.at("timeoutMs")) + " ms"
                      : what + " was not reached through the routers: " + answer->text("reason");
  error.next = "sluice why " + what;
  return error;
}

Result<Code> invariant(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  const std::string name = context.given.text("revision"), wanted = context.given.text("invariant");
  auto meant = meant_by(context, **door, name);
  if (!meant) return meant.error();
  if (meant->revisions.empty()) {
    return Error{.code = Code::usage, .message = "expected a revision, such as " + name + "@1"};
  }
  auto answer =
      (*door)->call("Health/checkInvariant", {{"concept", meant->revisions.front().revision}, {"invariant", wanted}});
  if (!answer) return answer.error();
  if (answer->code == Code::ok) {
    print_done(context, *answer, "holds", wanted.empty() ? "every invariant of " + name : wanted + " in " + name);
    return Code::ok;
  }
  Error error = refusal_in_words(context, *answer, meant->environment);
  if (answer->variant == "violated") {
    error.message = name + " violates " + answer->text("invariant") + ": expected " + answer->text("expected") +
                    ", got " + answer->text("actual");
    error.next = "sluice logs " + name;
  } else {
    error.message = name + ": " + answer->text("reason");
    error.next = answer->variant == "undeclared" ? "see docs/guide/health.md, Invariants" : "sluice why " + name;
  }
  return error;
}

const std::vector<Option> kWhere = {
    {.name = "env", .value = "ENV", .help = "in this environment", .fallback = "local"},
    {.name = "customer-id", .value = "CUSTOMER", .help = "the customer whose deployment is meant"}};

}  // namespace health_commands

void add_health_commands(Commands& commands) {
  using namespace health_commands;
  commands.add_noun({.name = "health", .group = Group::see, .summary = "Ask whether what is deployed answers"});
  commands.add({.name = "health check",
                .summary = "Ask a deployment, or one revision of it, at its health path",
                .details = "Of a deployment every revision that its split names is asked. Exit 0 if all answer, 7 if "
                           "one does not, or is slow.",
                .args = {{.name = "name", .help = "BUNDLE, or BUNDLE@SEQUENCE for one revision", .optional = true}},
                .options = reading_options(kWhere),
                .example = "sluice health check hello --env local",
                .run = check});
  commands.add({.name = "health path",
                .summary = "Send a request through every router to what is deployed",
                .details =
                    "Each router of the environment sends a request to each revision that the split names, at its "
                    "health path, as it would send a customer's. Exit 0 if all are answered, 7 if not.",
                .args = {{.name = "name", .help = "BUNDLE, or BUNDLE@SEQUENCE for one revision", .optional = true}},
                .options = reading_options(kWhere),
                .example = "sluice health path hello --env local",
                .run = path});
  std::vector<Option> of_invariant = kWhere;
  of_invariant.push_back({.name = "invariant", .value = "NAME", .help = "this one alone; all if left out"});
  commands.add({.name = "health invariant",
                .summary = "Try a concept's invariants in the program that serves it",
                .details = "The program declares its concept at /.well-known/sluice-concept. The steps of an invariant "
                           "are made in a scratch tenant, which is forgotten afterwards. Exit 0 if they hold, 7 if one "
                           "is violated, 5 if the program declares none.",
                .args = {{.name = "revision", .help = "BUNDLE@SEQUENCE"}},
                .options = reading_options(of_invariant),
                .example = "sluice health invariant hello@1 --env local",
                .run = invariant});
}

}  // namespace sluice::cli
