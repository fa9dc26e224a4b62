// How private keys look: PEM blocks, also in strings of programs, DER, and JSON Web Keys. Used by
// bundle/secrets/secret_patterns.h and bundle/secrets/content_scanner.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice::bundle {

constexpr std::string_view kPemStart = "-----BEGIN ";
constexpr std::string_view kJwkStart = "\"kty\"";

// How long a private key in PEM at the beginning of the text is; nothing if there is none. Libraries hold the words
// "BEGIN PRIVATE KEY" without one, so what follows must look like one. In a binary it must be one by its form.
std::optional<size_t> pem_key(std::string_view text, bool is_binary);

// The same of one that is encoded in base64 as a whole, as in a Secret of Kubernetes: it begins with kEncodedPemStart.
constexpr std::string_view kEncodedPemStart = "LS0tLS1CRUdJTi";
std::optional<size_t> encoded_pem_key(std::string_view text);

// The private part of the JSON Web Key around kJwkStart at `at`: "d" of a pair of keys, "k" of one that is shared.
struct WebKey {
  size_t begin = 0;
  size_t length = 0;
};
std::optional<WebKey> web_key(std::string_view text, size_t at);

// How long a private key in DER is that is encoded in base64 as a whole, without the lines of PEM around it. It begins
// with one of kEncodedDerStarts, which the length of a key that is in use gives it; so do certificates.
constexpr std::array<std::string_view, 15> kEncodedDerStarts = {"MIIB", "MIIC", "MIIE", "MIIF", "MIIG",
                                                                "MIIH", "MIIJ", "MHcC", "MC4C", "MIGH",
                                                                "MIGk", "MIG2", "MIHc", "MIHu", "MFMC"};
std::optional<size_t> encoded_der_key(std::string_view text);

// Whether a file that begins with these bytes, and has so many, is a private key in DER: PKCS #1, PKCS #8 (encrypted,
// too), SEC 1, or PKCS #12. A few bytes may stand behind it.
bool is_der_key(std::string_view first_bytes, uint64_t size);

}  // namespace sluice::bundle
