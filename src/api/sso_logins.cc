// What is wrong with a login is told in words that are the same for everything that somebody could try out.
#include "api/sso_logins.h"

#include <algorithm>

#include "host/problem.h"

namespace sluice::api {
namespace {

constexpr int64_t kBegun_ns = 600'000'000'000;
constexpr size_t kMostBegun = 1'000;
constexpr int64_t kProviderKept_ns = 300'000'000'000;
constexpr int64_t kTroubleKept_ns = 2'000'000'000;
constexpr const char* kLoginCookie = "sluice_login";
constexpr const char* kCallback = "/v1/login/sso/callback";

http::Response sso_page(int status, const std::string& head, const std::string& text) {
  return {.status = status,
          .content_type = "text/html; charset=utf-8",
          .headers = {{"Cache-Control", "no-store"},
                      {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
                      {"X-Frame-Options", "DENY"},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Referrer-Policy", "no-referrer"}},
          .body = "<!doctype html><html lang=\"en\"><title>Sluice</title>" + head + "<p>" + text +
                  " <a href=\"/ui/\">Sluice</a></p></html>\n"};
}

http::Response refused_page(const Error& error) {
  http::Response response = sso_page(http_status(error.code), "", "You are not logged in: " + error.message + ".");
  return response;
}

std::string login_cookie(const http::Peer& peer, const std::string& value, int64_t seconds) {
  // Lax: the browser comes back from the provider's page.
  return std::string(kLoginCookie) + "=" + value +
         "; Path=/v1/login/sso; HttpOnly; SameSite=Lax; Max-Age=" + std::to_string(seconds) +
         (peer.tls ? "; Secure" : "");
}

}  // namespace

Result<host::SsoDocument> SsoLogins::about() {
  auto issuer = parts_.authority != nullptr ? parts_.authority->issuer_of_people() : std::nullopt;
  if (!issuer) {
    return Error{.code = Code::not_found,
                 .message = "the access policy names no issuer with whom people log in",
                 .next = "log in with a token, or ask an admin to add people: to an issuer of the policy"};
  }
  std::lock_guard lock(asking_);
  const int64_t age_ns = parts_.clock->monotonic_ns() - asked_ns_;
  if (asked_ != issuer->issuer || age_ns > (provider_ ? kProviderKept_ns : kTroubleKept_ns)) {
    auto found = host::discover_provider(issuer->issuer, *parts_.clock);
    provider_ = found ? std::optional(*found) : std::nullopt;
    trouble_ = found ? std::nullopt : std::optional(found.error());
    asked_ = issuer->issuer;
    asked_ns_ = parts_.clock->monotonic_ns();
  }
  if (!provider_) return *trouble_;
  return host::SsoDocument{.issuer = provider_->issuer,
                           .client = issuer->audience,
                           .authorization_endpoint = provider_->authorization_endpoint,
                           .token_endpoint = provider_->token_endpoint,
                           .scopes = issuer->people->scopes};
}

http::Response SsoLogins::begin(const http::Request& request, const http::Peer& peer) {
  const std::string* host = request.header("Host");
  auto with = about();
  if (!with) return refused_page(with.error());
  const std::string state = host::random_word(random_), browser = host::random_word(random_);
  const host::Pkce pkce = host::new_pkce(random_);
  Begun begun{.with = *with,
              .browser = host::secret_digest(browser),
              .nonce = host::random_word(random_),
              .verifier = pkce.verifier,
              .redirect = (peer.tls ? "https://" : "http://") + (host != nullptr ? *host : "") + kCallback,
              .until_ns = parts_.clock->monotonic_ns() + kBegun_ns};
  const std::string place = host::login_url({.issuer = with->issuer,
                                             .authorization_endpoint = with->authorization_endpoint,
                                             .token_endpoint = with->token_endpoint},
                                            {.client = with->client,
                                             .redirect = begun.redirect,
                                             .state = state,
                                             .nonce = begun.nonce,
                                             .challenge = pkce.challenge,
                                             .scopes = with->scopes});
  {
    const int64_t now_ns = parts_.clock->monotonic_ns();
    std::lock_guard lock(mutex_);
    std::erase_if(begun_, [&](const auto& each) { return now_ns >= each.second.until_ns; });
    if (begun_.size() >= kMostBegun) {
      return refused_page({.code = Code::limit, .message = "too many logins are under way; try again in some minutes"});
    }
    begun_[host::secret_digest(state)] = std::move(begun);
  }
  return {.status = 303,
          .content_type = "text/plain",
          .headers = {{"Location", place},
                      {"Set-Cookie", login_cookie(peer, browser, kBegun_ns / 1'000'000'000)},
                      {"Cache-Control", "no-store"},
                      {"Referrer-Policy", "no-referrer"}}};
}

Result<Logins::Opened> SsoLogins::finished(const http::Request& request, const http::Peer& peer) {
  const Error unknown{.code = Code::unauthenticated,
                      .message = "this login was not begun here, was finished before, or took too long"};
  const std::string* state = request.parameter("state");
  const std::string* code = request.parameter("code");
  const std::string* from = request.parameter("iss");
  auto browser = cookie_in(request, kLoginCookie);
  if (state == nullptr || !browser || !*browser) return unknown;
  Begun begun;
  {
    std::lock_guard lock(mutex_);
    auto found = begun_.find(host::secret_digest(*state));
    if (found == begun_.end() || found->second.browser != host::secret_digest(**browser)) return unknown;
    begun = std::move(found->second);
    begun_.erase(found);
  }
  if (parts_.clock->monotonic_ns() >= begun.until_ns) return unknown;
  if (from != nullptr && *from != begun.with.issuer) {
    return Error{.code = Code::unauthenticated, .message = "the answer comes from another issuer"};
  }
  if (code == nullptr) return Error{.code = Code::unauthenticated, .message = "the provider has not let you in"};
  auto tokens = host::exchange_code(begun.with.token_endpoint, begun.with.client, *code, begun.verifier, begun.redirect,
                                    *parts_.clock);
  if (!tokens) return tokens.error();
  auto person = parts_.authority->authenticate_person(tokens->id_token, begun.nonce);
  if (!person) return person.error();
  return logins_.open_for(request, peer, *person, "");
}

http::Response SsoLogins::finish(const http::Request& request, const http::Peer& peer) {
  if (auto may = logins_.may_try(peer); !may) return refused_page(may.error());
  auto opened = finished(request, peer);
  if (!opened) {
    if (opened.error().code == Code::unauthenticated) logins_.note_wrong(peer.address);
    return refused_page(opened.error());
  }
  // The session's cookie is not sent along a way that began at the provider: the page itself goes on from here.
  http::Response response =
      sso_page(200, "<meta http-equiv=\"refresh\" content=\"0; url=/ui/\">", "You are logged in. Go on to");
  response.headers.push_back({"Set-Cookie", opened->cookie});
  response.headers.push_back({"Set-Cookie", login_cookie(peer, "", 0)});
  return response;
}

}  // namespace sluice::api
