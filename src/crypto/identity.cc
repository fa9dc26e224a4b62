// OpenSSL's objects, shared by all connections that show them.
#include "crypto/identity.h"

#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>

#include "crypto/evp.h"

namespace sluice::crypto {
namespace {

Error bad_identity(std::string message) { return {.code = Code::invalid, .message = std::move(message)}; }

bool is_same_host(std::string_view name, std::string_view host) {
  return std::ranges::equal(name, host, [](char one, char other) {
    return (one >= 'A' && one <= 'Z' ? static_cast<char>(one | 0x20) : one) == other;
  });
}

}  // namespace

Result<std::shared_ptr<const Identity>> Identity::read(std::string_view chain_pem, std::string_view key_pem) {
  auto facts = read_certificates(chain_pem);
  if (!facts) return facts.error();
  std::shared_ptr<Identity> made(new Identity);
  made->facts_ = std::move(facts->front());
  if (made->facts_.names.empty()) return bad_identity("the certificate names no host and no address");
  BioPtr chain(BIO_new_mem_buf(chain_pem.data(), static_cast<int>(chain_pem.size())));
  must(chain != nullptr, "BIO_new_mem_buf");
  made->leaf_ = PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr);
  made->rest_ = sk_X509_new_null();
  must(made->leaf_ != nullptr && made->rest_ != nullptr, "PEM_read_bio_X509");
  while (X509* next = PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr)) {
    must(sk_X509_push(made->rest_, next) > 0, "sk_X509_push");
  }
  BioPtr key(BIO_new_mem_buf(key_pem.data(), static_cast<int>(key_pem.size())));
  must(key != nullptr, "BIO_new_mem_buf");
  // Without a callback OpenSSL would ask for a passphrase at the terminal.
  pem_password_cb* refuse = [](char*, int, int, void*) { return -1; };
  made->key_ = PEM_read_bio_PrivateKey(key.get(), nullptr, refuse, nullptr);
  ERR_clear_error();
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
