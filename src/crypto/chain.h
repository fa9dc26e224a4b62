// A chain of certificates as OpenSSL's objects, for those who keep them. Everybody else reads facts (x509.h).
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "crypto/evp.h"

namespace sluice::crypto {

using X509Ptr = std::unique_ptr<X509, FreeWith<X509_free>>;

// All certificates of a PEM text, in their order; there is at least one.
Result<std::vector<X509Ptr>> parse_chain(std::string_view pem);

}  // namespace sluice::crypto
