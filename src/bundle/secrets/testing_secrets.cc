// Letters come from digests of numbers.
#include "bundle/secrets/testing_secrets.h"

#include "bundle/secrets/secret_patterns.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"

namespace sluice::bundle {

std::string kind_of(const std::string& text, bool is_binary) {
  auto match = find_token(text, 0, text.size(), is_binary);
  return match ? std::string(match->kind) : "";
}

std::string random_letters(size_t count) {
  std::string letters;
  for (int i = 0; letters.size() < count; ++i) letters += crypto::to_hex(crypto::sha256(std::to_string(i)));
  return letters.substr(0, count);
}

std::string pem_of(const std::string& label, const std::string& line_break) {
  std::string dashes(5, '-');
  return dashes + "BEGIN " + label + dashes + line_break + random_letters(64) + line_break + random_letters(64) +
         line_break + dashes + "END " + label + dashes + line_break;
}

}  // namespace sluice::bundle
