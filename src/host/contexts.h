// The servers that a person has logged in to, each a context by its name, and the one that commands go to now. `local`
// is the home on this machine, and is always there. Kept with the tokens in keys/contexts.json of the home, mode 0600.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/disk.h"
#include "base/json_fields.h"
#include "base/result.h"
#include "host/home.h"

namespace sluice::host {

inline constexpr std::string_view kLocalContext = "local";

// How a token of an OpenID provider is renewed.
struct SsoContext {
  std::string token_endpoint;
  std::string client;
  std::string refresh_token;

  bool operator==(const SsoContext&) const = default;
};
BOOST_DESCRIBE_STRUCT(SsoContext, (), (token_endpoint, client, refresh_token))

struct ServerContext {
  std::string url;  // "http://127.0.0.1:8400", "https://sluice.example"
  std::string token;
  std::string ca;  // who must have signed the server's certificate, in PEM; empty: whom the system believes
  std::optional<SsoContext> sso = std::nullopt;
  static constexpr std::string_view kDefaulted[] = {"ca"};

  bool operator==(const ServerContext&) const = default;
};
BOOST_DESCRIBE_STRUCT(ServerContext, (), (url, token, ca, sso))

struct Contexts {
  std::string current = std::string(kLocalContext);
  std::map<std::string, ServerContext> servers;

  // Where commands go; none: to the home on this machine.
  std::optional<ServerContext> server() const;
};
BOOST_DESCRIBE_STRUCT(Contexts, (), (current, servers))

Result<Contexts> read_contexts(Disk& disk, const Home& home);
Result<void> write_contexts(Disk& disk, const Home& home, const Contexts& contexts);

// The same after the token of the current server was renewed, if it is of a provider and about to end; kept. One
// process at a time does it: a provider takes a refresh token that comes twice for a stolen one.
Result<Contexts> read_renewed_contexts(Disk& disk, const Home& home, Clock& clock);

struct ServerAddress {
  std::string address;  // or a name, with TLS
  uint16_t port = 0;
  bool tls = false;
};
// https://HOST[:PORT], or http://ADDRESS:PORT of this machine. Others are refused: a token must not cross a network in
// the clear.
Result<ServerAddress> address_in(const std::string& url);

}  // namespace sluice::host
