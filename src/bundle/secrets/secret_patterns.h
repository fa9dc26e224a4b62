// Secrets that are known by the letters that they begin with: private keys, access keys and tokens, JSON Web Tokens,
// what follows Bearer and Basic in headers, and addresses with passwords in them. Used by
// bundle/secrets/content_scanner.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::bundle {

// How far before and behind its beginning a secret is looked at. A private key that is longer is known by its start.
constexpr size_t kSecretLookBehind = 1024;
constexpr size_t kSecretLookAhead = 4096;

struct SecretMatch {
  std::string_view kind;  // "a private key", for people
  size_t begin = 0;       // where it stands in the text
  size_t length = 0;
  size_t found_at = 0;  // where it was found, which may lie behind it; from behind both the search goes on
};

// The first secret that begins at `from` or later and before `to`, found by its first letters. Text that is known not
// to be binary is searched for more kinds. Above 1 GB/s on binaries: most places are passed over three bytes at a time.
// `archives_at` gets the places that are passed at which an archive, or something compressed, can begin.
std::optional<SecretMatch> find_token(std::string_view text, size_t from, size_t to, bool is_binary,
                                      std::vector<size_t>* archives_at = nullptr);

}  // namespace sluice::bundle
