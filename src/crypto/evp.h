// Owning pointers for the OpenSSL objects that this folder uses, and the one way it treats a call that cannot fail:
// an OpenSSL call which fails although its input was checked means exhausted memory or a broken installation, so it
// throws. Failures that input can cause are Results of the functions that meet them.
#pragma once

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sluice::crypto {

template <auto free_function>
struct FreeWith {
  template <typename T>
  void operator()(T* object) const {
    free_function(object);
  }
};

using BioPtr = std::unique_ptr<BIO, FreeWith<BIO_free>>;
using CipherPtr = std::unique_ptr<EVP_CIPHER_CTX, FreeWith<EVP_CIPHER_CTX_free>>;
using DigestPtr = std::unique_ptr<EVP_MD_CTX, FreeWith<EVP_MD_CTX_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, FreeWith<EVP_PKEY_free>>;
using Pkcs8Ptr = std::unique_ptr<PKCS8_PRIV_KEY_INFO, FreeWith<PKCS8_PRIV_KEY_INFO_free>>;
using SpkiPtr = std::unique_ptr<X509_PUBKEY, FreeWith<X509_PUBKEY_free>>;

// Throws unless ok. The thread's error queue is emptied either way, so that no later call reads a stale error.
inline void must(bool ok, const char* call) {
  ERR_clear_error();
  if (!ok) throw std::runtime_error(std::string("OpenSSL failed in ") + call);
}

inline const unsigned char* as_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// SHA-256, looked up once: OpenSSL 3 searches its providers at every implicit use of EVP_sha256(), which costs more
// than hashing a short text.
const EVP_MD* sha256_algorithm();

}  // namespace sluice::crypto
