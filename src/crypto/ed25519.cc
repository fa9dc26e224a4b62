// Ed25519 by OpenSSL. Keys are taken out of their PKCS#8 and SPKI wrappers here, not by OpenSSL's decoders, so that a
// key of another kind is named and never interpreted.
#include "crypto/ed25519.h"

#include <openssl/objects.h>
#include <openssl/pem.h>

#include <algorithm>

#include "crypto/evp.h"
#include "crypto/hex.h"
#include "crypto/pem.h"
#include "crypto/sha256.h"

namespace sluice::crypto {

namespace {

constexpr std::string_view kPrivateLabel = "PRIVATE KEY";
constexpr std::string_view kPublicLabel = "PUBLIC KEY";
constexpr std::string_view kMakePrivate = "make a key with: openssl genpkey -algorithm ed25519 -out KEY";
constexpr std::string_view kMakePublic = "get the public key with: openssl pkey -in KEY -pubout -out PUBLIC-KEY";

// The encodings of the points of order 1, 2, 4 and 8 without their sign bit, canonical and not.
constexpr std::string_view kSmallOrder[] = {
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
};

Error wrong_key(std::string message, std::string_view next) {
  return Error{.code = Code::invalid, .message = std::move(message), .next = std::string(next)};
}

// "expected an Ed25519 private key in PKCS#8 (-----BEGIN PRIVATE KEY-----), found …"
Error wrong_label(std::string_view expected, std::string_view found) {
  if (found == "ENCRYPTED PRIVATE KEY") {
    return wrong_key("the key is encrypted with a passphrase, expected one that is not",
                     "decrypt it with: openssl pkey -in KEY -out PLAIN-KEY");
  }
  const bool want_private = expected == kPrivateLabel;
  return wrong_key(std::string("expected an Ed25519 ") +
                       (want_private ? "private key in PKCS#8" : "public key in SubjectPublicKeyInfo") +
                       " (\"-----BEGIN " + std::string(expected) + "-----\"), found \"-----BEGIN " +
                       std::string(found) + "-----\"",
                   want_private ? kMakePrivate : kMakePublic);
}

Error wrong_algorithm(const ASN1_OBJECT* found, std::string_view next) {
  char name[80] = "";
  OBJ_obj2txt(name, sizeof name, found, 0);
  ERR_clear_error();
  return wrong_key(std::string("expected a key for Ed25519, found one for ") + name, next);
}

std::string drain(BIO* bio) {
  char* bytes = nullptr;
  long size = BIO_get_mem_data(bio, &bytes);
  return {bytes, static_cast<size_t>(size)};
}

}  // namespace

Result<PublicKey> PublicKey::from_raw(std::string_view bytes) {
  if (bytes.size() != kBytes) {
    return Error{.code = Code::invalid,
                 .message = "an Ed25519 public key is 32 bytes long, this one is " + std::to_string(bytes.size()),
                 .next = std::string(kMakePublic)};
  }
  PublicKey key;
  std::copy(bytes.begin(), bytes.end(), key.bytes_.begin());
  auto unsigned_bytes = key.bytes_;
  unsigned_bytes.back() &= 0x7f;
  if (std::ranges::find(kSmallOrder, to_hex(unsigned_bytes)) != std::end(kSmallOrder)) {
    return Error{
        .code = Code::invalid,
        .message = "this is a point of small order, not an Ed25519 public key: signatures under it mean nothing",
        .next = "do not trust whoever gave it; ask for their key on another way"};
  }
  return key;
}

Result<PublicKey> PublicKey::from_pem(std::string_view text) {
  auto block = parse_pem(text);
  if (!block) return block.error();
  if (block->label != kPublicLabel) return wrong_label(kPublicLabel, block->label);

  const std::string_view der = block->der.reveal();
  const unsigned char* at = as_bytes(der);
  SpkiPtr spki(d2i_X509_PUBKEY(nullptr, &at, static_cast<long>(der.size())));
  ERR_clear_error();
  ASN1_OBJECT* algorithm = nullptr;
  const unsigned char* key = nullptr;
  int key_size = 0;
  if (!spki || at != as_bytes(der) + der.size() ||
      X509_PUBKEY_get0_param(&algorithm, &key, &key_size, nullptr, spki.get()) != 1) {
    return wrong_key("the PEM does not hold a public key: its DER is damaged", kMakePublic);
  }
  if (OBJ_obj2nid(algorithm) != NID_ED25519) return wrong_algorithm(algorithm, kMakePublic);
  return from_raw({reinterpret_cast<const char*>(key), static_cast<size_t>(key_size)});
}

std::string PublicKey::key_id() const { return to_hex(sha256(raw())).substr(0, 32); }

std::string PublicKey::to_pem() const {
  KeyPtr key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_.data(), bytes_.size()));
  BioPtr bio(BIO_new(BIO_s_mem()));
  must(key && bio && PEM_write_bio_PUBKEY(bio.get(), key.get()) == 1, "PEM_write_bio_PUBKEY");
  return drain(bio.get());
}

