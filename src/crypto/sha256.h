// SHA-256, whole or in pieces. Digests are written "sha256:<64 hex digits>" wherever people or files see them.
#pragma once

#include <openssl/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/disk.h"
#include "base/result.h"

namespace sluice::crypto {

using Sha256 = std::array<uint8_t, 32>;

Sha256 sha256(std::string_view bytes);
// Of all bytes of a file, which need not fit into memory.
Result<Sha256> sha256(File& file);

// "sha256:" and 64 lowercase hex digits.
std::string to_string(const Sha256& digest);

// Reads exactly what to_string writes; another prefix, uppercase digits and another length are errors.
Result<Sha256> parse_sha256(std::string_view text);

// Hashes what comes in pieces. After finish the stream is as new. One thread at a time; move, not copy.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(Sha256Stream&&) noexcept;
  Sha256Stream& operator=(Sha256Stream&&) noexcept;

  void update(std::string_view bytes);
  Sha256 finish();

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const;
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

}  // namespace sluice::crypto
