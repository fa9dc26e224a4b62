// OpenSSL's objects, shared by all connections that show them.
#include "crypto/identity.h"

#include <openssl/decoder.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>

#include "crypto/chain.h"
#include "crypto/evp.h"

namespace sluice::crypto {
namespace {

Error bad_identity(std::string message) { return {.code = Code::invalid, .message = std::move(message)}; }

bool is_same_host(std::string_view name, std::string_view host) {
  return std::ranges::equal(name, host, [](char one, char other) {
    return (one >= 'A' && one <= 'Z' ? static_cast<char>(one | 0x20) : one) == other;
  });
}

// Without a callback OpenSSL would ask for a passphrase at the terminal.
int refuse(char*, int, int, void*) { return -1; }

// Where the kind of key is known OpenSSL 3 need not try all that it knows, which takes four times as long: with
// thousands of certificates this is what a start waits for.
EVP_PKEY* read_key_like(std::string_view pem, const EVP_PKEY* other) {
  EVP_PKEY* key = nullptr;
  const std::unique_ptr<OSSL_DECODER_CTX, FreeWith<OSSL_DECODER_CTX_free>> decoder(OSSL_DECODER_CTX_new_for_pkey(
      &key, "PEM", nullptr, EVP_PKEY_get0_type_name(other), EVP_PKEY_KEYPAIR, nullptr, nullptr));
  must(decoder != nullptr && OSSL_DECODER_CTX_set_pem_password_cb(decoder.get(), refuse, nullptr) == 1,
       "OSSL_DECODER_CTX_new_for_pkey");
  const unsigned char* bytes = as_bytes(pem);
  size_t size = pem.size();
  if (OSSL_DECODER_from_data(decoder.get(), &bytes, &size) == 1) return key;
  EVP_PKEY_free(key);
  return nullptr;
}

EVP_PKEY* read_key(std::string_view pem, const EVP_PKEY* expected) {
  EVP_PKEY* key = expected != nullptr ? read_key_like(pem, expected) : nullptr;
  if (key == nullptr) {
    BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    must(bio != nullptr, "BIO_new_mem_buf");
    key = PEM_read_bio_PrivateKey(bio.get(), nullptr, refuse, nullptr);
  }
  ERR_clear_error();
  return key;
}

}  // namespace

Result<std::shared_ptr<const Identity>> Identity::read(std::string_view chain_pem, std::string_view key_pem) {
  auto chain = parse_chain(chain_pem);
  if (!chain) return chain.error();
  std::shared_ptr<Identity> made(new Identity);
  made->facts_ = facts_of(chain->front().get());
  if (made->facts_.names.empty()) return bad_identity("the certificate names no host and no address");
  made->leaf_ = chain->front().release();
  made->rest_ = sk_X509_new_null();
  must(made->rest_ != nullptr, "sk_X509_new_null");
  for (size_t i = 1; i < chain->size(); ++i) {
    must(sk_X509_push(made->rest_, (*chain)[i].get()) > 0, "sk_X509_push");
    (void)(*chain)[i].release();
  }
  made->key_ = read_key(key_pem, X509_get0_pubkey(made->leaf_));
  if (made->key_ == nullptr) return bad_identity("the private key cannot be read");
  const bool fits = X509_check_private_key(made->leaf_, made->key_) == 1;
  ERR_clear_error();
  if (!fits) return bad_identity("the private key is not that of the certificate");
  return std::shared_ptr<const Identity>(std::move(made));
}

Identity::~Identity() {
  X509_free(leaf_);
  sk_X509_pop_free(rest_, X509_free);
  EVP_PKEY_free(key_);
}

bool Identity::is_rsa() const { return EVP_PKEY_get_base_id(key_) == EVP_PKEY_RSA; }

bool Identity::covers(std::string_view host) const {
  return std::ranges::any_of(facts_.names, [&](std::string_view name) {
    if (is_same_host(name, host)) return true;
    size_t dot = host.find('.');
    return name.starts_with("*.") && dot != std::string_view::npos && dot > 0 &&
           is_same_host(name.substr(1), host.substr(dot));
  });
}

}  // namespace sluice::crypto
