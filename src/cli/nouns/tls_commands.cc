// sluice tls: the certificates that the routers of a home show, and who trusts its own authority.
#include <algorithm>
#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/table.h"
#include "cli/action_command.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/machine_trust.h"
#include "cli/next_command.h"
#include "cli/opening.h"
#include "cli/outputs.h"
#include "crypto/x509.h"
#include "deploy/certificate_shelf.h"
#include "host/home.h"

namespace sluice::cli {
namespace tls_commands {

using deploy::views::MeantNames;

constexpr size_t kMaxPem = 1 << 20;

const Arg kCertificate{.name = "certificate", .help = "its name, as tls list shows it"};

std::string text_in(const json::value& object, std::string_view name) {
  const json::value* value = object.as_object().if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

std::string joined_names(const json::value& names) {
  std::string all;
  for (const json::value& each : names.as_array()) {
    all += (all.empty() ? "" : ", ") + std::string(each.as_string());
  }
  return all;
}

// ------------------------------------------------------------------------------------------------------ what is shown

Result<Code> list(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto answer = (*door)->call("Certificate/list", {});
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(context, *answer);
  context.output.print(answer->fields, [&](const Terminal& terminal) {
    Table table{.columns = {{.title = "CERTIFICATE", .whole = true}, {"FOR"}, {"FROM"}, {"EXPIRES"}, {"TROUBLE"}},
                .empty = "There are no certificates. Next: sluice tls issue localhost"};
    for (const json::value& each : answer->fields.at("certificates").as_array()) {
      const std::string problem = text_in(each, "problem");
      table.rows.push_back({{text_in(each, "certificate"), Style::strong},
                            {printable(joined_names(each.at("names")))},
                            {text_in(each, "provider")},
                            {text_in(each, "expiresAt").substr(0, 10)},
                            {printable(problem), problem.empty() ? Style::plain : Style::bad}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

Result<Code> doctor(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto answer = (*door)->call("Certificate/inspect", {});
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(context, *answer);
  const json::array& problems = answer->fields.at("problems").as_array();
  context.output.print(answer->fields, [&](const Terminal& terminal) {
    const int64_t checked = answer->fields.at("checked").as_int64();
    if (problems.empty()) {
      return terminal.paint(Style::good, "good") + "  " + std::to_string(checked) + " " +
             (checked == 1 ? "certificate" : "certificates") + "\n";
    }
    std::string text;
    for (const json::value& each : problems) {
      text += terminal.paint(Style::bad, "bad") + "  " + text_in(each, "certificate") + ": " +
              printable(text_in(each, "message")) +
              "\n      next: " + next_command(text_in(each, "fix"), context.commands, context.given) + "\n";
    }
    return text;
  });
  return problems.empty() ? Code::ok : Code::faults_found;
}

// -------------------------------------------------------------------------------------------------------- what changes

Result<json::object> with_pair(Context& context, const MeantNames&) {
  auto chain = read_file(context.disk, context.given.text("chain"), kMaxPem);
  if (!chain) return chain.error();
  auto key = read_file(context.disk, context.given.text("key"), kMaxPem);
  if (!key) return key.error();
  return json::object{{"certificate", context.given.text("certificate")}, {"chain", *chain}, {"key", *key}};
}

Result<json::object> with_names(Context& context, const MeantNames&) {
  json::array names;
  for (const std::string& each : context.given.texts("name")) names.push_back(json::value(each));
  std::string id = context.given.text("as");
  if (id.empty()) id = context.given.texts("name").front();
  // Of "*.shop.example", and of "::1".
  std::ranges::replace(id, '*', '_');
  std::ranges::replace(id, ':', '_');
  json::object input{{"certificate", id}, {"provider", context.given.text("provider")}, {"names", std::move(names)}};
  for (const char* each : {"directory", "email", "challenge"}) {
    if (context.given.has(each)) input[each] = context.given.text(each);
  }
  if (context.given.has("directory-ca")) {
    auto roots = read_file(context.disk, context.given.text("directory-ca"), kMaxPem);
    if (!roots) return roots.error();
    input["roots"] = *roots;
  }
  if (context.given.has("account-id") != context.given.has("account-key")) {
    return Error{.code = Code::usage, .message = "--account-id and --account-key go together"};
  }
  if (context.given.has("account-id")) {
    auto key = read_file(context.disk, context.given.text("account-key"), kMaxPem);
    if (!key) return key.error();
    while (!key->empty() && key->back() == '\n') key->pop_back();
    input["bindingId"] = context.given.text("account-id");
    input["bindingKey"] = *key;
  }
  return input;
}

Result<json::object> certificate_alone(Context& context, const MeantNames&) {
  return json::object{{"certificate", context.given.text("certificate")}};
}

std::string until_when(const MeantNames&, const host::Answer& answer) {
  return answer.text("certificate") + " for " + joined_names(answer.fields.at("names")) + ", until " +
         answer.text("expiresAt").substr(0, 10);
}

std::string certificate_name(const MeantNames&, const host::Answer& answer) { return answer.text("certificate"); }

Result<ActionCommand::Loss> loss_of(Context& context, CommandDoor&, const MeantNames&) {
  const std::string id = context.given.text("certificate");
  return ActionCommand::Loss{.what = "remove the certificate " + id, .loses = {"its key"}};
}

// --------------------------------------------------------------------------------------------------------------- trust

Result<Code> trust(Context& context) {
  const bool installs = context.given.flag("install"), removes = context.given.flag("remove");
  if (installs && removes) return Error{.code = Code::usage, .message = "--install and --remove exclude each other"};
  auto home = home_of(context);
  if (!home) return home.error();
  const deploy::CertificateShelf shelf(context.disk, home->root().string());
  auto pem = read_file(context.disk, shelf.authority_file(), kMaxPem);
  if (!pem && pem.error().code == Code::not_found) {
    return Error{.code = Code::not_found,
                 .message = "this home has no authority yet",
                 .next = "sluice tls issue localhost, which makes it"};
  }
  auto facts = pem ? crypto::read_certificates(*pem) : Result<std::vector<crypto::CertificateFacts>>(pem.error());
  if (!facts) return facts.error();
  const std::string digest = facts->front().fingerprint.substr(facts->front().fingerprint.find(':') + 1);
  const std::string label = "sluice-local-ca-" + digest.substr(0, 12);
  RealClock clock;
  process::RealRunner runner(clock);
  MachineTrust machine(context.disk, runner, context.variables);
  std::vector<MachineTrust::Step> steps;
  if (installs) steps = machine.install(label, *pem);
  if (removes) steps = machine.remove(label);
  outputs::TlsTrust shown{.authority = facts->front().subject,
                          .file = shelf.authority_file(),
                          .fingerprint = facts->front().fingerprint,
                          .trusted_by = machine.holding(label)};
  context.output.print(to_json(shown), [&](const Terminal& terminal) {
    std::string text = shown.authority + "\n" + shown.file + "\n";
    for (const std::string& each : shown.trusted_by)
      text += terminal.paint(Style::good, "trusted") + "  by " + each + "\n";
    if (shown.trusted_by.empty()) text += "trusted by no store of this machine\n";
    return text;
  });
  for (const MachineTrust::Step& each : steps) {
    if (each.trouble.empty()) continue;
    return Error{.message = each.store + " was not changed: " + each.trouble,
                 .next = each.store == "the system" ? "run it as root" : "install certutil (Debian: libnss3-tools)"};
  }
  return Code::ok;
}

}  // namespace tls_commands

void add_tls_commands(Commands& commands) {
  using namespace tls_commands;
  commands.add_noun({.name = "tls", .group = Group::operate, .summary = "Keep the certificates that routers show"});
  commands.add({.name = "tls list",
                .summary = "List certificates, who issued them and until when they hold",
                .options = reading_options(),
                .example = "sluice tls list",
                .run = list});
  commands.add(command_of(
      {.name = "tls issue",
       .action = "Certificate/issue",
       .summary = "Issue a certificate and have routers show it",
       .details = "The provider local-ca issues for localhost, test, example, all names below them and addresses of "
                  "this machine. Its authority is made when it is first needed, and is trusted where `sluice tls "
                  "trust --install` puts it.\n\nThe provider acme asks an authority by ACME: routers "
                  "prove the names at port 80 (http-01) or 443 (tls-alpn-01).\n\nA certificate of the same name is "
                  "replaced. At two thirds of its life "
                  "a certificate is renewed while sluice serve runs.",
       .example = "sluice tls issue shop.localhost",
       .args = {{.name = "name", .help = "a host, such as shop.localhost or *.test, or an address", .repeated = true}},
       .options = {{.name = "as", .value = "NAME", .help = "what it is called; else the first host"},
                   {.name = "provider",
                    .value = "NAME",
                    .help = "who issues it",
                    .choices = {"local-ca", "acme"},
                    .fallback = "local-ca"},
                   {.name = "directory", .value = "URL", .help = "of acme: the authority's directory, https://…"},
                   {.name = "email", .value = "ADDRESS", .help = "of acme: whom the authority may write to"},
                   {.name = "challenge",
                    .value = "KIND",
                    .help = "of acme: how routers prove the names",
                    .choices = {"http-01", "tls-alpn-01"}},
                   {.name = "directory-ca",
                    .value = "FILE",
                    .help = "of acme: whom to believe as the authority's server, as PEM; else this system's",
                    .kind = Kind::path},
                   {.name = "account-id", .value = "ID", .help = "of acme: the account that a new one is bound to"},
                   {.name = "account-key",
                    .value = "FILE",
                    .help = "of acme: the key of that account, in base64url",
                    .kind = Kind::path}},
       .fill = with_names,
       .done = "issued",
       .what = until_when}));
  commands.add(
      command_of({.name = "tls add",
                  .action = "Certificate/import",
                  .summary = "Have routers show a certificate that was issued elsewhere",
                  .details = "The key is copied into the home, mode 0600. A certificate of the same name is "
                             "replaced, unless the new pair does not hold.\n\nFor instance: sluice tls add shop "
                             "--chain fullchain.pem --key privkey.pem",
                  .example = "sluice tls add shop --chain fullchain.pem --key privkey.pem",
                  .args = {{.name = "certificate", .help = "what it is called"}},
                  .options = {{.name = "chain",
                               .value = "FILE",
                               .help = "the certificate, then those that signed it, as PEM",
                               .kind = Kind::path},
                              {.name = "key", .value = "FILE", .help = "its key, as PEM", .kind = Kind::path}},
                  .fill = with_pair,
                  .done = "added",
                  .what = until_when}));
  commands.add(command_of({.name = "tls renew",
                           .action = "Certificate/renew",
                           .summary = "Issue a certificate anew, for the same names",
                           .example = "sluice tls renew shop.localhost",
                           .args = {kCertificate},
                           .fill = certificate_alone,
                           .done = "renewed",
                           .what = until_when}));
  commands.add(command_of({.name = "tls remove",
                           .action = "Certificate/remove",
                           .summary = "Remove a certificate with its key",
                           .example = "sluice tls remove shop.localhost --yes",
                           .args = {kCertificate},
                           .fill = certificate_alone,
                           .loses = loss_of,
                           .done = "removed",
                           .what = certificate_name}));
  commands.add({.name = "tls doctor",
                .summary = "Check certificates, and what routers show",
                .details = "Looks at each certificate's files and dates, and asks every router of the home what it "
                           "shows. Exit code 1 if something is wrong.",
                .options = reading_options(),
                .example = "sluice tls doctor",
                .run = doctor});
  commands.add({.name = "tls trust",
                .summary = "Show, install or remove trust in this home's own authority",
                .details =
                    "Without an option it says which stores of this machine trust the authority. --install puts it "
                    "into the system's store, for which it takes root, and into those of Chromium and Firefox of "
                    "this user, with certutil. The authority is constrained to localhost, test, example and "
                    "addresses of this machine.",
                .options = {{.name = "install", .help = "have this machine trust it"},
                            {.name = "remove", .help = "have this machine trust it no more"}},
                .example = "sluice tls trust",
                .run = trust});
}

}  // namespace sluice::cli
