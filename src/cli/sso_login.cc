// The first answer with the right state counts; any other is refused and waited past.
#include "cli/sso_login.h"

#include <boost/json.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/random.h"
#include "host/openid.h"
#include "host/problem.h"
#include "host/remote_door.h"
#include "http/client.h"
#include "http/server.h"
#include "process/attached.h"

namespace sluice::cli {
namespace {

constexpr std::chrono::minutes kPersonHas(5);
constexpr int64_t kServerAnswers_ms = 15'000;

// What the browser brought back.
struct Brought {
  std::mutex mutex;
  std::condition_variable there;
  std::optional<std::string> code, refusal;
};

http::Response login_told(int status, const std::string& text) {
  return {.status = status,
          .content_type = "text/html; charset=utf-8",
          .headers = {{"Content-Security-Policy", "default-src 'none'"}, {"Cache-Control", "no-store"}},
          .body = "<!doctype html><html lang=\"en\"><title>Sluice</title><p>" + text + "</p></html>\n",
          .close = true};
}

http::Response browser_back(const http::Request& request, const std::string& state, const std::string& issuer,
                            Brought& brought) {
  if (request.path != std::vector<std::string>{"callback"}) return login_told(404, "There is nothing here.");
  const std::string* said = request.parameter("state");
  const std::string* from = request.parameter("iss");
  const std::string* code = request.parameter("code");
  const std::string* error = request.parameter("error");
  std::lock_guard lock(brought.mutex);
  const bool fits = said != nullptr && *said == state && (from == nullptr || *from == issuer);
  if (!fits || brought.code || brought.refusal) return login_told(400, "This is not the login that sluice waits for.");
  if (code != nullptr) brought.code = *code;
  if (code == nullptr) brought.refusal = error != nullptr ? *error : "no code";
  brought.there.notify_all();
  return code != nullptr ? login_told(200, "You are logged in. You can close this page and go back to the terminal.")
                         : login_told(400, "You are not logged in.");
}

Result<host::SsoDocument> provider_of(const host::ServerContext& server, const Clock& clock) {
  auto client = host::connect_to(server, clock);
  if (!client) return client.error();
  auto answer = (*client)->send({.method = "GET", .target = "/v1/login/sso"}, kServerAnswers_ms);
  if (!answer) return answer.error();
  auto document = parse_json(answer->body, server.url);
  if (!document) return document.error();
  if (answer->status != 200) return host::error_in(document->root);
  auto said = read<host::SsoAnswer>(*document);
  if (!said) return said.error();
  if (said->provider) return *std::move(said->provider);
  return Error{.code = Code::not_found,
               .message = "people do not log in with a provider at " + server.url,
               .next = "sluice login " + server.url + " with a token, or ask an admin to add people: to the policy"};
}

// Where there is no desktop, the person opens the address themselves.
std::optional<process::Attached> open_browser(const std::string& url, const Context& context) {
  std::vector<std::string> words{"/usr/bin/env"};
  bool desktop = false;
  for (const char* name :
       {"DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "XAUTHORITY", "HOME", "PATH"}) {
    const auto value = context.variables(name);
    if (!value || value->empty()) continue;
    desktop = desktop || std::string_view(name).ends_with("DISPLAY");
    words.push_back(std::string(name) + "=" + *value);
  }
  if (!desktop) return std::nullopt;
  // In a session of its own, so that the browser stays when the login is over.
  for (const std::string& each : {std::string("setsid"), std::string("-f"), std::string("xdg-open"), url}) {
    words.push_back(each);
  }
  auto started = process::Attached::start(words, std::nullopt);
  if (!started) return std::nullopt;
  return *std::move(started);
}

}  // namespace

Result<host::ServerContext> log_in_with_browser(host::ServerContext server, const Clock& clock, Context& context) {
  auto with = provider_of(server, clock);
  if (!with) return with.error();
  RealRandom random;
  const std::string state = host::random_word(random), nonce = host::random_word(random);
  const host::Pkce pkce = host::new_pkce(random);
  auto listening = http::listen_tcp("127.0.0.1", 0);
  if (!listening) return listening.error();
  const std::string redirect = "http://127.0.0.1:" + std::to_string(http::port_of(*listening)) + "/callback";
  Brought brought;
  auto waiting = http::Server::start(
      *std::move(listening),
      [&](const http::Request& request, const http::Peer&) {
        return browser_back(request, state, with->issuer, brought);
      },
      clock);
  if (!waiting) return waiting.error();
  std::vector<std::string> scopes = with->scopes;
  scopes.emplace_back("offline_access");
  const std::string url = host::login_url({.issuer = with->issuer,
                                           .authorization_endpoint = with->authorization_endpoint,
                                           .token_endpoint = with->token_endpoint},
                                          {.client = with->client,
                                           .redirect = redirect,
                                           .state = state,
                                           .nonce = nonce,
                                           .challenge = pkce.challenge,
                                           .scopes = scopes});
  context.output.note("Log in with a browser on this machine: " + url);
  auto browser = open_browser(url, context);
  std::unique_lock lock(brought.mutex);
  const bool back =
      brought.there.wait_for(lock, kPersonHas, [&] { return brought.code.has_value() || brought.refusal.has_value(); });
  lock.unlock();
  (*waiting)->stop();
  if (!back) {
    return Error{.code = Code::timeout,
                 .message = "nobody has logged in within five minutes; nothing was kept",
                 .next = "sluice login " + server.url + " --sso"};
  }
  if (brought.refusal) {
    return Error{.code = Code::unauthenticated,
                 .message = with->issuer + " has not let you in: " + *brought.refusal + "; nothing was kept"};
  }
  auto tokens = host::exchange_code(with->token_endpoint, with->client, *brought.code, pkce.verifier, redirect, clock);
  if (!tokens) return tokens.error();
  if (host::unverified_claim(tokens->id_token, "nonce") != nonce) {
    return Error{.code = Code::verification_failed,
                 .message = "the token is of another login; nothing was kept",
                 .next = "sluice login " + server.url + " --sso"};
  }
  server.token = tokens->id_token;
  if (!tokens->refresh_token.empty()) {
    server.sso = host::SsoContext{
        .token_endpoint = with->token_endpoint, .client = with->client, .refresh_token = tokens->refresh_token};
  }
  return server;
}

}  // namespace sluice::cli
