// sluice trust: whose signatures count. Each command is one action of the concept Trust, so that it is in the audit.
#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/replaceable.h"
#include "base/table.h"
#include "base/utc_time.h"
#include "bundle/trust/trust_root.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/command_door.h"
#include "cli/losing.h"
#include "cli/opening.h"
#include "crypto/ed25519.h"
#include "crypto/key_file.h"
#include "crypto/pem.h"
#include "trust.gen.h"

namespace sluice::cli {
namespace trust_commands {

json::array array_of(const std::vector<std::string>& texts) {
  json::array array;
  for (const std::string& each : texts) array.emplace_back(each);
  return array;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string text;
  for (const std::string& each : texts) text += (text.empty() ? "" : ", ") + each;
  return text;
}

// What the variants that several actions share are to a person.
Error refusal(const Context& context, const host::Answer& answer) {
  Error error = refusal_in_words(context, answer);
  std::string key = answer.text("key");
  if (answer.variant == "notFound" && !key.empty()) {
    error.message = "there is no key " + key + " in the trust root";
    error.next = "sluice trust list";
  } else if (answer.variant == "notFound") {
    error.message = "there is no group " + answer.text("group") + " in the trust root";
    error.next = "sluice trust list";
  } else if (answer.variant == "revoked") {
    error.message = "key " + key + " is revoked, and stays so: " + answer.text("reason");
    error.next = "use another key";
  } else if (answer.variant == "exists") {
    error.message = "key " + key + " is trusted already, with another scope";
    error.next = "sluice trust remove " + key + ", then add it again";
  } else if (answer.variant == "otherThreshold") {
    std::string group = answer.text("group");
    error.message = "group " + group + " has the threshold " + write(answer.fields.at("threshold"));
    error.next = "leave --threshold out, or: sluice trust threshold " + group + " N";
  } else if (answer.variant == "full") {
    error.message = "a trust root holds " + write(answer.fields.at("limit")) + " keys, and this one has as many";
    error.next = "sluice trust remove KEY";
  }
  return error;
}

// Calls, and tells what came of it.
Result<Code> decide(Context& context, const std::string& action, const json::object& input, const std::string& done) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto answer = (*door)->call(action, input);
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal(context, *answer);
  print_done(context, *answer, done, answer->text(answer->fields.contains("key") ? "key" : "group"));
  return Code::ok;
}

// ------------------------------------------------------------------------------------------- bootstrap, add, remove

Result<Code> bootstrap(Context& context) {
  auto home = home_of(context);
  if (!home) return home.error();
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  // The operator's key is made with the first thing that is written.
  if (auto opened = (*door)->call("Env/open", {}, host::WaitFor::answer, "open"); !opened) return opened.error();
  auto key = crypto::load_private_key(context.disk, (home->root() / "keys" / "operator.pem").string());
  if (!key) return key.error();
  std::vector<std::string> environments = context.given.texts("env");
  if (environments.empty()) environments = {"local"};
  auto answer = (*door)->call("Trust/bootstrap",
                              {{"publicKey", key->public_key().to_pem()}, {"environments", array_of(environments)}});
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal(context, *answer);
  print_done(context, *answer, "trusted",
             answer->text("key") + "  for all bundles in " + joined(answer->texts("environments")));
  return Code::ok;
}

// "2027-01-31", "2027-01-31T12:00:00Z", or from now on: "365d".
Result<std::string> time_of(const std::string& text, const std::string& option) {
  RealClock clock;
  if (auto duration = parse_duration(text)) return utc_text(clock.wall_ms() + duration->count());
  if (auto ms = parse_utc(text)) return utc_text(*ms);
  if (auto ms = parse_utc(text + "T00:00:00Z")) return utc_text(*ms);
  return Error{.code = Code::usage,
               .message = "--" + option + " is a time such as 2030-01-31, 2030-01-31T12:00:00Z or 365d, not '" +
                          printable(text) + "'"};
}

Result<Code> add(Context& context) {
  auto pem = read_file(context.disk, context.given.text("file"), crypto::kMaxPemBytes);
  if (!pem) return pem.error();
  if (pem->find("PRIVATE KEY") != std::string::npos) {
    return Error{.code = Code::usage,
                 .message = context.given.text("file") + " holds a private key, which belongs in no trust root",
                 .next = "openssl pkey -in " + context.given.text("file") + " -pubout"};
  }
  if (auto key = crypto::PublicKey::from_pem(*pem); !key) {
    return Error{
        .code = Code::invalid,
        .message = context.given.text("file") + " holds no public key that Sluice knows: " + key.error().message,
        .next = "openssl pkey -in KEY -pubout writes that of a private key"};
  }
  auto threshold = context.given.number("threshold");
  if (threshold && !context.given.has("group")) {
    return Error{.code = Code::usage, .message = "only a group has a threshold", .next = "add --group NAME"};
  }
  if (threshold && (*threshold < 1 || *threshold > bundle::kMaxThreshold)) {
    return Error{.code = Code::usage,
                 .message = "--threshold is 1 to " + std::to_string(bundle::kMaxThreshold) + ", not " +
                            std::to_string(*threshold)};
  }
  std::vector<std::string> environments = context.given.texts("env");
  if (environments.empty()) {
    return Error{.code = Code::usage,
                 .message = "say for which environments the key may sign",
                 .next = "add --env staging, or --env '*' for all"};
  }
  std::vector<std::string> bundles = context.given.texts("bundle");
  if (bundles.empty()) bundles = {"*"};
  json::object input{{"publicKey", *pem},
                     {"label", context.given.text("label")},
                     {"environments", array_of(environments)},
                     {"bundles", array_of(bundles)}};
  for (auto [option, field] : {std::pair{"not-before", "notBefore"}, {"expires", "expires"}}) {
    if (!context.given.has(option)) continue;
    auto time = time_of(context.given.text(option), option);
    if (!time) return time.error();
    if (field == std::string_view("expires") && *time <= utc_text(RealClock().wall_ms())) {
      context.output.warn("the key expired at " + *time + ": nothing that it signs counts");
    }
    input[field] = *time;
  }
  if (context.given.has("group")) input["group"] = context.given.text("group");
  if (threshold) input["threshold"] = *threshold;
  return decide(context, "Trust/add", input, "trusted");
}

Result<Code> remove(Context& context) {
  return decide(context, "Trust/remove", {{"key", context.given.text("key")}}, "removed");
}

Result<Code> revoke(Context& context) {
  std::string reason = context.given.text("reason");
  if (reason.empty()) {
    return Error{.code = Code::usage,
                 .message = "a revocation is permanent, and its reason is shown to everybody it stops",
                 .next = "add --reason 'lost with a laptop'"};
  }
  const std::string key = context.given.text("key");
  if (context.given.flag("dry-run")) {
    auto door = CommandDoor::open(context);
    if (!door) return door.error();
    return tell_loss(context, **door,
                     {.action = "Trust/revoke",
                      .input = {{"key", key}, {"reason", reason}},
                      .what = "revoke the key " + key + " for ever",
                      .loses = {"the trust in all that it has signed"}});
  }
  return decide(context, "Trust/revoke", {{"key", key}, {"reason", reason}}, "revoked");
}

Result<Code> threshold(Context& context) {
  const int64_t count = *context.given.number("count");
  if (count < 1 || count > bundle::kMaxThreshold) {
    return Error{
        .code = Code::usage,
        .message = "a threshold is 1 to " + std::to_string(bundle::kMaxThreshold) + ", not " + std::to_string(count)};
  }
  return decide(context, "Trust/setThreshold",
                {{"group", context.given.text("group")}, {"threshold", *context.given.number("count")}}, "set");
}

// ------------------------------------------------------------------------------------------------- list and export

Style style_of(std::string_view status) {
  if (status == "good") return Style::good;
  return status == "revoked" ? Style::bad : Style::warning;
}

std::string table_of(const deploy::trust::List::Ok& listed, const Terminal& terminal) {
  std::map<std::string, std::string> thresholds;  // "release" → "release, 2 of 3"
  for (const auto& each : listed.groups) {
    thresholds[each.group.text()] = each.group.text() + ", " + std::to_string(each.threshold) + " of " +
                                    std::to_string(each.keys) + (each.keys >= each.threshold ? "" : ": too few keys");
  }
  Table table{.columns = {{.title = "KEY", .whole = true},
                          {"LABEL"},
                          {"STATUS"},
                          {"ENVIRONMENTS"},
                          {"BUNDLES"},
                          {"EXPIRES"},
                          {"GROUP"},
                          {"REASON"}},
              .empty = "Nobody is trusted. sluice trust bootstrap trusts this home's own key."};
  for (const auto& key : listed.keys) {
    table.rows.push_back({{key.key.text(), Style::strong},
                          {key.label},
                          {key.status, style_of(key.status)},
                          {joined(key.environments)},
                          {joined(key.bundles)},
                          {key.expires ? utc_text(key.expires->ms) : ""},
                          {key.group ? thresholds[key.group->text()] : ""},
                          {key.reason.value_or("")}});
  }
  return render(table, terminal);
}

Result<Code> list(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto listed = (*door)->read<deploy::trust::List::Ok>("trust");
  if (!listed) return listed.error();
  context.output.print(to_json(*listed), [&](const Terminal& terminal) { return table_of(*listed, terminal); });
  return Code::ok;
}

Result<Code> export_root(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto exported = (*door)->read<deploy::trust::Export::Ok>("trust-root");
  if (!exported) return exported.error();
  const std::string& root = exported->root;
  if (!context.given.has("out")) {
    context.output.print_text(root + "\n");
    return Code::ok;
  }
  constexpr uint32_t kMode = 0644;  // there is no secret in it
  std::string file = context.given.text("out");
  if (auto may = check_replaceable(context.disk, file); !may) return may.error();
  if (auto written = write_atomically(context.disk, file, root + "\n", kMode); !written) return written.error();
  context.output.note("wrote " + file);
  return Code::ok;
}

Arg key_arg() { return {.name = "key", .help = "the key's id, 32 hex digits"}; }

std::vector<Option> with_call_options(std::vector<Option> options) {
  for (Option& each : call_options()) options.push_back(std::move(each));
  return options;
}

}  // namespace trust_commands

