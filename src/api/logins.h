// Logins turns a token, or a code that is good once, into a session that a browser keeps as a cookie, and says who
// comes with one. What a session may do is what its token may do, and it ends with it (host/authority.h).
//
//   auto opened = logins.open(request, peer);                  // POST /v1/login
//   auto who = logins.who(request, peer);                      // none: the request has no cookie
//
// A cookie is sent along by the browser whoever asked it to, so a request that comes with one must come from a page of
// this server: its Origin and Sec-Fetch-Site say so, and a change has the header Sluice-Csrf besides, which only such a
// page can know. Whoever guesses is slowed down and written down; what was wrong is not told.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/random.h"
#include "host/authority.h"
#include "host/serving.h"
#include "http/server.h"

namespace sluice::api {

inline constexpr int64_t kSession_ms = int64_t{12} * 60 * 60 * 1000;
inline constexpr int64_t kOneTimeCodems = 60'000;
inline constexpr const char* kCsrfHeader = "Sluice-Csrf";

// The cookie of that name. Two of them are as good as none: somebody else has set one.
Result<std::optional<std::string>> cookie_in(const http::Request& request, const std::string& name);

class Logins {
 public:
  // What the parts lead to must outlive it.
  explicit Logins(const host::ServiceParts& parts) : parts_(parts) {}

  struct Who {
    host::LoggedIn in;
    std::string csrf;
  };
  // Who has logged in; none if there is no cookie.
  Result<std::optional<Who>> who(const http::Request& request, const http::Peer& peer) const;

  struct Opened {
    Who who;
    std::string cookie;  // the header Set-Cookie
  };
  // A new session for whoever the token or the code stands for. `limit`: too many were wrong; `next` has the seconds.
  Result<Opened> open(const http::Request& request, const http::Peer& peer, const std::string& token,
                      const std::string& code);
  // The same for somebody who is known otherwise. `run` binds the owner to one run of the server.
  Result<Opened> open_for(const http::Request& request, const http::Peer& peer, const engine::Caller& caller,
                          const std::string& run);
  // Whether this address has not been wrong too often; and one time more that it was.
  Result<void> may_try(const http::Peer& peer);
  void note_wrong(const std::string& address);
  // A code with which the caller can log in elsewhere, once, within a minute. `bearer` is what they came by.
  struct OneTimeCode {
    std::string code;
    int64_t expires_ms = 0;
  };
  Result<OneTimeCode> make_code(const engine::Caller& caller, const std::string& bearer);
  // Ends the session; the header that makes the browser forget it.
  Result<std::string> close(const Who& who, const http::Peer& peer);

 private:
  struct Promise {
    engine::Caller caller;
    std::string run;
    int64_t until_ns = 0;
  };

  Result<void> come_from_here(const http::Request& request) const;
  // How many seconds this address has to wait.
  int64_t wait_s(const std::string& address);
  std::optional<Promise> redeem(const std::string& code);
  std::string random_text();

  const host::ServiceParts& parts_;
  RealRandom random_;
  std::mutex mutex_;
  std::map<std::string, Promise> codes_;              // by digest
  std::map<std::string, std::deque<int64_t>> wrong_;  // when, by address
};

}  // namespace sluice::api
