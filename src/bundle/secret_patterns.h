// How secrets look: private keys, access keys and tokens by the letters that they begin with, JSON Web Tokens,
// addresses with passwords in them, and assignments to names like password. Used by ContentScanner
// (bundle/secret_scan.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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
// `zip_at`, if it is npos, becomes the first place that is passed at which a zip can begin.
std::optional<SecretMatch> find_token(std::string_view text, size_t from, size_t to, bool is_binary,
                                      size_t* zip_at = nullptr);

// Whether a file that begins with these bytes, and has so many, is a private key in DER: PKCS #1, PKCS #8 (encrypted,
// too), SEC 1, or PKCS #12.
bool is_der_key(std::string_view first_bytes, uint64_t size);

// An assignment: the name before the sign at `sign`, '=' or ':', and the value behind it.
struct Assignment {
  std::string_view name;
  std::string_view value;
  bool quoted = false;
  bool at_line_start = false;
};

// Nothing if there is no name, or no value.
std::optional<Assignment> assignment_at(std::string_view text, size_t sign);

// Whether the name is one that secrets have: db_password, API_TOKEN, clientSecret.
bool names_a_secret(std::string_view name);
// Whether a value is a stand-in: ${PASSWORD}, <your token>, changeme, xxxxxxxx.
bool is_placeholder(std::string_view value);
// Whether a value looks like something that was made to be hard to guess.
bool looks_random(std::string_view value);

}  // namespace sluice::bundle
