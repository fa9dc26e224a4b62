// The search for first letters is Shift-Or (Baeza-Yates and Gonnet) over eight groups of them at once: of a word of
// four bytes, each shifted on with every byte of the text, the last says which groups may have begun four bytes ago. It
// has no branch but one for sixteen bytes. What begins like a secret is then looked at closely.
#include "bundle/secrets/secret_patterns.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "bundle/archive/archive_reader.h"
#include "bundle/secrets/private_keys.h"
#include "bundle/secrets/secret_assignments.h"
#include "bundle/secrets/secret_letters.h"

namespace sluice::bundle {

namespace {

// A token: its first letters, then between least and most characters of a kind, then none of that kind.
struct TokenForm {
  std::string_view prefix;
  std::string_view kind;
  Fits fits;
  size_t least;
  size_t most;
};

constexpr size_t kAny = 512;

constexpr std::array kTokens = {
    TokenForm{"AKIA", "an AWS access key", [](char c) { return is_upper(c) || is_digit(c); }, 16, 16},
    TokenForm{"ASIA", "an AWS access key", [](char c) { return is_upper(c) || is_digit(c); }, 16, 16},
    TokenForm{"ghp_", "a GitHub token", is_alnum, 36, 36},
    TokenForm{"gho_", "a GitHub token", is_alnum, 36, 36},
    TokenForm{"ghu_", "a GitHub token", is_alnum, 36, 36},
    TokenForm{"ghs_", "a GitHub token", is_alnum, 36, 36},
    TokenForm{"ghr_", "a GitHub token", is_alnum, 36, 76},
    TokenForm{"github_pat_", "a GitHub token", [](char c) { return is_alnum(c) || c == '_'; }, 60, 100},
    TokenForm{"glpat-", "a GitLab token", is_base64url, 20, 64},
    TokenForm{"xoxb-", "a Slack token", is_base64url, 24, kAny},
    TokenForm{"xoxp-", "a Slack token", is_base64url, 24, kAny},
    TokenForm{"xoxa-", "a Slack token", is_base64url, 24, kAny},
    TokenForm{"xoxr-", "a Slack token", is_base64url, 24, kAny},
    TokenForm{"xoxs-", "a Slack token", is_base64url, 24, kAny},
    TokenForm{"xapp-", "a Slack token", is_base64url, 24, kAny},
    TokenForm{"sk_live_", "a Stripe key", is_alnum, 20, 256},
    TokenForm{"rk_live_", "a Stripe key", is_alnum, 20, 256},
    TokenForm{"AIza", "a Google API key", is_base64url, 35, 35},
    TokenForm{"ya29.", "a Google access token", is_base64url, 30, kAny},
    TokenForm{"GOCSPX-", "a Google client secret", is_base64url, 28, 28},
    TokenForm{"npm_", "an npm token", is_alnum, 36, 36},
    TokenForm{"pypi-AgE", "a PyPI token", is_base64url, 50, kAny},
    TokenForm{"dop_v1_", "a DigitalOcean token", is_hex, 64, 64},
    TokenForm{"sk-ant-", "an API key", is_base64url, 40, kAny},
    TokenForm{"sk-proj-", "an API key", is_base64url, 40, kAny},
    TokenForm{"hvs.", "a Vault token", is_base64url, 24, kAny},
    TokenForm{"shpat_", "a Shopify token", is_hex, 32, 32},
    TokenForm{"lin_api_", "a Linear key", is_alnum, 32, 64},
    TokenForm{"dckr_pat_", "a Docker token", is_base64url, 20, 64},
    TokenForm{"AGE-SECRET-KEY-1", "an age key", [](char c) { return is_upper(c) || is_digit(c); }, 58, 58},
    TokenForm{"AccountKey=", "an Azure storage key", is_base64, 80, 100},
};

constexpr std::string_view kPrivateKey = "a private key";
constexpr std::string_view kWebToken = "a JSON Web Token";
constexpr std::string_view kBearer = "a bearer token";
constexpr std::string_view kLogin = "a login in base64";
constexpr std::string_view kAddress = "an address with a password";

// What else is searched by its first letters. "eyJ" is base64 of {"; four letters make the search faster.
constexpr std::array<std::string_view, 9> kWebTokenStarts = {"eyJh", "eyJ0", "eyJr", "eyJ4", "eyJl",
                                                             "eyJj", "eyJp", "eyJ1", "eyJi"};
constexpr std::array<std::string_view, 9> kAddressStarts = {"http://", "https://", "gres://", "gresql://", "ysql://",
                                                            "godb://", "+srv://",  "edis://", "amqp://"};
constexpr std::array<std::string_view, 2> kBearerStarts = {"Bearer ", "bearer "};
constexpr std::string_view kBasicStart = "Basic ";
constexpr std::string_view kDockerAuths = "eyJhdXRocyI6";  // {"auths":
constexpr std::string_view kPuttyStart = "PuTTY-User-Key-File-";
// Archives and what is compressed. gzip has too few letters of its own, so its usual flags are added; those of bzip2
// stand behind a digit, four letters from the beginning.
constexpr std::array<std::string_view, 12> kArchiveStarts = {"PK\x03\x04",
                                                             "hsqs",
                                                             "\x28\xb5\x2f\xfd",
                                                             "\xfd"
                                                             "7zXZ",
                                                             "\x04\x22\x4d\x18",
                                                             {"\x1f\x8b\x08\x00", 4},
                                                             "\x1f\x8b\x08\x04",
                                                             "\x1f\x8b\x08\x08",
                                                             "\x1f\x8b\x08\x0c",
                                                             "\x1f\x8b\x08\x10",
                                                             "\x1f\x8b\x08\x18",
                                                             "1AY&SY"};
constexpr size_t kBzip2LettersBefore = 4;

std::optional<size_t> web_token(std::string_view text) {
  size_t header = run_length(text, is_base64url);
  if (header < 16 || header >= text.size() || text[header] != '.') return std::nullopt;
  size_t payload = run_length(text.substr(header + 1), is_base64url);
  size_t second = header + 1 + payload;
  if (payload < 8 || second >= text.size() || text[second] != '.') return std::nullopt;
  if (!text.substr(header + 1).starts_with("eyJ")) return std::nullopt;
  size_t signature = run_length(text.substr(second + 1), is_base64url);
  if (signature < 16) return std::nullopt;
  // "alg" in base64, at each of the three places that it can have in a group of letters.
  std::string_view head = text.substr(0, header);
  bool has_algorithm = head.find("ImFsZyI") != std::string_view::npos ||
                       head.find("hbGciO") != std::string_view::npos || head.find("YWxnI") != std::string_view::npos;
  if (!has_algorithm) return std::nullopt;
  return second + 1 + signature;
}

// From the first letters of the scheme: "gres://user:password@host".
std::optional<SecretMatch> address(std::string_view text, size_t begin) {
  size_t at = text.find("://", begin) + 3;
  std::string_view rest = text.substr(at, 300);
  size_t end = std::min(rest.find_first_of(" \t\r\n\"'<>`()[]{}|\\^/?#"), rest.size());
  std::string_view authority = rest.substr(0, end);
  size_t sign = authority.rfind('@');
  size_t colon = authority.find(':');
  if (sign == std::string_view::npos || colon == std::string_view::npos || colon > sign) return std::nullopt;
  std::string_view password = authority.substr(colon + 1, sign - colon - 1);
  bool has_host = sign + 1 < authority.size() && is_alnum(authority[sign + 1]);
  if (!has_host || colon == 0 || password.size() < 6 || is_placeholder(password)) return std::nullopt;
  return SecretMatch{kAddress, at + colon + 1, password.size()};
}

// Whether what begins like an archive has a header that its tools write.
bool can_be_archive(std::string_view header) {
  auto format = sniff_for_search(header.substr(0, kSniffBytes));
  if (!format || *format == ArchiveFormat::tar || header.size() < 30) return false;
  auto byte = [&](size_t at) { return static_cast<unsigned>(static_cast<unsigned char>(header[at])); };
  auto number = [&](size_t at) { return byte(at) | byte(at + 1) << 8; };
  switch (*format) {
    case ArchiveFormat::zip:  // a version that exists, a known way of compressing, a name
      return number(4) <= 63 && number(8) <= 99 && number(26) > 0 && number(26) <= 4096;
    case ArchiveFormat::squashfs:  // its version
      return header.size() >= 96 && number(28) == 4 && number(30) == 0;
    case ArchiveFormat::tar_gz:  // how hard it tried, and on which system
      return (byte(8) == 0 || byte(8) == 2 || byte(8) == 4) && (byte(9) <= 13 || byte(9) == 255);
    default:
      return true;
  }
}

struct Start {
  std::string_view letters;
  enum class What {
    token,
    pem,
    encoded_pem,
    putty,
    web_token,
    address,
    bearer,
    basic,
    encoded_der,
    web_key,
    archive
  } what;
  size_t token = 0;
};

constexpr size_t kWindow = 4;

class StartTable {
 public:
  StartTable() {
    unfit_.fill(~uint32_t{0});
    for (size_t i = 0; i < kTokens.size(); ++i) add({kTokens[i].prefix, Start::What::token, i});
    for (std::string_view letters : kWebTokenStarts) add({letters, Start::What::web_token});
    for (std::string_view letters : kAddressStarts) add({letters, Start::What::address});
    for (std::string_view letters : kBearerStarts) add({letters, Start::What::bearer});
    for (std::string_view letters : kEncodedDerStarts) add({letters, Start::What::encoded_der});
    add({kBasicStart, Start::What::basic});
    add({kPemStart, Start::What::pem});
    add({kEncodedPemStart, Start::What::encoded_pem});
    add({kPuttyStart, Start::What::putty});
    add({kJwkStart, Start::What::web_key});
    for (std::string_view letters : kArchiveStarts) add({letters, Start::What::archive});
  }

