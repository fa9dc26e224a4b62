// JoinedRouters are the routers on other machines that obey this control plane: who they are, with which key, and until
// when their certificates hold. It is the authority that signs these, too: keys/router-ca.pem and .key of the home. All
// of it is in keys/, so every replica of a control plane has it.
//
//   auto joined = routers.join({.name = "edge", …}, now_ms);             // a certificate for 24 hours
//   auto renewed = routers.renew(chain, request_der, now_ms);            // by its key, until 30 days after its end
//   auto router = routers.known_by(chain_shown, "edge", now_ms);         // of a connection
//
// A router's key never leaves its machine. Any thread may use it.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "crypto/x509.h"
#include "host/home.h"

namespace sluice::host {

inline constexpr int64_t kRouterCertificate_ms = int64_t{24} * 3'600'000;
inline constexpr int64_t kRenewableAfterEnd_ms = int64_t{30} * 24 * 3'600'000;

struct JoinedRouter {
  std::string name;
  std::string router;  // its ULID
  std::string environment;
  std::string machine;  // as it calls itself
  std::string key;      // "sha256:…" of its public key
  int64_t joined_ms = 0;
  int64_t until_ms = 0;  // the end of its newest certificate
};
BOOST_DESCRIBE_STRUCT(JoinedRouter, (), (name, router, environment, machine, key, joined_ms, until_ms))

struct JoinedRouterFile {
  std::string schema = "sluice.routers.v1";
  std::vector<JoinedRouter> routers;
};
BOOST_DESCRIBE_STRUCT(JoinedRouterFile, (), (schema, routers))

// Letters, digits, `-` and `_`, at most 40; as a router's folder is called.
bool is_router_name(std::string_view text);
// "spiffe://sluice/router/edge"
std::string router_identity(std::string_view name);

class JoinedRouters {
 public:
  // Both must outlive it.
  JoinedRouters(Disk& disk, const Home& home) : disk_(disk), home_(home) {}

  Result<std::vector<JoinedRouter>> list() const;

  struct Ask {
    std::string name, router, environment, machine;
    std::string request;  // a signing request in DER
  };
  // The certificate's chain. `conflict`: there is a router of this name.
  Result<std::string> join(const Ask& ask, int64_t now_ms);
  Result<std::string> renew(std::string_view chain_pem, std::string_view request, int64_t now_ms);
  // Whose certificate this is; `denied` if it is none of this authority's, of another router than it says, or of one
  // that was removed.
  Result<JoinedRouter> known_by(std::string_view chain_pem, std::string_view name, int64_t now_ms) const;
  Result<JoinedRouter> remove(const std::string& name);
  // Who signs their certificates, in PEM; empty as long as none has joined.
  Result<std::string> authority() const;
  // The same, made if need be.
  Result<std::string> ensure_authority(int64_t now_ms);

 private:
  Result<JoinedRouterFile> read() const;
  Result<void> write(const JoinedRouterFile& file);
  Result<crypto::MadeCertificate> signer(int64_t now_ms);
  Result<std::string> certify(const std::string& name, std::string_view request, int64_t now_ms);
  // The one that a chain of this authority is of, at a moment when it held.
  Result<JoinedRouter> owner_of(std::string_view chain_pem, int64_t at_ms) const;
  std::string path(const char* file) const { return (home_.root() / "keys" / file).string(); }

  Disk& disk_;
  const Home& home_;
  mutable std::mutex mutex_;
};

}  // namespace sluice::host
