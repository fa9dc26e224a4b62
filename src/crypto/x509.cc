// OpenSSL's X509, with its errors as ours.
#include "crypto/x509.h"

#include <arpa/inet.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstring>
#include <ctime>

#include "crypto/chain.h"
#include "crypto/evp.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"
#include "crypto/signing_request.h"

namespace sluice::crypto {
namespace {

using StorePtr = std::unique_ptr<X509_STORE, FreeWith<X509_STORE_free>>;
using StoreContextPtr = std::unique_ptr<X509_STORE_CTX, FreeWith<X509_STORE_CTX_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, FreeWith<X509_EXTENSION_free>>;
using TimePtr = std::unique_ptr<ASN1_TIME, FreeWith<ASN1_TIME_free>>;
using RequestPtr = std::unique_ptr<X509_REQ, FreeWith<X509_REQ_free>>;

struct FreeStack {
  void operator()(STACK_OF(X509) * stack) const { sk_X509_free(stack); }
};
struct FreeNames {
  void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
};

Error bad_chain(std::string message) { return {.code = Code::invalid, .message = std::move(message)}; }

bool is_address(const std::string& text) {
  std::array<unsigned char, 16> bytes{};
  return inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 || inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

std::string text_of(const X509_NAME* name) {
  BioPtr bio(BIO_new(BIO_s_mem()));
  must(bio != nullptr, "BIO_new");
  X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<size_t>(size)};
}

int64_t ms_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return 0;
  return static_cast<int64_t>(timegm(&parts)) * 1'000;
}

std::vector<std::string> names_of(X509* certificate, std::vector<std::string>& uris) {
  std::vector<std::string> all;
  std::unique_ptr<GENERAL_NAMES, FreeNames> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  ERR_clear_error();
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* each = sk_GENERAL_NAME_value(names.get(), i);
    if (each->type == GEN_DNS) {
      all.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(each->d.dNSName)),
                       static_cast<size_t>(ASN1_STRING_length(each->d.dNSName)));
    } else if (each->type == GEN_URI) {
      uris.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(each->d.uniformResourceIdentifier)),
                        static_cast<size_t>(ASN1_STRING_length(each->d.uniformResourceIdentifier)));
    } else if (each->type == GEN_IPADD) {
      std::array<char, INET6_ADDRSTRLEN> text{};
      const int family = ASN1_STRING_length(each->d.iPAddress) == 4 ? AF_INET : AF_INET6;
      if (inet_ntop(family, ASN1_STRING_get0_data(each->d.iPAddress), text.data(), text.size()) != nullptr) {
        all.emplace_back(text.data());
      }
    }
  }
  return all;
}

std::string ed25519_of(X509* certificate) {
  const EVP_PKEY* key = X509_get0_pubkey(certificate);
  std::string raw(32, '\0');
  size_t size = raw.size();
  if (key == nullptr || EVP_PKEY_get_id(key) != EVP_PKEY_ED25519) return {};
  must(EVP_PKEY_get_raw_public_key(key, reinterpret_cast<unsigned char*>(raw.data()), &size) == 1,
       "EVP_PKEY_get_raw_public_key");
  return raw;
}

void extend(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  must(extension != nullptr, "X509V3_EXT_conf_nid");
  must(X509_add_ext(certificate, extension.get(), -1) == 1, "X509_add_ext");
}