  // The next place from `at` on, before `to`, where some letters stand; npos if there is none.
  size_t find(std::string_view text, size_t at, size_t to, const Start*& found) const {
    constexpr size_t kTogether = 16;  // bytes that are asked about at once
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    const size_t end = std::min(to, text.size() < kWindow ? 0 : text.size() - kWindow + 1);
    uint32_t unfit = ~uint32_t{0};
    for (size_t i = 0; i + 1 < kWindow && at < end; ++i) unfit = unfit << 8 | unfit_[bytes[at + i]];
    for (; at + kTogether <= end; at += kTogether) {
      uint32_t all = ~uint32_t{0};
      for (size_t i = 0; i < kTogether; ++i) {
        unfit = unfit << 8 | unfit_[bytes[at + i + kWindow - 1]];
        all &= unfit;
      }
      if (all >> 24 == 0xFF) continue;
      if (size_t place = look(text, at, at + kTogether, found); place != std::string_view::npos) return place;
    }
    return look(text, at, end, found);
  }

 private:
  // The same, place by place.
  size_t look(std::string_view text, size_t at, size_t end, const Start*& found) const {
    for (; at < end; ++at) {
      for (const Start& start : starts_[bucket_[pair_at(text, at)]]) {
        if (text.substr(at).starts_with(start.letters)) {
          found = &start;
          return at;
        }
      }
    }
    return std::string_view::npos;
  }

