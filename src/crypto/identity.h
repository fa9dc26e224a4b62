// A certificate chain with its private key, as a TLS server shows it: read, and checked against each other. It cannot
// be changed, so any thread may use one.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "crypto/x509.h"

struct evp_pkey_st;
struct stack_st_X509;
struct x509_st;

namespace sluice::crypto {

class Identity {
 public:
  // Fails if either cannot be read, if the key is not that of the first certificate, or if it names no host or address.
  static Result<std::shared_ptr<const Identity>> read(std::string_view chain_pem, std::string_view key_pem);
  ~Identity();
  Identity(const Identity&) = delete;
  Identity& operator=(const Identity&) = delete;

  const CertificateFacts& facts() const { return facts_; }
  bool is_rsa() const;
  // Whether one of its names is that host or address, in small letters; "*.shop.example" is for one label.
  bool covers(std::string_view host) const;

  x509_st* leaf() const { return leaf_; }
  stack_st_X509* rest() const { return rest_; }  // of the chain
  evp_pkey_st* key() const { return key_; }

 private:
  Identity() = default;

  CertificateFacts facts_;
  x509_st* leaf_ = nullptr;
  stack_st_X509* rest_ = nullptr;
  evp_pkey_st* key_ = nullptr;
};

}  // namespace sluice::crypto