void add_trust_commands(Commands& commands) {
  using namespace trust_commands;
  commands.add_noun(
      {.name = "trust", .group = Group::operate, .summary = "Choose whose signatures count, and for what"});
  commands.add(
      {.name = "trust bootstrap",
       .summary = "Trust this home's own key, for all bundles",
       .details = "The operator's key is made when a home is first used, but its signatures count for nothing until it "
                  "is trusted. Trusting it again adds environments. Only this command brings a removed key back.",
       .options = with_call_options(
           {{.name = "env", .value = "PATTERN", .help = "the environment; else local", .repeated = true}}),
       .example = "sluice trust bootstrap --env local",
       .run = bootstrap});
  commands.add(
      {.name = "trust add",
       .summary = "Trust a public key, within a scope",
       .details =
           "The file is a PEM public key (Ed25519). Patterns know * and ?. A key with a group counts only together "
           "with as many others of the group as its threshold says.\n\nFor instance: sluice trust add ann.pub --env "
           "'prod-*' --bundle shop --expires 365d --group release --threshold 2",
       .args = {{.name = "file", .help = "the public key, as PEM", .kind = Kind::path}},
       .options = with_call_options(
           {{.name = "env", .value = "PATTERN", .help = "environments it may sign for", .repeated = true},
            {.name = "bundle", .value = "PATTERN", .help = "bundles it may sign; else all", .repeated = true},
            {.name = "label", .value = "TEXT", .help = "a label for people: whose key it is"},
            {.name = "not-before", .value = "TIME", .help = "from when on it counts"},
            {.name = "expires", .value = "TIME", .help = "until when, as 2030-01-31 or 365d"},
            {.name = "group", .value = "NAME", .help = "the group that it counts in"},
            {.name = "threshold", .value = "N", .help = "how many of a new group must sign", .kind = Kind::count}}),
       .example = "sluice trust add release.pem --env local --group release",
       .run = add});
  commands.add(
      {.name = "trust remove",
       .summary = "Forget a key",
       .details =
           "Whatever it signed is then signed by an unknown key. A revoked key is kept, so that it cannot come back.",
       .args = {key_arg()},
       .options = with_call_options({}),
       .example = "sluice trust remove 56475aa75463474c0285df5dbf2bcab7",
       .run = remove});
  commands.add(
      {.name = "trust revoke",
       .summary = "Revoke a key permanently",
       .details = "Nothing that it ever signed counts any more. --reason is shown to everybody who is stopped by that.",
       .args = {key_arg()},
       .options = with_call_options({{.name = "dry-run", .help = "print what would be lost, and stop"}}),
       .example = "sluice trust revoke 56475aa75463474c0285df5dbf2bcab7 --reason lost",
       .run = revoke});
  commands.add({.name = "trust threshold",
                .summary = "Set how many keys of a group must sign",
                .args = {{.name = "group", .help = "the group's name"},
                         {.name = "count", .help = "one to sixteen", .kind = Kind::count}},
                .options = with_call_options({}),
                .example = "sluice trust threshold release 1",
                .run = threshold});
  commands.add({.name = "trust list",
                .summary = "List the keys, their scopes, and whether they count",
                .options = {lock_timeout_option()},
                .example = "sluice trust list",
                .run = list});
  commands.add({.name = "trust export",
                .summary = "Print the trust root, to verify bundles elsewhere",
                .details = "Canonical JSON: the same bytes for the same root. It holds public keys only. Others verify "
                           "with it offline: sluice bundles verify FILE --trust ROOT.",
                .options = {{.name = "out", .value = "FILE", .help = "write it there", .kind = Kind::path},
                            lock_timeout_option()},
                .example = "sluice trust export",
                .run = export_root});
}

}  // namespace sluice::cli
