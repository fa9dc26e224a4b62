// SHA-256 by OpenSSL.
#include "crypto/sha256.h"

#include <algorithm>

#include "crypto/evp.h"
#include "crypto/hex.h"

namespace sluice::crypto {

namespace {

constexpr std::string_view kPrefix = "sha256:";

}  // namespace

const EVP_MD* sha256_algorithm() {
  static const EVP_MD* const algorithm = [] {
    const EVP_MD* fetched = EVP_MD_fetch(nullptr, "SHA2-256", nullptr);
    must(fetched != nullptr, "EVP_MD_fetch");
    return fetched;
  }();
  return algorithm;
}

Sha256 sha256(std::string_view bytes) {
  // To make a context takes longer than to hash a short text.
  static thread_local Sha256Stream stream;
  stream.update(bytes);
  return stream.finish();
}

std::string to_string(const Sha256& digest) { return std::string(kPrefix) + to_hex(digest); }

Result<Sha256> parse_sha256(std::string_view text) {
  auto refuse = [](std::string message) {
    return Error{.code = Code::invalid,
                 .message = std::move(message),
                 .next = "write it as \"sha256:\" and the digits that sha256sum prints"};
  };
  if (!text.starts_with(kPrefix)) return refuse(R"(a digest must begin with "sha256:")");
  text.remove_prefix(kPrefix.size());
  Sha256 digest;
  if (text.size() != digest.size() * 2) {
    return refuse(R"(a digest has 64 hex digits after "sha256:", this one has )" + std::to_string(text.size()));
  }
  auto bytes = from_hex(text);
  if (!bytes) return refuse(R"(in the digest after "sha256:", )" + bytes.error().message);
  std::copy(bytes->begin(), bytes->end(), digest.begin());
  return digest;
}

void Sha256Stream::Free::operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }

Sha256Stream::Sha256Stream() : context_(EVP_MD_CTX_new()) {
  must(context_ && EVP_DigestInit_ex2(context_.get(), sha256_algorithm(), nullptr) == 1, "EVP_DigestInit_ex2");
}

Sha256Stream::~Sha256Stream() = default;
Sha256Stream::Sha256Stream(Sha256Stream&&) noexcept = default;
Sha256Stream& Sha256Stream::operator=(Sha256Stream&&) noexcept = default;

// A digest leaves no errors behind unless it fails; to empty the queue each time would take longer than a short text.
void Sha256Stream::update(std::string_view bytes) {
  if (EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1) must(false, "EVP_DigestUpdate");
}

Sha256 Sha256Stream::finish() {
  Sha256 digest;
  if (EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) != 1) must(false, "EVP_DigestFinal_ex");
  if (EVP_DigestInit_ex2(context_.get(), sha256_algorithm(), nullptr) != 1) must(false, "EVP_DigestInit_ex2");
  return digest;
}

Result<Sha256> sha256(File& file) {
  Sha256Stream digest;
  std::string piece(size_t{1} << 18U, '\0');
  for (uint64_t at = 0;; at += piece.size()) {
    auto got = file.read_at(at, piece);
    if (!got) return got.error();
    digest.update(std::string_view(piece).substr(0, *got));
    if (*got < piece.size()) return digest.finish();
  }
}

}  // namespace sluice::crypto
