// SsoLogins lets people log in with the OpenID provider that the access policy names: it sends the browser there, takes
// it back with a code, and opens a session (logins.h) for the person whom the provider's token stands for.
//
//   http::Response away = sso.begin(request, peer);       // GET /v1/login/sso/start
//   http::Response back = sso.finish(request, peer);      // GET /v1/login/sso/callback
//
// A login that was begun is good once, for ten minutes, and only in the browser that began it, which has a cookie for
// it: nobody can make another's browser finish theirs. The code is bound to it by PKCE, the token by its nonce.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "api/logins.h"
#include "base/random.h"
#include "host/openid.h"

namespace sluice::api {

class SsoLogins {
 public:
  // Both must outlive it.
  SsoLogins(const host::ServiceParts& parts, Logins& logins) : parts_(parts), logins_(logins) {}

  // With whom people log in; `not_found`: with nobody.
  Result<host::SsoDocument> about();
  http::Response begin(const http::Request& request, const http::Peer& peer);
  http::Response finish(const http::Request& request, const http::Peer& peer);

 private:
  struct Begun {
    host::SsoDocument with;
    std::string browser;  // the digest of its cookie
    std::string nonce, verifier, redirect;
    int64_t until_ns = 0;
  };
  Result<Logins::Opened> finished(const http::Request& request, const http::Peer& peer);

  const host::ServiceParts& parts_;
  Logins& logins_;
  RealRandom random_;
  std::mutex mutex_, asking_;
  // What the provider said last, so that whoever asks here does not make Sluice ask there each time.
  std::optional<host::OpenIdProvider> provider_;
  std::optional<Error> trouble_;
  std::string asked_;  // the issuer
  int64_t asked_ns_ = 0;
  std::map<std::string, Begun> begun_;  // by the digest of its state
};

}  // namespace sluice::api