  void add(const Start& start) {
    uint8_t& bucket = bucket_[pair_at(start.letters, 0)];
    if (bucket == 0) {
      bucket = static_cast<uint8_t>(starts_.size());
      starts_.emplace_back();
    }
    starts_[bucket].push_back(start);
    const uint32_t group = bucket % 8U;  // those with the same first two letters stay together
    for (size_t i = 0; i < kWindow; ++i) {
      unfit_[static_cast<unsigned char>(start.letters[i])] &= ~(uint32_t{1} << (8 * i + group));
    }
  }

  static size_t pair_at(std::string_view letters, size_t at) {
    return static_cast<size_t>(static_cast<unsigned char>(letters[at])) << 8 |
           static_cast<unsigned char>(letters[at + 1]);
  }

  // Bit g of byte i is clear if the byte can be the letter number i of something in group g.
  std::array<uint32_t, 256> unfit_{};
  std::array<uint8_t, 65536> bucket_{};            // in starts_, by the first two letters
  std::vector<std::vector<Start>> starts_ = {{}};  // none of them is in the first
};

const StartTable& start_table() {
  static const StartTable table;
  return table;
}

std::optional<SecretMatch> look_closely(std::string_view text, size_t at, const Start& start, bool is_binary) {
  std::string_view rest = text.substr(at, kSecretLookAhead);
  char before = at == 0 ? ' ' : text[at - 1];
  switch (start.what) {
    case Start::What::token: {
      const TokenForm& form = kTokens[start.token];
      size_t length = run_length(rest.substr(form.prefix.size()), form.fits);
      if (is_alnum(before) || before == '_' || length < form.least || length > form.most) return std::nullopt;
      std::string_view body = rest.substr(form.prefix.size(), length);
      // Documentation shows tokens, too; a real one is not made of one letter and does not say EXAMPLE.
      if (is_placeholder(body) || body.ends_with("EXAMPLE")) return std::nullopt;
      if (form.prefix == "AccountKey=" || looks_random(body)) {
        return SecretMatch{form.kind, at, form.prefix.size() + length};
      }
      return std::nullopt;
    }
    case Start::What::pem:
      if (auto length = pem_key(rest, is_binary)) return SecretMatch{kPrivateKey, at, *length};
      return std::nullopt;
    case Start::What::encoded_pem:
      if (auto length = encoded_pem_key(rest)) return SecretMatch{kPrivateKey, at, *length};
      return std::nullopt;
    case Start::What::putty:
      if (rest.find("Private-Lines:") == std::string_view::npos) return std::nullopt;
      return SecretMatch{kPrivateKey, at, rest.size()};
    case Start::What::web_token:
      if (is_base64url(before)) return std::nullopt;
      if (auto length = web_token(rest)) return SecretMatch{kWebToken, at, *length};
      if (size_t length = run_length(rest, is_base64); rest.starts_with(kDockerAuths) && length >= 40) {
        return SecretMatch{kLogin, at, length};
      }
      return std::nullopt;
    case Start::What::bearer:
    case Start::What::basic: {
      if (is_binary || is_alnum(before)) return std::nullopt;
      const size_t begin = start.letters.size();
      std::string_view body = rest.substr(begin);
      body = body.substr(0, run_length(body, [](char c) {
                           return is_base64url(c) || is_base64(c) || c == '.' || c == '~' || c == '=';
                         }));
      if (start.what == Start::What::basic) {
        return is_login(body) ? std::optional(SecretMatch{kLogin, at + begin, body.size()}) : std::nullopt;
      }
      // One that has a form of its own is found by that.
      const bool has_form = body.starts_with("eyJ") || find_token(body, 0, body.size(), false);
      if (has_form || is_placeholder(body) || !looks_random(body)) return std::nullopt;
      return SecretMatch{kBearer, at + begin, body.size()};
    }
    case Start::What::encoded_der:
      if (is_base64(before)) return std::nullopt;
      if (auto length = encoded_der_key(rest)) return SecretMatch{kPrivateKey, at, *length};
      return std::nullopt;
    case Start::What::address:
      if (is_binary) return std::nullopt;
      return address(text, at);
    case Start::What::web_key:
      if (is_binary) return std::nullopt;
      if (auto key = web_key(text, at)) return SecretMatch{kPrivateKey, key->begin, key->length, at};
      return std::nullopt;
    case Start::What::archive:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<SecretMatch> find_token(std::string_view text, size_t from, size_t to, bool is_binary,
                                      std::vector<size_t>* archives_at) {
  const StartTable& table = start_table();
  const Start* start = nullptr;
  for (size_t at = from;;) {
    at = table.find(text, at, to, start);
    if (at == std::string_view::npos) return std::nullopt;
    if (start->what == Start::What::archive && archives_at != nullptr) {
      const size_t before = start->letters.starts_with("1AY") ? kBzip2LettersBefore : 0;
      if (at >= before && can_be_archive(text.substr(at - before))) archives_at->push_back(at - before);
    }
    if (auto match = look_closely(text, at, *start, is_binary)) return match;
    ++at;
  }
}

}  // namespace sluice::bundle
