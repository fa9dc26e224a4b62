// sluice webhooks: other servers that are told what happens.
#include <boost/json.hpp>

#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/command_door.h"
#include "host/events.h"

namespace sluice::cli {
namespace webhook_commands {

std::string text_in(const json::value& object, std::string_view name) {
  const json::value* value = object.as_object().if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

Result<host::Answer> call(CommandDoor& door, Context& context, const std::string& action, const json::object& input) {
  auto answer = door.call(action, input, host::WaitFor::answer);
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(context, *answer);
  return answer;
}

// By its name or its id.
Result<std::string> webhook_named(CommandDoor& door, Context& context) {
  const std::string wanted = context.given.text("webhook");
  auto answer = call(door, context, "Webhook/list", {});
  if (!answer) return answer.error();
  for (const json::value& each : answer->fields.at("webhooks").as_array()) {
    if (text_in(each, "name") == wanted || text_in(each, "webhook") == wanted) return text_in(each, "webhook");
  }
  return Error{.code = Code::not_found, .message = "there is no webhook " + wanted, .next = "sluice webhooks list"};
}

// The secret is told to the person, not to a log: it stands alone on standard output.
Result<Code> print_secret(Context& context, CommandDoor& door, json::object shown, const std::string& webhook,
                          const std::string& said) {
  auto view = door.view("webhook-secret", {{"webhook", webhook}});
  if (!view) return view.error();
  const std::string secret = text_in(view->document, "secret");
  shown["secret"] = secret;
  context.output.print(shown, [&](const Terminal&) { return secret + "\n"; });
  context.output.note(said);
  return Code::ok;
}

Result<Code> add(Context& context) {
  std::string events;
  for (const std::string& each : context.given.texts("event")) events += (events.empty() ? "" : ",") + each;
  if (auto types = host::event_types_in(events); !events.empty() && !types) return types.error();
  json::object input{{"name", context.given.text("name")},
                     {"url", context.given.text("url")},
                     {"events", events},
                     {"format", context.given.text("format")},
                     {"allowLocal", context.given.flag("allow-local")}};
  if (context.given.has("env")) input["environment"] = context.given.text("env");
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto answer = call(**door, context, "Webhook/create", input);
  if (!answer) return answer.error();
  return print_secret(context, **door, answer->fields, answer->text("webhook"),
                      "It signs what " + context.given.text("name") +
                          " gets: the receiver verifies with it. Next: sluice webhooks test " +
                          context.given.text("name"));
}

Result<Code> list(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto answer = call(**door, context, "Webhook/list", {});
  if (!answer) return answer.error();
  context.output.print(answer->fields, [&](const Terminal& terminal) {
    Table table{
        .columns = {{"NAME"}, {"URL"}, {"EVENTS"}, {"FORMAT"}, {"DELIVERED", Align::right}, {"LAST"}, {"TROUBLE"}},
        .empty = "Nobody is told. Next: sluice webhooks add NAME URL"};
    for (const json::value& each : answer->fields.at("webhooks").as_array()) {
      const std::string events = text_in(each, "events"), trouble = text_in(each, "trouble");
      table.rows.push_back({{text_in(each, "name"), Style::strong},
                            {printable(text_in(each, "url"))},
                            {events.empty() ? "all" : events},
                            {text_in(each, "format")},
                            {std::to_string(each.at("delivered").as_int64())},
                            {text_in(each, "lastAt")},
                            {printable(trouble), trouble.empty() ? Style::plain : Style::bad}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

Result<Code> change(Context& context, const std::string& action, const std::string& done) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto webhook = webhook_named(**door, context);
  if (!webhook) return webhook.error();
  auto answer = call(**door, context, action, {{"webhook", *webhook}});
  if (!answer) return answer.error();
  print_done(context, *answer, done, context.given.text("webhook"));
  return Code::ok;
}

Result<Code> remove(Context& context) { return change(context, "Webhook/remove", "removed"); }
Result<Code> test(Context& context) { return change(context, "Webhook/sendTest", "delivered"); }

Result<Code> rotate(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto webhook = webhook_named(**door, context);
  if (!webhook) return webhook.error();
  auto answer = call(**door, context, "Webhook/rotate", {{"webhook", *webhook}});
  if (!answer) return answer.error();
  return print_secret(context, **door, answer->fields, *webhook,
                      "It signs from now on; the secret before it signs as well for a day.");
}

const Arg kWebhook{.name = "webhook", .help = "as webhooks list shows it"};

}  // namespace webhook_commands

void add_webhook_commands(Commands& commands) {
  using namespace webhook_commands;
  commands.add_noun({.name = "webhooks", .group = Group::team, .summary = "Tell other servers what happens"});
  commands.add(
      {.name = "webhooks add",
       .summary = "Post events to an address from now on",
       .details = "The secret that signs them is printed once you add it. A receiver that does not take an event gets "
                  "it again, with the same id, for about two hours; then it is a dead letter (sluice flow list "
                  "--failed). Addresses of this machine and of private networks need --allow-local. Redirects are not "
                  "followed.",
       .args = {{.name = "name", .help = "what to call it"}, {.name = "url", .help = "where events are posted"}},
       .options = changing_options(
           {{.name = "event", .value = "TYPE", .help = "only these: rollout.*, revision.failed", .repeated = true},
            {.name = "env", .value = "ENV", .help = "only of this environment"},
            {.name = "format",
             .value = "FORMAT",
             .help = "how an event is written",
             .choices = {"cloudevents", "slack"},
             .fallback = "cloudevents"},
            {.name = "allow-local", .help = "also to an address of this machine or of a private network"}}),
       .example = "sluice webhooks add team https://chat.example/hook --format slack --event 'rollout.*'",
       .run = add});
  commands.add({.name = "webhooks list",
                .summary = "List who is told what, and how the last delivery went",
                .options = reading_options(),
                .example = "sluice webhooks list",
                .run = list});
  commands.add({.name = "webhooks remove",
                .summary = "Send nothing there any more",
                .args = {kWebhook},
                .options = changing_options(),
                .example = "sluice webhooks remove team",
                .run = remove});
  commands.add({.name = "webhooks rotate",
                .summary = "Sign with a new secret, and print it",
                .args = {kWebhook},
                .options = changing_options(),
                .example = "sluice webhooks rotate team",
                .run = rotate});
  commands.add({.name = "webhooks test",
                .summary = "Send an event at once, and say what was answered",
                .args = {kWebhook},
                .options = changing_options(),
                .example = "sluice webhooks test team",
                .run = test});
}

}  // namespace sluice::cli