bool PublicKey::verify(std::string_view message, std::string_view signature) const {
  if (signature.size() != std::tuple_size_v<Signature>) return false;
  KeyPtr key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_.data(), bytes_.size()));
  DigestPtr context(EVP_MD_CTX_new());
  must(key && context && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1,
       "EVP_DigestVerifyInit");
  const int holds =
      EVP_DigestVerify(context.get(), as_bytes(signature), signature.size(), as_bytes(message), message.size());
  ERR_clear_error();
  return holds == 1;
}

void PrivateKey::Free::operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }

PrivateKey::PrivateKey(EVP_PKEY* owned) : key_(owned) {
  size_t size = PublicKey::kBytes;
  must(key_ && EVP_PKEY_get_raw_public_key(key_.get(), public_key_.bytes_.data(), &size) == 1 &&
           size == PublicKey::kBytes,
       "EVP_PKEY_get_raw_public_key");
}

PrivateKey::~PrivateKey() = default;
PrivateKey::PrivateKey(PrivateKey&&) noexcept = default;
PrivateKey& PrivateKey::operator=(PrivateKey&&) noexcept = default;

PrivateKey PrivateKey::generate() { return PrivateKey(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")); }

PrivateKey PrivateKey::from_seed(std::span<const uint8_t, kSeedBytes> seed) {
  return PrivateKey(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size()));
}

Result<PrivateKey> PrivateKey::from_pem(std::string_view text) {
  auto block = parse_pem(text);
  if (!block) {
    Error error = block.error();
    if (!error.next.empty()) return error;
    return Error{.code = error.code,
                 .message = "this is not an Ed25519 private key: " + error.message,
                 .next = std::string(kMakePrivate),
                 .position = error.position};
  }
  if (block->label != kPrivateLabel) return wrong_label(kPrivateLabel, block->label);

  const std::string_view der = block->der.reveal();
  const unsigned char* at = as_bytes(der);
  Pkcs8Ptr pkcs8(d2i_PKCS8_PRIV_KEY_INFO(nullptr, &at, static_cast<long>(der.size())));
  ERR_clear_error();
  const ASN1_OBJECT* algorithm = nullptr;
  const unsigned char* key = nullptr;
  int key_size = 0;
  if (!pkcs8 || at != as_bytes(der) + der.size() ||
      PKCS8_pkey_get0(&algorithm, &key, &key_size, nullptr, pkcs8.get()) != 1) {
    return wrong_key("the PEM does not hold a private key: its DER is damaged", kMakePrivate);
  }
  if (OBJ_obj2nid(algorithm) != NID_ED25519) return wrong_algorithm(algorithm, kMakePrivate);
  // RFC 8410 wraps the seed once more: OCTET STRING (04), 32 bytes (20).
  if (key_size != 2 + kSeedBytes || key[0] != 0x04 || key[1] != kSeedBytes) {
    return wrong_key("the PEM holds an Ed25519 private key that is not 32 bytes long", kMakePrivate);
  }
  return from_seed(std::span<const uint8_t, kSeedBytes>(key + 2, kSeedBytes));
}

Signature PrivateKey::sign(std::string_view message) const {
  Signature signature;
  size_t size = signature.size();
  DigestPtr context(EVP_MD_CTX_new());
  must(context && EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
           EVP_DigestSign(context.get(), signature.data(), &size, as_bytes(message), message.size()) == 1 &&
           size == signature.size(),
       "EVP_DigestSign");
  return signature;
}

SecretBuffer PrivateKey::to_pem() const {
  BioPtr bio(BIO_new(BIO_s_secmem()));  // wiped when it is freed
  must(bio && PEM_write_bio_PKCS8PrivateKey(bio.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1,
       "PEM_write_bio_PKCS8PrivateKey");
  char* bytes = nullptr;
  long size = BIO_get_mem_data(bio.get(), &bytes);
  return SecretBuffer::copy_of({bytes, static_cast<size_t>(size)});
}

}  // namespace sluice::crypto
