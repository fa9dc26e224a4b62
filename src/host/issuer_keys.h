// The public keys of OpenID issuers, found by discovery and kept for ten minutes. A token that names a key which is not
// among them makes them be read again, at most twice a minute: an issuer that changes its keys is followed at once, and
// whoever invents names of keys does not make Sluice ask all the time.
//
//   auto keys = issuers.keys_of("https://ci.example", "k7");
//
// An issuer is reached over TLS, or in the clear at a loopback address. Any thread may ask.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "crypto/jwt.h"

namespace sluice::host {

// Whether tokens of such an issuer could be believed at all: https://…, or http:// of this machine.
bool is_issuer_url(std::string_view url);

class IssuerKeys {
 public:
  explicit IssuerKeys(const Clock& clock) : clock_(clock) {}

  Result<std::vector<crypto::Jwk>> keys_of(const std::string& issuer, const std::string& key_id);

 private:
  struct Kept {
    std::mutex mutex;
    std::vector<crypto::Jwk> keys;
    int64_t read_ns = 0;  // 0: never
    int64_t tried_ns = 0;
  };
  Result<std::vector<crypto::Jwk>> read(const std::string& issuer) const;

  const Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Kept>> kept_;
};

}  // namespace sluice::host
