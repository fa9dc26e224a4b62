// sluice login and sluice context: one command line for several servers.
#include <unistd.h>

#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/context.h"
#include "cli/opening.h"
#include "cli/outputs.h"
#include "cli/secret_input.h"
#include "cli/sso_login.h"
#include "crypto/x509.h"
#include "host/access_views.h"
#include "host/contexts.h"
#include "host/remote_door.h"
#include "http/client.h"

namespace sluice::cli {
namespace context_commands {

constexpr size_t kMaxTokenBytes = 1024;

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  return text;
}

// Never from the command line, which others can read.
Result<std::string> given_token(Context& context) {
  if (context.given.has("token-file")) {
    auto text = read_file(context.disk, context.given.text("token-file"), kMaxTokenBytes);
    if (!text) return text.error();
    std::string token = trimmed(*std::move(text));
    if (!token.empty() && token.find('\n') == std::string::npos) return token;
    return Error{.code = Code::usage,
                 .message = context.given.text("token-file") + " holds no token: it is one line; nothing was sent",
                 .next = "sluice access tokens create prints one"};
  }
  if (::isatty(STDIN_FILENO) == 1) return read_unfiled_value(context, "the token");
  std::string text(kMaxTokenBytes, '\0');
  size_t size = 0;
  while (size < text.size() && text.find('\n') >= size) {
    const ssize_t got = ::read(STDIN_FILENO, text.data() + size, text.size() - size);
    if (got <= 0) break;
    size += static_cast<size_t>(got);
  }
  text.resize(size);
  return trimmed(text.substr(0, text.find('\n')));
}

// Who must have signed the certificate of the server; empty: somebody whom this machine believes has. An authority that
// it does not know must have the fingerprint that the person has from the server's operator.
Result<std::string> authority_of(Context& context, const std::string& url, const Clock& clock) {
  auto where = host::address_in(url);
  if (!where) return where.error();
  if (!where->tls) return std::string();
  const std::string wanted = context.given.text("fingerprint");
  if (wanted.empty()) {
    auto known = http::Client::to_tls(where->address, where->port, {.host = where->address}, clock);
    if (known) return std::string();
    if (known.error().code != Code::verification_failed) return known.error();
  }
  auto chain = http::chain_shown_at(where->address, where->port, clock);
  if (!chain) return chain.error();
  auto facts = crypto::read_certificates(*chain);
  if (!facts) return facts.error();
  const std::string& shown = facts->back().fingerprint;
  if (wanted.empty()) {
    return Error{
        .code = Code::verification_failed,
        .message = url + " shows a certificate of an authority that this machine does not know: " + shown +
                   "; nothing was sent",
        .next = "compare it with what sluice serve printed, then: sluice login " + url + " --fingerprint " + shown};
  }
  if (shown != wanted) {
    return Error{.code = Code::verification_failed,
                 .message = url + " shows the authority " + shown + ", not " + wanted + "; nothing was sent",
                 .next = "ask the operator of the server for its fingerprint"};
  }
  const size_t last = chain->rfind("-----BEGIN CERTIFICATE-----");
  return chain->substr(last);
}

Result<Code> login(Context& context) {
  const std::string url = context.given.text("url"), name = context.given.text("name");
  if (name == host::kLocalContext) {
    return Error{.code = Code::usage, .message = "local is the home on this machine; use another --name"};
  }
  if (auto where = host::address_in(url); !where) return where.error();
  auto home = home_of(context);
  if (!home) return home.error();
  RealClock clock;
  auto authority = authority_of(context, url, clock);
  if (!authority) return authority.error();
  host::ServerContext server{url, "", *authority};
  if (context.given.flag("sso")) {
    auto logged_in = log_in_with_browser(server, clock, context);
    if (!logged_in) return logged_in.error();
    server = *std::move(logged_in);
  } else {
    auto token = given_token(context);
    if (!token) return token.error();
    server.token = *std::move(token);
  }
  auto door = host::RemoteDoor::open(server, clock, {.purpose = "login"});
  if (!door) return door.error();
  auto answer = (*door)->view("whoami");
  if (!answer) return answer.error();
  auto who = read<host::WhoamiView>(answer->document);
  if (!who) return who.error();
  auto contexts = host::read_contexts(context.disk, *home);
  if (!contexts) return contexts.error();
  contexts->servers[name] = std::move(server);
  contexts->current = name;
  if (auto kept = host::write_contexts(context.disk, *home, *contexts); !kept) return kept.error();
  context.output.print(
      to_json(outputs::LoggedIn{.context = name, .url = url, .caller = who->caller}), [&](const Terminal& terminal) {
        return terminal.paint(Style::good, "logged in") + "  " + name + " at " + url + " as " + who->caller + "\n";
      });
  context.output.note("Commands go there now; sluice context use local brings them back.");
  return Code::ok;
}

outputs::KnownContexts shown_of(const host::Contexts& contexts) {
  outputs::KnownContexts shown{{{.name = std::string(host::kLocalContext)}}};
  for (const auto& [name, server] : contexts.servers) shown.contexts.push_back({.name = name, .url = server.url});
  for (outputs::KnownContext& each : shown.contexts) each.current = each.name == contexts.current;
  return shown;
}

Result<Code> list(Context& context) {
  auto home = home_of(context);
  if (!home) return home.error();
  auto contexts = host::read_contexts(context.disk, *home);
  if (!contexts) return contexts.error();
  const outputs::KnownContexts shown = shown_of(*contexts);
  context.output.print(to_json(shown), [&](const Terminal& terminal) {
    Table table{.columns = {{""}, {"NAME"}, {"SERVER"}}};
    for (const outputs::KnownContext& each : shown.contexts) {
      table.rows.push_back({{each.current ? "*" : ""},
                            {each.name, each.current ? Style::strong : Style::plain},
                            {each.url ? *each.url : "the home on this machine"}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

Result<Code> use(Context& context) {
  auto home = home_of(context);
  if (!home) return home.error();
  auto contexts = host::read_contexts(context.disk, *home);
  if (!contexts) return contexts.error();
  const std::string name = context.given.text("name");
  if (name != host::kLocalContext && !contexts->servers.contains(name)) {
    return Error{.code = Code::not_found, .message = "there is no context " + name, .next = "sluice context list"};
  }
  contexts->current = name;
  if (name != host::kLocalContext || !contexts->servers.empty()) {
    if (auto kept = host::write_contexts(context.disk, *home, *contexts); !kept) return kept.error();
  }
  context.output.print(to_json(outputs::ContextUsed{.context = name}), [&](const Terminal& terminal) {
    return terminal.paint(Style::good, "using") + "  " + name + "\n";
  });
  return Code::ok;
}

}  // namespace context_commands

void add_context_commands(Commands& commands) {
  using namespace context_commands;
  commands.add(
      {.name = "login",
       .group = Group::team,
       .summary = "Log in to a server with a token or an OpenID provider",
       .details = "The token is read from a line of standard input, or from a file. It is kept in "
                  "keys/contexts.json of the home, which only you can read. A server that has made its own "
                  "certificate authority (sluice serve --tls-own) is believed if --fingerprint is that of the "
                  "authority, which is kept with the token.\n\nWith --sso a browser opens at the provider that "
                  "the server's access policy names. Commands renew the login by themselves for as long as the "
                  "provider lets them.\n\nFor instance: sluice login "
                  "http://127.0.0.1:8400 --name team < token",
       .args = {{.name = "url", .help = "such as http://127.0.0.1:8400"}},
       .options =
           {{.name = "name", .value = "NAME", .help = "what to call the server", .fallback = "server"},
            {.name = "fingerprint",
             .value = "SHA256",
             .help = "of the authority that the server's certificate is from, as sluice serve prints it"},
            {.name = "sso", .help = "log in with a browser, at the team's OpenID provider"},
            {.name = "token-file", .value = "FILE", .help = "the file that holds the token", .kind = Kind::path}},
       .example = "sluice login http://127.0.0.1:8400 --token-file token",
       .run = login});
  commands.add_noun({.name = "context", .group = Group::team, .summary = "Choose the server that commands go to"});
  commands.add({.name = "context list",
                .summary = "List the servers that you have logged in to",
                .example = "sluice context list",
                .run = list});
  commands.add({.name = "context use",
                .summary = "Send commands to a server, or to this machine with local",
                .args = {{.name = "name", .help = "as context list shows it"}},
                .example = "sluice context use local",
                .run = use});
}

}  // namespace sluice::cli
