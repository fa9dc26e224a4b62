// sluice access: who may do what. The policy is one document, tokens show who calls; a token's secret is made here and
// never leaves this process but in the line that is printed.
#include <array>
#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/json.h"
#include "base/random.h"
#include "base/table.h"
#include "base/utc_time.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/command_door.h"
#include "cli/losing.h"
#include "cli/opening.h"
#include "crypto/base64.h"
#include "deploy/access_policy.h"
#include "deploy/deploy_kit.h"
#include "host/access_views.h"

namespace sluice::cli {
namespace access_commands {

using deploy::AccessPolicy;

constexpr size_t kMaxPolicyBytes = size_t{8} << 20U;
constexpr size_t kSecretBytes = 32;

std::string joined(const std::vector<std::string>& texts, const std::string& otherwise) {
  std::string text;
  for (const std::string& each : texts) text += (text.empty() ? "" : ", ") + each;
  return text.empty() ? otherwise : text;
}

std::string text_in(const json::value& object, std::string_view name) {
  const json::value* value = object.as_object().if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

Result<host::Answer> ask(Context& context, const std::string& action, const json::object& input) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto answer = (*door)->call(action, input);
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(context, *answer);
  return answer;
}

// ---------------------------------------------------------------------------------------------------------- tokens

Result<Code> create_token(Context& context) {
  std::array<uint8_t, kSecretBytes> random;
  RealRandom().fill(random);
  const std::string secret =
      crypto::to_base64({reinterpret_cast<const char*>(random.data()), random.size()}, crypto::Base64::url_unpadded);
  json::array environments;
  for (const std::string& each : context.given.texts("env")) environments.emplace_back(each);
  json::object input{{"name", context.given.text("name")},
                     {"subject", context.given.text("for")},
                     {"digest", host::secret_digest(secret)},
                     {"environments", std::move(environments)}};
  if (context.given.has("role")) input["role"] = context.given.text("role");
  if (auto expires_ms = context.given.number("expires")) {
    input["expires"] = utc_text(RealClock().wall_ms() + *expires_ms);
  }
  auto answer = ask(context, "Access/issue", input);
  if (!answer) return answer.error();
  json::object shown = answer->fields;
  const std::string token = host::token_text(answer->text("token"), secret);
  shown["secret"] = token;
  context.output.print(shown, [&](const Terminal&) { return token + "\n"; });
  context.output.note("It is shown this once; keep it like a password. End it with: sluice access tokens revoke " +
                      answer->text("token"));
  return Code::ok;
}

Result<Code> revoke_token(Context& context) {
  if (context.given.flag("dry-run")) {
    auto door = CommandDoor::open(context);
    if (!door) return door.error();
    return tell_loss(context, **door,
                     {.action = "Access/revoke",
                      .input = {{"token", context.given.text("name")}},
                      .what = "revoke the token " + context.given.text("name") + " for ever"});
  }
  auto answer = ask(context, "Access/revoke", {{"token", context.given.text("name")}});
  if (!answer) return answer.error();
  print_done(context, *answer, "revoked", answer->text("name") + " of " + answer->text("subject"));
  return Code::ok;
}

Result<Code> list_tokens(Context& context) {
  auto answer = ask(context, "Access/list", {});
  if (!answer) return answer.error();
  context.output.print(answer->fields, [&](const Terminal& terminal) {
    Table table{.columns = {{.title = "TOKEN", .whole = true},
                            {"NAME"},
                            {"FOR"},
                            {"NARROWED TO"},
                            {"EXPIRES"},
                            {"LAST USED"},
                            {"STATUS"}},
                .empty = "There are no tokens. Next: sluice access tokens create NAME --for user:NAME"};
    for (const json::value& each : answer->fields.at("tokens").as_array()) {
      std::vector<std::string> narrowed;
      if (std::string role = text_in(each, "role"); !role.empty()) narrowed.push_back(role);
      for (const json::value& env : each.at("environments").as_array()) narrowed.emplace_back(env.as_string());
      const std::string status = text_in(each, "status");
      table.rows.push_back({{text_in(each, "token")},
                            {text_in(each, "name")},
                            {text_in(each, "subject")},
                            {joined(narrowed, "")},
                            {text_in(each, "expires")},
                            {text_in(each, "lastUsed")},
                            {status, status == "good" ? Style::good : Style::faint}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

// -------------------------------------------------------------------------------------------------------- sessions

Result<Code> list_sessions(Context& context) {
  auto answer = ask(context, "Session/list", {});
  if (!answer) return answer.error();
  context.output.print(answer->fields, [&](const Terminal& terminal) {
    Table table{
        .columns = {{.title = "SESSION", .whole = true}, {"OF"}, {"FROM"}, {"EXPIRES"}, {"LAST USED"}, {"STATUS"}},
        .empty = "Nobody has logged in with a browser."};
    for (const json::value& each : answer->fields.at("sessions").as_array()) {
      const std::string status = text_in(each, "status");
      table.rows.push_back({{text_in(each, "session")},
                            {text_in(each, "subject")},
                            {text_in(each, "address")},
                            {text_in(each, "expires")},
                            {text_in(each, "lastUsed")},
                            {status, status == "open" ? Style::good : Style::faint}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

Result<Code> sessions(Context& context) {
  if (context.given.text("verb") == "list") return list_sessions(context);
  if (!context.given.has("session")) {
    return Error{.code = Code::usage, .message = "say which session, by its id", .next = "sluice access sessions list"};
  }
  auto answer = ask(context, "Session/end", {{"session", context.given.text("session")}});
  if (!answer) return answer.error();
  print_done(context, *answer, "ended", answer->text("session") + " of " + answer->text("subject"));
  return Code::ok;
}

// ---------------------------------------------------------------------------------------------------------- policy

Result<std::string> read_policy(Context& context) {
  if (!context.given.has("file")) return Error{.code = Code::usage, .message = "say which file holds the policy"};
  auto text = read_file(context.disk, context.given.text("file"), kMaxPolicyBytes);
  if (!text) return text.error();
  // What is wrong with it is told here, with the line.
  if (auto policy = AccessPolicy::parse(*text, context.given.text("file")); !policy) return policy.error();
  return text;
}

Result<Code> apply_policy(Context& context) {
  auto text = read_policy(context);
  if (!text) return text.error();
  json::object input{{"policy", *text}};
  if (auto version = context.given.number("number")) input["version"] = *version;
  auto answer = ask(context, "Access/apply", input);
  if (!answer) return answer.error();
  print_done(context, *answer, "applied",
             "version " + write(answer->fields.at("version")) + ", grants: " + write(answer->fields.at("grants")));
  return Code::ok;
}

Result<Code> show_policy(Context& context) {
  json::object input;
  if (auto version = context.given.number("number")) input["version"] = *version;
  auto answer = ask(context, "Access/show", input);
  if (!answer) return answer.error();
  context.output.print(answer->fields, [&](const Terminal&) {
    const std::string policy = answer->text("policy");
    return policy.empty() ? std::string("No policy was applied yet: only the home's owner may do anything.\n") : policy;
  });
  return Code::ok;
}

// What the action needs, by the kit of this program.
Result<std::string> right_of(Context& context, const std::string& action) {
  auto place = kit_place_of(context, std::string(deploy::kKitFolder));
  if (!place) return place.error();
  lang::Checked checked = check_kit_at(context, *place);
  if (!checked.kit) return host::kit_has_errors(*place, checked);
  auto symbol = host::callable(*checked.kit, action);
  if (!symbol) return symbol.error();
  return (*symbol)->right;
}

Result<Code> print_verdict(Context& context, const host::CanView& view) {
  context.output.print(to_json(view), [&](const Terminal& terminal) {
    return terminal.paint(view.allowed ? Style::good : Style::bad, view.allowed ? "allowed" : "denied") + "  " +
           view.action + ": " + view.why + (view.allowed && view.reason_needed ? "; it must say why" : "") + "\n";
  });
  return view.allowed ? Code::ok : Code::denied;
}

Result<Code> test_policy(Context& context) {
  auto text = read_policy(context);
  if (!text) return text.error();
  auto policy = AccessPolicy::parse(*text, context.given.text("file"));
  if (!context.given.has("action") || !context.given.has("as")) {
    return Error{.code = Code::usage,
                 .message = "access policy test takes a file, an action and --as",
                 .next = "sluice access policy test policy.yaml Traffic/set --as user:ann --env staging"};
  }
  const std::string action = context.given.text("action");
  auto right = right_of(context, action);
  if (!right) return right.error();
  if (auto sound = deploy::check_subject(context.given.text("as")); !sound) return sound.error();
  deploy::Wanted wanted{.action = action, .right = *right};
  if (context.given.has("env")) wanted.environments = {context.given.text("env")};
  if (auto labels = context.given.texts("label"); !labels.empty()) wanted.labels = {labels.begin(), labels.end()};
  const deploy::Identity who{.subject = context.given.text("as"), .groups = context.given.texts("group")};
  const auto verdict = policy->judge(who, wanted);
  return print_verdict(context,
                       {who.subject, action, *right, verdict.allowed, verdict.why, policy->demands_reason(wanted)});
}

// ------------------------------------------------------------------------------------------------------ who and what

Result<Code> whoami(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto view = (*door)->read<host::WhoamiView>("whoami");
  if (!view) return view.error();
  context.output.print(to_json(*view), [&](const Terminal& terminal) {
    std::string text = terminal.paint(Style::strong, view->caller) + (view->owner ? ", owner of this home\n" : "\n");
    Table table{.columns = {{"ROLE"}, {"ACTIONS"}, {"DENIED"}, {"ENVIRONMENTS"}, {"LABELS"}},
                .empty = view->owner ? "" : "The access policy gives you nothing."};
    for (const deploy::AccessGrant& each : view->grants) {
      table.rows.push_back({{each.role ? std::string(deploy::role_name(*each.role)) : ""},
                            {joined(each.allow, "")},
                            {joined(each.deny, "")},
                            {each.environments ? joined(*each.environments, "") : "everywhere"},
                            {joined(each.labels, "")}});
    }
    return view->owner ? text : text + render(table, terminal);
  });
  return Code::ok;
}

Result<host::CanView> judged(Context& context, const std::optional<std::string>& as) {
  host::CanQuery query{.action = context.given.text("action"), .labels = context.given.texts("label"), .as = as};
  if (context.given.has("env")) query.environment = context.given.text("env");
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  return (*door)->read<host::CanView>("access-can", to_json(query).as_object());
}

Result<Code> can(Context& context) {
  auto view = judged(context, std::nullopt);
  if (!view) return view.error();
  return print_verdict(context, *view);
}

Result<Code> explain(Context& context) {
  auto view = judged(context, context.given.text("subject"));
  if (!view) return view.error();
  (void)print_verdict(context, *view);
  return Code::ok;
}

Result<Code> tokens(Context& context) {
  const std::string verb = context.given.text("verb");
  if (verb == "list") return list_tokens(context);
  if (!context.given.has("name") || (verb == "create" && !context.given.has("for"))) {
    return Error{
        .code = Code::usage,
        .message =
            verb == "create" ? "say what the token is called, and --for whom it is" : "say which token, by its id",
        .next = verb == "create" ? "sluice access tokens create laptop --for user:ann" : "sluice access tokens list"};
  }
  return verb == "create" ? create_token(context) : revoke_token(context);
}

Result<Code> policy(Context& context) {
  const std::string verb = context.given.text("verb");
  if (verb == "show") return show_policy(context);
  return verb == "apply" ? apply_policy(context) : test_policy(context);
}

const Arg kAction{.name = "action", .help = "as Concept/action"};
const Option kEnv{.name = "env", .value = "ENV", .help = "the environment; by default none"};
const Option kLabel{.name = "label", .value = "KEY=VALUE", .help = "of the deployment", .repeated = true};

}  // namespace access_commands

void add_access_commands(Commands& commands) {
  using namespace access_commands;
  commands.add_noun({.name = "access", .group = Group::team, .summary = "Decide who may do what"});
  commands.add({.name = "access whoami",
                .summary = "Show who you are and what you may do",
                .options = reading_options(),
                .example = "sluice access whoami",
                .run = whoami});
  commands.add({.name = "access can",
                .summary = "Check whether you may call an action, and why",
                .details = "The exit code is 0 if you may, and 4 if you may not.",
                .args = {kAction},
                .options = reading_options({kEnv, kLabel}),
                .example = "sluice access can Traffic/set --env local",
                .run = can});
  commands.add({.name = "access explain",
                .summary = "Check whether somebody else may call an action, and why",
                .args = {{.name = "subject", .help = "user:NAME or service:NAME"}, kAction},
                .options = reading_options({kEnv, kLabel}),
                .example = "sluice access explain user:ann Traffic/set --env local",
                .run = explain});
  commands.add(
      {.name = "access policy",
       .summary = "Show, try or replace the access policy",
       .details = "apply puts a sluice.access-policy.v1 in the place of the policy before; --number refuses it if "
                  "another version holds by then. Nobody can grant what they do not hold, and somebody stays admin "
                  "everywhere. test FILE ACTION --as SUBJECT says what a file would give, before it is applied; its "
                  "exit code is 4 if the call would be denied.",
       .args = {{.name = "verb", .help = "what to do", .choices = {"show", "apply", "test"}},
                {.name = "file", .help = "of apply and test", .kind = Kind::path, .optional = true},
                {.name = "action", .help = "of test, as Concept/action", .optional = true}},
       .options = changing_options(
           {{.name = "number",
             .value = "N",
             .help = "the version to show, or that must hold before apply",
             .kind = Kind::count},
            {.name = "as", .value = "SUBJECT", .help = "of test: user:NAME or service:NAME"},
            {.name = "group", .value = "GROUP", .help = "of test: group:NAME that they are in", .repeated = true},
            kEnv,
            kLabel}),
       .example = "sluice access policy show",
       .run = policy});
  commands.add(
      {.name = "access tokens",
       .summary = "List, make or revoke the tokens of people and programs",
       .details = "create NAME --for SUBJECT makes one: it may do what the policy gives the subject, and --env and "
                  "--role narrow that. Its secret is shown once, and kept only as a digest. revoke TOKEN ends one at "
                  "once.",
       .args = {{.name = "verb", .help = "what to do", .choices = {"list", "create", "revoke"}},
                {.name = "name", .help = "of create, what it is for; of revoke, the token's id", .optional = true}},
       .options = changing_options(
           {{.name = "for", .value = "SUBJECT", .help = "user:NAME or service:NAME"},
            {.name = "env", .value = "PATTERN", .help = "only in these environments", .repeated = true},
            {.name = "role",
             .value = "ROLE",
             .help = "this role at most",
             .choices = {"viewer", "deployer", "operator", "admin"}},
            {.name = "dry-run", .help = "of revoke: say what would be lost, and stop"},
            {.name = "expires", .value = "TIME", .help = "after so long, such as 90d", .kind = Kind::duration}}),
       .example = "sluice access tokens list",
       .run = tokens});
  commands.add({.name = "access sessions",
                .summary = "List or end the sessions of browsers that logged in",
                .details = "A session ends after twelve hours, with the token that it was opened with, and when its "
                           "person logs out. end SESSION ends one at once.",
                .args = {{.name = "verb", .help = "what to do", .choices = {"list", "end"}},
                         {.name = "session", .help = "of end, as list shows it", .optional = true}},
                .options = changing_options({}),
                .example = "sluice access sessions list",
                .run = sessions});
}

}  // namespace sluice::cli
