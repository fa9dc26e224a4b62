// Outgoing is the one way from Sluice to other servers: HTTP/1.1, with or without TLS, directly or through a proxy.
//
//   Outgoing outgoing({.tls = {.roots_pem = ca}}, clock);
//   auto answer = outgoing.send({.url = "https://vault.example:8200/v1/sys/health"});
//
// An answer of any status is an answer. An Error says that there is none: `unavailable` (nobody is there, or the
// connection broke), `timeout`, `verification_failed` (TLS), `denied` (an address that the rules forbid), `limit` (an
// answer that is too large), `invalid` (no such URL). What was asked for may have been done, unless the error is one of
// the last four. Errors name the method, the host and the path; a query, a header, a body or a password never.
//
// Connections are kept for a while and used again. A request that meets a kept connection which the server has closed
// meanwhile is sent once more if it may be (GET, HEAD, PUT, DELETE). May be used from many threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "http/message.h"

namespace sluice::http {

struct Url {
  bool tls = false;
  std::string host;  // without brackets: "vault.example", "::1"
  uint16_t port = 0;
  std::string target;  // "/v1/secret?version=2"
  std::string user;    // "name:password", decoded; for proxies
};
Result<Url> parse_url(std::string_view text);
// "https://vault.example:8200/v1/secret": without the query and the user.
std::string shown_url(const Url& url);

struct Tls {
  std::string roots_pem;  // whom to believe; empty: those of the system
  std::string chain_pem;  // who this is, for servers that ask
  std::string key_pem;
  std::string server_name;  // that the certificate is to be of, if not the URL's host
};

// Where requests may go, so that whoever names a URL cannot reach what only this machine can. The addresses that a name
// stands for are looked at, and the connection goes to the very address that was.
struct AddressRules {
  bool only_public = false;          // no loopback, private, link-local, shared, multicast or reserved address
  std::vector<std::string> allowed;  // networks that are allowed all the same: "10.1.0.0/16"
};

struct Proxy {
  std::string url;                  // "http://user:password@proxy.example:3128"; empty: none
  std::vector<std::string> except;  // hosts, ".example" and networks that are reached directly
};
// As the variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY (or in small letters) say for this URL.
Proxy proxy_of(const std::function<std::string(const std::string&)>& variable, std::string_view url);

struct OutgoingRequest {
  std::string method = "GET";
  std::string url;
  std::vector<Header> headers;
  std::string body;
  // A body that is too large for memory: called until it has given `upload_bytes` in all.
  std::function<Result<std::string>(size_t most)> upload;
  uint64_t upload_bytes = 0;
  // Takes the answer's body piece by piece instead of it being kept; false ends the request in `unavailable`.
  std::function<bool(std::string_view piece)> download;
  // Whether `download` takes the body of an answer of this status, else it is kept; nothing: of any.
  std::function<bool(int status)> downloads;
  int64_t timeout_ms = 30'000;      // for all of it; with `download`, for each piece
  size_t most_bytes = 8 << 20;      // of the answer's body, unless it is downloaded
  std::function<bool()> cancelled;  // asked often
};

struct OutgoingAnswer {
  int status = 0;
  std::vector<Header> headers;
  std::string body;

  const std::string* header(std::string_view name) const { return find_header(headers, name); }
};

class Outgoing {
 public:
  struct Settings {
    Tls tls;
    AddressRules addresses;
    Proxy proxy;
  };

  Outgoing(Settings settings, const Clock& clock);
  ~Outgoing();
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;

  Result<OutgoingAnswer> send(const OutgoingRequest& request);

 private:
  struct Connection;
  class Exchange;

  std::unique_ptr<Connection> take_kept(const std::string& origin);
  void keep(std::unique_ptr<Connection> connection);

  const Settings settings_;
  const Clock& clock_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> kept_;
};

// Why an address must not be connected to; empty if it may. `address` is numeric.
std::string refusal_of_address(const AddressRules& rules, std::string_view address);

}  // namespace sluice::http
