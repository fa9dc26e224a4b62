// Everything that is wrong with a login looks the same from outside, and takes the same way.
#include "api/logins.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "crypto/base64.h"
#include "host/observing.h"

namespace sluice::api {
namespace {

constexpr size_t kWrongAMinute = 10;
constexpr int64_t kWrong_ns = 60'000'000'000;
constexpr size_t kMostAddresses = 10'000;
constexpr size_t kMostCodes = 100;
constexpr size_t kLoginSecretBytes = 32;
// What failed logins are written down under: one record a minute, wherever they come from.
constexpr const char* kUnknown = "unknown";

// With TLS no other host of the domain can set it.
std::string cookie_name(const http::Peer& peer) { return peer.tls ? "__Host-sluice_session" : "sluice_session"; }

std::string cookie_of(const http::Peer& peer, const std::string& value, int64_t seconds) {
  return cookie_name(peer) + "=" + value + "; Path=/; HttpOnly; SameSite=Strict; Max-Age=" + std::to_string(seconds) +
         (peer.tls ? "; Secure" : "");
}

}  // namespace

Result<std::optional<std::string>> cookie_in(const http::Request& request, const std::string& name) {
  std::optional<std::string> found;
  for (const http::Header& each : request.headers) {
    if (each.name.size() != 6 || http::find_header({each}, "Cookie") == nullptr) continue;
    for (std::string_view rest = each.value; !rest.empty();) {
      const size_t end = std::min(rest.find(';'), rest.size());
      std::string_view one = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      while (one.starts_with(' ')) one.remove_prefix(1);
      if (!one.starts_with(name + "=")) continue;
      if (found) return Error{.code = Code::unauthenticated, .message = "the request has two session cookies"};
      found = std::string(one.substr(name.size() + 1));
    }
  }
  return found;
}

std::string Logins::random_text() {
  std::array<uint8_t, kLoginSecretBytes> random;
  random_.fill(random);
  return crypto::to_base64({reinterpret_cast<const char*>(random.data()), random.size()}, crypto::Base64::url_unpadded);
}

Result<void> Logins::come_from_here(const http::Request& request) const {
  const Error foreign{.code = Code::denied, .message = "the request comes from a page of another origin"};
  if (const std::string* site = request.header("Sec-Fetch-Site")) {
    if (*site != "same-origin" && *site != "none") return foreign;
  }
  if (const std::string* origin = request.header("Origin")) {
    const std::string* host = request.header("Host");
    const size_t scheme = origin->find("://");
    if (host == nullptr || scheme == std::string::npos || origin->substr(scheme + 3) != *host) return foreign;
  }
  return {};
}

Result<std::optional<Logins::Who>> Logins::who(const http::Request& request, const http::Peer& peer) const {
  auto cookie = cookie_in(request, cookie_name(peer));
  if (!cookie) return cookie.error();
  if (!*cookie || parts_.authority == nullptr) return std::optional<Who>();
  if (auto here = come_from_here(request); !here) return here.error();
  auto in = parts_.authority->authenticate_session(**cookie);
  if (!in) return in.error();
  Who who{.in = *std::move(in), .csrf = host::csrf_of(**cookie)};
  if (request.method == "GET" || request.method == "HEAD") return std::optional(std::move(who));
  const std::string* given = request.header(kCsrfHeader);
  // Digests are compared, so that the time tells nothing.
  if (given == nullptr || host::secret_digest(*given) != host::secret_digest(who.csrf)) {
    return Error{.code = Code::denied,
                 .message = std::string("a change by a session needs the header ") + kCsrfHeader,
                 .next = "send it as `csrf` of GET /v1/session says"};
  }
  return std::optional(std::move(who));
}

int64_t Logins::wait_s(const std::string& address) {
  const int64_t now_ns = parts_.clock->monotonic_ns();
  std::lock_guard lock(mutex_);
  auto found = wrong_.find(address);
  if (found == wrong_.end()) return 0;
  std::deque<int64_t>& when = found->second;
  while (!when.empty() && now_ns - when.front() > kWrong_ns) when.pop_front();
  if (when.size() < kWrongAMinute) return 0;
  return (kWrong_ns - (now_ns - when.front())) / 1'000'000'000 + 1;
}

void Logins::note_wrong(const std::string& address) {
  {
    const int64_t now_ns = parts_.clock->monotonic_ns();
    std::lock_guard lock(mutex_);
    std::erase_if(wrong_, [&](const auto& each) { return now_ns - each.second.back() > kWrong_ns; });
    if (wrong_.size() < kMostAddresses || wrong_.contains(address)) wrong_[address].push_back(now_ns);
  }
  (void)parts_.engine->deny({.name = kUnknown}, "POST /v1/login");
  if (parts_.log) parts_.log("a login from " + (address.empty() ? "the socket" : address) + " was refused");
}

std::optional<Logins::Promise> Logins::redeem(const std::string& code) {
  const std::string digest = host::secret_digest(code);
  const int64_t now_ns = parts_.clock->monotonic_ns();
  std::lock_guard lock(mutex_);
  std::erase_if(codes_, [&](const auto& each) { return now_ns >= each.second.until_ns; });
  auto found = codes_.find(digest);
  if (found == codes_.end()) return std::nullopt;
  Promise promise = std::move(found->second);
  codes_.erase(found);
  return promise;
}

Result<Logins::OneTimeCode> Logins::make_code(const engine::Caller& caller, const std::string& bearer) {
  const std::string code = random_text();
  const int64_t now_ns = parts_.clock->monotonic_ns();
  std::lock_guard lock(mutex_);
  std::erase_if(codes_, [&](const auto& each) { return now_ns >= each.second.until_ns; });
  if (codes_.size() >= kMostCodes) {
    return Error{.code = Code::limit, .message = "too many codes wait to be used", .next = "try again in a minute"};
  }
  codes_[host::secret_digest(code)] = {
      .caller = {.name = caller.name, .token = caller.token},
      .run = parts_.authority != nullptr && !bearer.empty() ? parts_.authority->run_of(bearer) : "",
      .until_ns = now_ns + kOneTimeCodems * 1'000'000};
  return OneTimeCode{.code = code, .expires_ms = parts_.clock->wall_ms() + kOneTimeCodems};
}

Result<Logins::Opened> Logins::open(const http::Request& request, const http::Peer& peer, const std::string& token,
                                    const std::string& code) {
  if (auto here = come_from_here(request); !here) return here.error();
  if (parts_.authority == nullptr || !parts_.kit()->symbols().find_concept("Session")) {
    return Error{.code = Code::not_found, .message = "the kit that runs keeps no sessions"};
  }
  if (auto may = may_try(peer); !may) return may.error();
  std::optional<Promise> promise;
  if (!code.empty()) {
    promise = redeem(code);
  } else if (auto caller = parts_.authority->authenticate(token)) {
    promise = Promise{.caller = *std::move(caller), .run = parts_.authority->run_of(token)};
  }
  if (!promise) {
    note_wrong(peer.address);
    return Error{.code = Code::unauthenticated,
                 .message = "this is no token and no code that holds",
                 .next = "sluice access tokens create makes a token"};
  }
  // Those who came by a certificate, or by a token of an issuer, have no token that a session could end with.
  if (promise->caller.token.find(':') != std::string::npos) {
    return Error{.code = Code::invalid, .message = "a session is opened with a token of this server"};
  }
  return open_for(request, peer, promise->caller, promise->run);
}

Result<void> Logins::may_try(const http::Peer& peer) {
  const int64_t seconds = wait_s(peer.address);
  if (seconds == 0) return {};
  return Error{.code = Code::limit,
               .message = "too many logins from this address were refused",
               .next = "try again in " + std::to_string(seconds) + " s"};
}

Result<Logins::Opened> Logins::open_for(const http::Request& request, const http::Peer& peer,
                                        const engine::Caller& known, const std::string& run) {
  engine::Caller caller = known;
  const std::string secret = random_text();
  const int64_t now_ms = parts_.clock->wall_ms();
  int64_t expires_ms = now_ms + kSession_ms;
  if (std::string person = host::Authority::person_until(caller, expires_ms); !person.empty()) {
    caller.token = std::move(person);
  } else if (auto end_ms = parts_.authority->end_of_token(caller.token)) {
    expires_ms = std::min(expires_ms, *end_ms);
  }
  json::object input{{"subject", caller.name},
                     {"digest", host::secret_digest(secret)},
                     {"address", peer.address},
                     {"expires", utc_text(expires_ms)}};
  if (!caller.token.empty()) input["token"] = caller.token;
  if (!run.empty()) input["run"] = run;
  auto opened = parts_.engine->invoke({.action = "Session/open",
                                       .input = std::move(input),
                                       .caller = {.name = std::string(host::kObserverName)},
                                       .of_kit = true});
  if (!opened) return opened.error();
  const json::value* id = opened->end.fields.if_contains("session");
  if (opened->end.variant != "ok" || id == nullptr || !id->is_string()) {
    return Error{.code = Code::failed, .message = "the session was not kept", .next = "log in again"};
  }
  // Whoever logs in anew leaves the session before.
  if (auto before = cookie_in(request, cookie_name(peer)); before && *before) {
    if (auto old = parts_.authority->authenticate_session(**before)) (void)close({.in = *old}, peer);
  }
  if (parts_.log) parts_.log(caller.name + " logged in from " + peer.address);
  const std::string text = host::session_text(std::string(id->get_string()), secret);
  return Opened{.who = {.in = {.caller = caller, .session = std::string(id->get_string()), .expires_ms = expires_ms},
                        .csrf = host::csrf_of(text)},
                .cookie = cookie_of(peer, text, (expires_ms - now_ms) / 1000)};
}

Result<std::string> Logins::close(const Who& who, const http::Peer& peer) {
  auto closed = parts_.engine->invoke(
      {.action = "Session/leave", .input = {{"session", who.in.session}}, .caller = who.in.caller});
  if (!closed) return closed.error();
  return cookie_of(peer, "", 0);
}

}  // namespace sluice::api