void set_time(ASN1_TIME* time, int64_t at_ms) {
  must(ASN1_TIME_set(time, static_cast<time_t>(at_ms / 1'000)) != nullptr, "ASN1_TIME_set");
}

Result<KeyPtr> read_key(std::string_view pem) {
  BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  must(bio != nullptr, "BIO_new_mem_buf");
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (!key) return bad_chain("the issuer's key cannot be read");
  return key;
}

template <class Write>
std::string written(Write write_to) {
  BioPtr bio(BIO_new(BIO_s_mem()));
  must(bio != nullptr && write_to(bio.get()) == 1, "PEM_write_bio");
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  std::string text(bytes, static_cast<size_t>(size));
  OPENSSL_cleanse(bytes, static_cast<size_t>(size));
  return text;
}

// What may stand in a list of names: nothing that would be read as another entry.
bool is_plain_name(const std::string& name) {
  if (name.empty() || name.size() > 253) return false;
  for (char c : name) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                      c == '.' || c == '_' || c == '*' || c == ':';
    if (!fits) return false;
  }
  return true;
}

bool is_plain_uri(const std::string& uri) {
  if (uri.size() > 2'000) return false;
  for (char c : uri) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                      c == '.' || c == '_' || c == '/' || c == ':';
    if (!fits) return false;
  }
  return true;
}

}  // namespace

CertificateFacts facts_of(X509* certificate) {
  unsigned char* der = nullptr;
  const int size = i2d_X509(certificate, &der);
  must(size > 0, "i2d_X509");
  const std::string fingerprint = to_string(sha256({reinterpret_cast<const char*>(der), static_cast<size_t>(size)}));
  OPENSSL_free(der);
  std::vector<std::string> uris;
  std::vector<std::string> names = names_of(certificate, uris);
  return {.subject = text_of(X509_get_subject_name(certificate)),
          .issuer = text_of(X509_get_issuer_name(certificate)),
          .names = std::move(names),
          .uris = std::move(uris),
          .ed25519 = ed25519_of(certificate),
          .from_ms = ms_of(X509_get0_notBefore(certificate)),
          .until_ms = ms_of(X509_get0_notAfter(certificate)),
          .is_ca = X509_check_ca(certificate) > 0,
          .fingerprint = fingerprint};
}

Result<std::vector<X509Ptr>> parse_chain(std::string_view pem) {
  if (pem.size() > kMaxChainBytes) return bad_chain("the certificates have more than 1 MB");
  BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  must(bio != nullptr, "BIO_new_mem_buf");
  std::vector<X509Ptr> chain;
  while (true) {
    X509Ptr one(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (!one) break;
    chain.push_back(std::move(one));
  }
  const bool ended = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (chain.empty()) return bad_chain("there is no certificate in it");
  if (!ended) return bad_chain("certificate " + std::to_string(chain.size() + 1) + " cannot be read");
  return chain;
}

Result<std::vector<CertificateFacts>> read_certificates(std::string_view pem) {
  auto chain = parse_chain(pem);
  if (!chain) return chain.error();
  std::vector<CertificateFacts> all;
  for (const X509Ptr& each : *chain) all.push_back(facts_of(each.get()));
  return all;
}

namespace {

std::string public_bytes(const EVP_PKEY* key) {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key, &der);
  must(size > 0, "i2d_PUBKEY");
  std::string bytes(reinterpret_cast<const char*>(der), static_cast<size_t>(size));
  OPENSSL_free(der);
  return bytes;
}

// A certificate for the key, and those that signed it.
Result<std::string> signed_chain(EVP_PKEY* key, const CertificateOrder& order, const MadeCertificate* issuer,
                                 const std::string& serial_of, int64_t now_ms) {
  for (const std::string& each : order.names) {
    if (!is_plain_name(each)) return bad_chain("a name of the certificate is no host and no address");
  }
  for (const std::string& each : order.constrained_to) {
    if (!is_plain_name(each)) return bad_chain("a domain that the CA is constrained to is none");
  }
  if (!is_plain_uri(order.uri)) return bad_chain("the certificate's URI is not a SPIFFE ID");
  std::vector<X509Ptr> issuers;
  KeyPtr issuer_key;
  if (issuer != nullptr) {
    auto chain = parse_chain(issuer->chain_pem);
    if (!chain) return chain.error();
    if (X509_check_ca(chain->front().get()) == 0) return bad_chain("the issuer may not sign certificates");
    auto key = read_key(issuer->key_pem.reveal());
    if (!key) return key.error();
    issuers = *std::move(chain);
    issuer_key = *std::move(key);
  }
  X509Ptr made(X509_new());
  must(made != nullptr && X509_set_version(made.get(), X509_VERSION_3) == 1, "X509_new");
  auto serial = sha256(serial_of);
  serial[0] &= 0x7fU;
  const std::unique_ptr<BIGNUM, FreeWith<BN_free>> number(BN_bin2bn(serial.data(), 16, nullptr));
  must(BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(made.get())) != nullptr, "BN_to_ASN1_INTEGER");
  set_time(X509_getm_notBefore(made.get()), now_ms - 60'000);  // clocks differ a little
  set_time(X509_getm_notAfter(made.get()), order.until_ms);
  must(X509_set_pubkey(made.get(), key) == 1, "X509_set_pubkey");
  // An address as the subject would be taken for a host that the issuer is not constrained to.
  std::string subject = order.name;
  for (const std::string& each : order.names) {
    if (subject.empty() && !is_address(each)) subject = each;
  }
  if (subject.empty() && !order.names.empty()) subject = "addresses";
  must(X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8, as_bytes(subject),
                                  static_cast<int>(subject.size()), -1, 0) == 1,
       "X509_NAME_add_entry_by_txt");
  X509* signer = issuers.empty() ? made.get() : issuers.front().get();
  must(X509_set_issuer_name(made.get(), X509_get_subject_name(signer)) == 1, "X509_set_issuer_name");
  extend(made.get(), signer, NID_basic_constraints, order.is_ca ? "critical,CA:TRUE" : "critical,CA:FALSE");
  extend(made.get(), signer, NID_key_usage, order.is_ca ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature");
  extend(made.get(), signer, NID_subject_key_identifier, "hash");
  if (!issuers.empty()) extend(made.get(), signer, NID_authority_key_identifier, "keyid");
  if (!order.is_ca && !order.signs_only) extend(made.get(), signer, NID_ext_key_usage, "serverAuth,clientAuth");
  if (!order.constrained_to.empty()) {
    std::string rules = "critical";
    for (const std::string& each : order.constrained_to) rules += ",permitted;DNS:" + each;
    extend(made.get(), signer, NID_name_constraints,
           rules +
               ",permitted;IP:127.0.0.0/255.0.0.0"
               ",permitted;IP:0:0:0:0:0:0:0:1/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
  }
  std::string names;
  for (const std::string& each : order.names) {
    names += (names.empty() ? "" : ",") + std::string(is_address(each) ? "IP:" : "DNS:") + each;
  }
  if (!order.uri.empty()) names += (names.empty() ? "URI:" : ",URI:") + order.uri;
  if (!names.empty()) extend(made.get(), signer, NID_subject_alt_name, names);
  if (!order.acme_digest.empty()) {
    const std::unique_ptr<ASN1_OBJECT, FreeWith<ASN1_OBJECT_free>> kind(OBJ_txt2obj("1.3.6.1.5.5.7.1.31", 1));
    const std::unique_ptr<ASN1_OCTET_STRING, FreeWith<ASN1_OCTET_STRING_free>> value(ASN1_OCTET_STRING_new());
    const std::string der = std::string("\x04") + static_cast<char>(order.acme_digest.size()) + order.acme_digest;
    must(kind && value && ASN1_OCTET_STRING_set(value.get(), as_bytes(der), static_cast<int>(der.size())) == 1,
         "ASN1_OCTET_STRING_set");
    ExtensionPtr extension(X509_EXTENSION_create_by_OBJ(nullptr, kind.get(), 1, value.get()));
    must(extension && X509_add_ext(made.get(), extension.get(), -1) == 1, "X509_add_ext");
  }
  EVP_PKEY* signing = issuers.empty() ? key : issuer_key.get();
  const bool hashes = EVP_PKEY_get_id(signing) != EVP_PKEY_ED25519;
  must(X509_sign(made.get(), signing, hashes ? sha256_algorithm() : nullptr) > 0, "X509_sign");
  std::string chain = written([&](BIO* bio) { return PEM_write_bio_X509(bio, made.get()); });
  if (issuer != nullptr) chain += issuer->chain_pem;
  return chain;
}

Result<RequestPtr> read_request(std::string_view der) {
  const unsigned char* at = as_bytes(der);
  RequestPtr request(der.size() > kMaxChainBytes ? nullptr : d2i_X509_REQ(nullptr, &at, static_cast<long>(der.size())));
  ERR_clear_error();
  if (!request || at != as_bytes(der) + der.size()) return bad_chain("the signing request cannot be read");
  const bool holds = X509_REQ_verify(request.get(), X509_REQ_get0_pubkey(request.get())) == 1;
  ERR_clear_error();
  if (holds) return request;
  return Error{.code = Code::verification_failed, .message = "the signing request is not signed with its own key"};
}

}  // namespace

Result<MadeCertificate> make_certificate(const CertificateOrder& order, const MadeCertificate* issuer, int64_t now_ms) {
  KeyPtr key(order.ed25519 ? EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519") : EVP_EC_gen("P-256"));
  must(key != nullptr, "EVP_EC_gen");
  // No other certificate has this key, so none has this number.
  auto chain = signed_chain(key.get(), order, issuer, public_bytes(key.get()), now_ms);
  if (!chain) return chain.error();
  MadeCertificate result{.chain_pem = *std::move(chain)};
  std::string key_pem = written(
      [&](BIO* bio) { return PEM_write_bio_PKCS8PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
  result.key_pem = SecretBuffer::copy_of(key_pem);
  wipe(key_pem);
  return result;
}

Result<std::string> key_in_request(std::string_view der) {
  auto request = read_request(der);
  if (!request) return request.error();
  return to_string(sha256(public_bytes(X509_REQ_get0_pubkey(request->get()))));
}

Result<std::string> key_in_certificate(std::string_view pem) {
  auto chain = parse_chain(pem);
  if (!chain) return chain.error();
  return to_string(sha256(public_bytes(X509_get0_pubkey(chain->front().get()))));
}

Result<std::string> certify_request(std::string_view der, const CertificateOrder& order, const MadeCertificate& issuer,
                                    int64_t now_ms) {
  auto request = read_request(der);
  if (!request) return request.error();
  EVP_PKEY* key = X509_REQ_get0_pubkey(request->get());
  // One key may have several certificates, each of another moment.
  return signed_chain(key, order, &issuer, public_bytes(key) + std::to_string(now_ms), now_ms);
}

Result<SigningRequest> make_signing_request(const std::vector<std::string>& names, std::string_view key_pem) {
  std::string list;
  for (const std::string& each : names) {
    if (!is_plain_name(each)) return bad_chain("a name of the certificate is no host and no address");
    list += (list.empty() ? "" : ",") + std::string(is_address(each) ? "IP:" : "DNS:") + each;
  }
  KeyPtr key;
  if (key_pem.empty()) {
    key.reset(EVP_EC_gen("P-256"));
    must(key != nullptr, "EVP_EC_gen");
  } else {
    auto read = read_key(key_pem);
    if (!read) return read.error();
    key = *std::move(read);
  }
  const std::unique_ptr<X509_REQ, FreeWith<X509_REQ_free>> request(X509_REQ_new());
  must(request && X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) == 1 &&
           X509_REQ_set_pubkey(request.get(), key.get()) == 1,
       "X509_REQ_new");
  X509V3_CTX context;
  X509V3_set_ctx(&context, nullptr, nullptr, request.get(), nullptr, 0);
  struct FreeExtensions {
    void operator()(STACK_OF(X509_EXTENSION) * all) const { sk_X509_EXTENSION_pop_free(all, X509_EXTENSION_free); }
  };
  std::unique_ptr<STACK_OF(X509_EXTENSION), FreeExtensions> extensions(sk_X509_EXTENSION_new_null());
  X509_EXTENSION* alternatives = X509V3_EXT_conf_nid(nullptr, &context, NID_subject_alt_name, list.c_str());
  must(extensions && alternatives != nullptr && sk_X509_EXTENSION_push(extensions.get(), alternatives) > 0 &&
           X509_REQ_add_extensions(request.get(), extensions.get()) == 1,
       "X509_REQ_add_extensions");
  must(X509_REQ_sign(request.get(), key.get(), sha256_algorithm()) > 0, "X509_REQ_sign");
  unsigned char* der = nullptr;
  const int size = i2d_X509_REQ(request.get(), &der);
  must(size > 0, "i2d_X509_REQ");
  SigningRequest made{.der = {reinterpret_cast<const char*>(der), static_cast<size_t>(size)}};
  OPENSSL_free(der);
  std::string pem = written(
      [&](BIO* bio) { return PEM_write_bio_PKCS8PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
  made.key_pem = SecretBuffer::copy_of(pem);
  wipe(pem);
  return made;
}

Result<void> verify_chain(std::string_view chain_pem, std::string_view roots_pem, const std::string& host,
                          int64_t now_ms) {
  auto chain = parse_chain(chain_pem);
  if (!chain) return chain.error();
  auto roots = parse_chain(roots_pem);
  if (!roots) return roots.error();
  StorePtr store(X509_STORE_new());
  must(store != nullptr, "X509_STORE_new");
  for (const X509Ptr& each : *roots) must(X509_STORE_add_cert(store.get(), each.get()) == 1, "X509_STORE_add_cert");
  std::unique_ptr<STACK_OF(X509), FreeStack> others(sk_X509_new_null());
  must(others != nullptr, "sk_X509_new_null");
  for (size_t i = 1; i < chain->size(); ++i) sk_X509_push(others.get(), (*chain)[i].get());
  StoreContextPtr context(X509_STORE_CTX_new());
  must(context != nullptr && X509_STORE_CTX_init(context.get(), store.get(), chain->front().get(), others.get()) == 1,
       "X509_STORE_CTX_init");
  X509_VERIFY_PARAM* rules = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_time(rules, static_cast<time_t>(now_ms / 1'000));
  const bool named = host.empty()       ? true
                     : is_address(host) ? X509_VERIFY_PARAM_set1_ip_asc(rules, host.c_str()) == 1
                                        : X509_VERIFY_PARAM_set1_host(rules, host.c_str(), host.size()) == 1;
  must(named, "X509_VERIFY_PARAM_set1_host");
  const bool holds = X509_verify_cert(context.get()) == 1;
  ERR_clear_error();
  if (holds) return {};
  return Error{.code = Code::verification_failed,
               .message = "the certificate is not to be believed for " + host + ": " +
                          X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.get()))};
}

}  // namespace sluice::crypto
