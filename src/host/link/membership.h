// Membership is what a home has whose router obeys a control plane on another machine: router/link.json says which one,
// where it can be reached and whose orders count; router/link.key is the router's own key, which never leaves the home;
// router/link.pem the certificate for it.
//
//   auto membership = join_as_router(disk, home, clock, {.url = …, .token = …, .name = "edge"});
//   auto known = read_membership(disk, home);             // nothing: this home's router obeys its own control plane
//   auto renewed = renew_membership(disk, home, clock, *known, 3'000);
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"
#include "crypto/ed25519.h"
#include "host/contexts.h"
#include "host/home.h"

namespace sluice::host {

struct Membership {
  std::string schema = "sluice.router-link.v1";
  std::string name;
  std::string router;  // the ULID that the router has
  std::string environment;
  std::vector<std::string> urls;    // of the control plane's replicas, as they were heard of last
  std::string url;                  // where it joined, which is tried, too
  std::string ca;                   // who certifies the servers, in PEM; empty: those whom the system believes
  std::vector<std::string> trust;   // public keys whose orders count, in PEM
  std::vector<std::string> listen;  // where the router listens unless it is told otherwise
};
BOOST_DESCRIBE_STRUCT(Membership, (), (schema, name, router, environment, urls, url, ca, trust, listen))

struct RouterJoin {
  std::string url, token, name;
  std::vector<std::string> listen;
};

// The server that a token is for: nothing is sent to one that another authority has certified than the token names.
// `again`: what makes another token.
Result<ServerContext> server_of_token(const std::string& url, const std::string& token, const std::string& again,
                                      const Clock& clock);

// `conflict`: the home is in use, or has joined already.
Result<Membership> join_as_router(Disk& disk, const Home& home, const Clock& clock, const RouterJoin& join);
Result<std::optional<Membership>> read_membership(Disk& disk, const Home& home);
Result<void> write_membership(Disk& disk, const Home& home, const Membership& membership);
Result<std::vector<crypto::PublicKey>> trusted_by(const Membership& membership);

// Its certificate and its key, in PEM.
struct LinkIdentity {
  std::string chain_pem, key_pem;
  int64_t until_ms = 0;
};
Result<LinkIdentity> link_identity(Disk& disk, const Home& home);
// Has the certificate renewed by its key, at the first of the URLs that does.
Result<void> renew_membership(Disk& disk, const Home& home, const Clock& clock, const Membership& membership,
                              int64_t patience_ms);
// All its URLs, each once.
std::vector<std::string> urls_of(const Membership& membership);

}  // namespace sluice::host
