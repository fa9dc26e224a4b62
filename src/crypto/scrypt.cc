// OpenSSL's, with a bound on what it may take.
#include "crypto/scrypt.h"

#include "crypto/evp.h"

namespace sluice::crypto {

Result<SecretBuffer> scrypt(std::string_view passphrase, std::string_view salt, const ScryptCost& cost, size_t bytes) {
  if (cost.n < 2 || (cost.n & (cost.n - 1)) != 0 || cost.r == 0 || cost.p == 0) {
    return Error{.code = Code::invalid, .message = "the cost of a passphrase makes no sense"};
  }
  if (cost.n > (1 << 22) || cost.r > 64 || cost.p > 16 || 128 * cost.n * cost.r > kMaxScryptBytes) {
    return Error{.code = Code::limit, .message = "the passphrase would cost more than 256 MB of memory"};
  }
  SecretBuffer key(bytes);
  must(EVP_PBE_scrypt(passphrase.data(), passphrase.size(), as_bytes(salt), salt.size(), cost.n, cost.r, cost.p,
                      kMaxScryptBytes * 2, key.writable().data(), key.size()) == 1,
       "EVP_PBE_scrypt");
  return key;
}

}  // namespace sluice::crypto
