// The search for first letters is Wu and Manber's: a table says for each two bytes how far the next beginning is at
// least, so that most bytes are never looked at. What begins like a secret is then looked at closely.
#include "bundle/secret_patterns.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::bundle {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_alnum(char c) { return is_digit(c) || is_upper(c) || is_lower(c); }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }
bool is_base64url(char c) { return is_alnum(c) || c == '_' || c == '-'; }
bool is_base64(char c) { return is_alnum(c) || c == '+' || c == '/'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lowered(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

using Fits = bool (*)(char);

size_t run_length(std::string_view text, Fits fits) {
  size_t n = 0;
  while (n < text.size() && fits(text[n])) ++n;
  return n;
}

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
constexpr std::string_view kAddress = "an address with a password";

// What else is searched by its first letters. "eyJ" is base64 of {"; four letters make the search faster.
constexpr std::array<std::string_view, 9> kWebTokenStarts = {"eyJh", "eyJ0", "eyJr", "eyJ4", "eyJl",
                                                             "eyJj", "eyJp", "eyJ1", "eyJi"};
constexpr std::array<std::string_view, 9> kAddressStarts = {"http://", "https://", "gres://", "gresql://", "ysql://",
                                                            "godb://", "+srv://",  "edis://", "amqp://"};
constexpr std::string_view kPemStart = "-----BEGIN ";
constexpr std::string_view kPuttyStart = "PuTTY-User-Key-File-";
constexpr std::string_view kJwkStart = "\"kty\"";
constexpr std::string_view kZipStart = "PK\x03\x04";

// The end of a line in a PEM block: a real one, or one written as an escape inside a string. A line may be a string of
// its own, in quotes, with a sign that joins it to the next; `joint` tells that.
size_t skip_line_break(std::string_view text, size_t at, bool& joint) {
  int quotes = 0;  // the first ends a string, the second begins the next one, whose letters follow
  while (quotes < 2) {
    const bool is_quote = at < text.size() && (text[at] == '"' || text[at] == '\'');
    if (is_quote) ++quotes;
    // A plus is a letter of the key, unless it stands between two strings.
    const bool joins = at < text.size() && (text[at] == ',' || text[at] == '.' || (text[at] == '+' && quotes == 1));
    const bool is_joint = is_quote || joins;
    if (is_joint || (at + 1 < text.size() && text[at] == '\\' && text[at + 1] == '\n')) {
      joint = joint || is_joint;
      ++at;
      continue;
    }
    if (at < text.size() && (text[at] == '\n' || text[at] == '\r' || is_blank(text[at]))) {
      ++at;
    } else if (at + 1 < text.size() && text[at] == '\\' && (text[at + 1] == 'n' || text[at + 1] == 'r')) {
      at += 2;
    } else {
      return at;
    }
  }
  return at;
}

uint8_t base64_value(char c) {
  if (is_upper(c)) return static_cast<uint8_t>(c - 'A');
  if (is_lower(c)) return static_cast<uint8_t>(c - 'a' + 26);
  if (is_digit(c)) return static_cast<uint8_t>(c - '0' + 52);
  return c == '+' ? 62 : 63;
}

// Whether letters of base64 can be a key: one of OpenSSH, or a sequence in DER that is as long as it says. `is_cut`:
// there are more letters than were looked at.
bool can_be_key(std::string_view letters, bool is_cut) {
  if (letters.starts_with("b3BlbnNzaC1rZXktdjE")) return true;  // "openssh-key-v1"
  while (letters.ends_with('=')) letters.remove_suffix(1);
  if (letters.size() < 8 || letters.find('=') != std::string_view::npos) return false;
  std::array<uint8_t, 6> first{};
  uint64_t bits = 0;
  for (size_t i = 0; i < 8; ++i) bits = bits << 6 | base64_value(letters[i]);
  for (size_t i = 0; i < first.size(); ++i) first[i] = static_cast<uint8_t>(bits >> (8 * (5 - i)));
  if (first[0] != 0x30) return false;
  size_t length = 0;
  if (first[1] < 0x80) {
    length = 2 + size_t{first[1]};
  } else if (first[1] == 0x81) {
    length = 3 + size_t{first[2]};
  } else if (first[1] == 0x82) {
    length = 4 + (size_t{first[2]} << 8 | first[3]);
  }
  const size_t bytes = letters.size() * 3 / 4;
  return is_cut ? length >= bytes : length == bytes;
}

// How long a private key at the beginning of the text is; libraries hold the words "BEGIN PRIVATE KEY" without one, so
// what follows must look like one. In a binary it must be one by its form.
std::optional<size_t> private_key(std::string_view text, bool is_binary) {
  size_t end = text.substr(0, 80).find("-----", kPemStart.size());
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view label = text.substr(kPemStart.size(), end - kPemStart.size());
  if (!label.ends_with("PRIVATE KEY") && !label.ends_with("PRIVATE KEY BLOCK")) return std::nullopt;
  bool joint = false;
  size_t at = skip_line_break(text, end + 5, joint);
  // Lines such as "Proc-Type: 4,ENCRYPTED" stand before the key itself.
  int headers = 0;
  for (; headers < 8; ++headers) {
    size_t word = run_length(text.substr(at), [](char c) { return is_alnum(c) || c == '-'; });
    if (word == 0 || at + word >= text.size() || text[at + word] != ':') break;
    size_t line = text.find_first_of("\n\\", at);
    if (line == std::string_view::npos) return std::nullopt;
    at = skip_line_break(text, line, joint);
  }
  std::string letters;
  bool quoted = false;  // letters stand behind a joint of strings; then they may be words of a program
  while (at < text.size()) {
    size_t run = run_length(text.substr(at), [](char c) { return is_base64(c) || c == '='; });
    quoted = quoted || (joint && run > 0);
    letters += text.substr(at, run);
    at += run;
    size_t next = skip_line_break(text, at, joint);
    if (next == at) break;
    at = next;
  }
  if (letters.size() < 40) return std::nullopt;
  // What is encrypted, and what PGP packs, has no form that could be seen.
  bool has_form = headers == 0 && !label.ends_with("BLOCK");
  if ((is_binary || quoted) && has_form && !can_be_key(letters, at >= text.size())) return std::nullopt;
  return at;
}

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

// A JSON Web Key with its private part: "d" of a pair of keys, "k" of one that is shared.
std::optional<SecretMatch> web_key(std::string_view text, size_t at) {
  const size_t open = text.substr(0, at).rfind('{');
  const size_t close = text.find('}', at);
  if (open == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
  for (std::string_view name : {"\"d\"", "\"k\""}) {
    for (size_t found = text.find(name, open); found < close; found = text.find(name, found + 1)) {
      size_t value = text.find_first_not_of(" \t\r\n", found + name.size());
      if (value >= close || text[value] != ':') continue;
      value = text.find_first_not_of(" \t\r\n", value + 1);
      if (value >= close || text[value] != '"') continue;
      const size_t length = run_length(text.substr(value + 1), is_base64url);
      if (length >= 16 && looks_random(text.substr(value + 1, length)))
        return SecretMatch{kPrivateKey, value + 1, length, at};
    }
  }
  return std::nullopt;
}

// The header of a zip's entry: a version that exists, a known way of compressing, a name.
bool can_be_zip(std::string_view header) {
  if (header.size() < 30) return false;
  auto number = [&](size_t at) {
    return static_cast<unsigned>(static_cast<unsigned char>(header[at])) |
           static_cast<unsigned>(static_cast<unsigned char>(header[at + 1])) << 8;
  };
  return number(4) <= 63 && number(8) <= 99 && number(26) > 0 && number(26) <= 4096;
}

// A length in DER at `at`, which is moved behind it.
std::optional<uint64_t> der_length(std::string_view bytes, size_t& at) {
  if (at >= bytes.size()) return std::nullopt;
  const auto first = static_cast<unsigned char>(bytes[at++]);
  if (first < 0x80) return first;
  const size_t more = first & 0x7F;
  if (more == 0 || more > 4 || at + more > bytes.size()) return std::nullopt;
  uint64_t length = 0;
  for (size_t i = 0; i < more; ++i) length = length << 8 | static_cast<unsigned char>(bytes[at++]);
  return length;
}

struct Start {
  std::string_view letters;
  enum class What { token, pem, putty, web_token, address, web_key, zip } what;
  size_t token = 0;
};

constexpr size_t kWindow = 4;

class StartTable {
 public:
  StartTable() {
    skip_.fill(kWindow - 1);
    for (size_t i = 0; i < kTokens.size(); ++i) add({kTokens[i].prefix, Start::What::token, i});
    for (std::string_view letters : kWebTokenStarts) add({letters, Start::What::web_token});
    for (std::string_view letters : kAddressStarts) add({letters, Start::What::address});
    add({kPemStart, Start::What::pem});
    add({kPuttyStart, Start::What::putty});
    add({kJwkStart, Start::What::web_key});
    add({kZipStart, Start::What::zip});
  }

  // The next place from `at` on, before `to`, where some letters stand; npos if there is none.
  size_t find(std::string_view text, size_t at, size_t to, const Start*& found) const {
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    // `at` is the window's beginning; its last two bytes decide.
    while (at < to && at + kWindow <= text.size()) {
      size_t pair = static_cast<size_t>(bytes[at + 2]) << 8 | bytes[at + 3];
      if (size_t skip = skip_[pair]; skip > 0) {
        at += skip;
        continue;
      }
      for (const Start& start : starts_) {
        if (text.substr(at).starts_with(start.letters)) {
          found = &start;
          return at;
        }
      }
      ++at;
    }
    return std::string_view::npos;
  }

 private:
  void add(const Start& start) {
    starts_.push_back(start);
    for (size_t i = 0; i + 2 <= kWindow; ++i) {
      size_t pair = static_cast<size_t>(static_cast<unsigned char>(start.letters[i])) << 8 |
                    static_cast<unsigned char>(start.letters[i + 1]);
      skip_[pair] = std::min<uint8_t>(skip_[pair], static_cast<uint8_t>(kWindow - 2 - i));
    }
  }

  std::array<uint8_t, 65536> skip_{};
  std::vector<Start> starts_;
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
      if (auto length = private_key(rest, is_binary)) return SecretMatch{kPrivateKey, at, *length};
      return std::nullopt;
    case Start::What::putty:
      if (rest.find("Private-Lines:") == std::string_view::npos) return std::nullopt;
      return SecretMatch{kPrivateKey, at, rest.size()};
    case Start::What::web_token:
      if (is_base64url(before)) return std::nullopt;
      if (auto length = web_token(rest)) return SecretMatch{kWebToken, at, *length};
      return std::nullopt;
    case Start::What::address:
      if (is_binary) return std::nullopt;
      return address(text, at);
    case Start::What::web_key:
      if (is_binary) return std::nullopt;
      return web_key(text, at);
    case Start::What::zip:
      return std::nullopt;
  }
  return std::nullopt;
}

bool is_name_character(char c) { return is_alnum(c) || c == '_' || c == '-' || c == '.'; }

constexpr std::array<std::string_view, 14> kSecretWords = {
    "password", "passwd", "passphrase", "secret",      "token",      "apikey",     "api_key",
    "api-key",  "pwd",    "credential", "private_key", "privatekey", "access_key", "accesskey"};
// Names that speak of a secret without holding one.
constexpr std::array<std::string_view, 20> kHarmlessEnds = {
    "file", "path",  "name", "url",   "uri",  "_id",    "type",   "length", "size",  "field",
    "hint", "label", "ttl",  "regex", "kind", "prefix", "expiry", "count",  "class", "header"};

}  // namespace

std::optional<SecretMatch> find_token(std::string_view text, size_t from, size_t to, bool is_binary, size_t* zip_at) {
  const StartTable& table = start_table();
  const Start* start = nullptr;
  for (size_t at = from;;) {
    at = table.find(text, at, to, start);
    if (at == std::string_view::npos) return std::nullopt;
    if (start->what == Start::What::zip && zip_at != nullptr && *zip_at == std::string_view::npos) {
      if (can_be_zip(text.substr(at))) *zip_at = at;
    }
    if (auto match = look_closely(text, at, *start, is_binary)) return match;
    ++at;
  }
}

bool is_der_key(std::string_view first_bytes, uint64_t size) {
  if (size < 32 || !first_bytes.starts_with('\x30')) return false;
  size_t at = 1;
  auto length = der_length(first_bytes, at);
  if (!length || at + *length != size) return false;
  std::string_view body = first_bytes.substr(at);
  const std::string_view kEncrypted("\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x05", 10);
  const std::string_view kEncryptedPkcs12("\x06\x0a\x2a\x86\x48\x86\xf7\x0d\x01\x0c", 10);
  if (body.starts_with('\x30')) {
    size_t inner = 1;
    if (!der_length(body, inner)) return false;
    return body.substr(inner).starts_with(kEncrypted) || body.substr(inner).starts_with(kEncryptedPkcs12);
  }
  // A version, then what the kind of key begins with.
  if (!body.starts_with(std::string_view("\x02\x01", 2)) || body.size() < 8) return false;
  const char version = body[2];
  const char next = body[3];
  size_t inner = 4;
  if (!der_length(body, inner) || inner >= body.size()) return false;
  if (version == 3) return next == '\x30' && body[inner] == '\x06';                  // PKCS #12
  if (version == 1 && next == '\x04') return true;                                   // SEC 1
  if (version == 0 && next == '\x02') return true;                                   // PKCS #1
  return (version == 0 || version == 1) && next == '\x30' && body[inner] == '\x06';  // PKCS #8
}

std::optional<Assignment> assignment_at(std::string_view text, size_t sign) {
  // Backwards: blanks, a closing quote, the name.
  size_t end = sign;
  if (end > 0 && text[sign] == '=' && text[end - 1] == ':') --end;  // :=
  while (end > 0 && is_blank(text[end - 1])) --end;
  if (end > 0 && (text[end - 1] == '"' || text[end - 1] == '\'' || text[end - 1] == ']')) --end;
  if (end > 0 && (text[end - 1] == '"' || text[end - 1] == '\'')) --end;
  size_t begin = end;
  while (begin > 0 && end - begin < 80 && is_name_character(text[begin - 1])) --begin;
  if (begin == end) return std::nullopt;
  Assignment found{.name = text.substr(begin, end - begin)};
  size_t line = begin;
  if (text.substr(0, line).ends_with("export ")) line -= 7;
  found.at_line_start = line == 0 || text[line - 1] == '\n';
  // Forwards: the rest of the sign, blanks, the value in quotes or to the next blank.
  size_t at = sign + 1;
  if (at < text.size() && text[at] == '>') ++at;                                      // =>
  if (at < text.size() && (text[at] == '=' || text[at] == ':')) return std::nullopt;  // ==, ::, and := counts at its =
  while (at < text.size() && is_blank(text[at])) ++at;
  std::string_view rest = text.substr(at, 600);
  if (rest.empty()) return std::nullopt;
  char quote = rest.front();
  if (quote == '"' || quote == '\'' || quote == '`') {
    rest.remove_prefix(1);
    size_t close = rest.find_first_of(std::string{quote, '\n'});
    if (close == std::string_view::npos || rest[close] != quote) return std::nullopt;
    found.value = rest.substr(0, close);
    found.quoted = true;
  } else {
    found.value = rest.substr(0, std::min(rest.find_first_of(" \t\r\n,;\"'`<>"), rest.size()));
  }
  if (found.value.empty()) return std::nullopt;
  return found;
}

bool names_a_secret(std::string_view name) {
  if (name == "PWD" || name == "OLDPWD") return false;  // every shell's folders
  std::string small = lowered(name);
  bool found = std::any_of(kSecretWords.begin(), kSecretWords.end(),
                           [&](std::string_view word) { return small.find(word) != std::string::npos; });
  bool harmless = std::any_of(kHarmlessEnds.begin(), kHarmlessEnds.end(),
                              [&](std::string_view end) { return small.ends_with(end); });
  return found && !harmless;
}

bool is_placeholder(std::string_view value) {
  if (value.empty()) return true;
  std::string small = lowered(value);
  static constexpr std::array<std::string_view, 17> kWords = {
      "example",  "changeme", "change_me", "change-me", "placeholder",     "your",
      "xxxx",     "****",     "....",      "dummy",     "redacted",        "password",
      "passw0rd", "secret",   "<",         "insert",    "1234567890abcdef"};
  for (std::string_view word : kWords) {
    // Words such as "secret" stand in only if they are most of the value.
    size_t at = small.find(word);
    if (at != std::string::npos && word.size() * 2 >= small.size()) return true;
    if (at != std::string::npos && (word == "example" || word == "changeme" || word == "placeholder" ||
                                    word == "redacted" || word == "xxxx" || word == "your")) {
      return true;
    }
  }
  if (small.starts_with("${") || small.starts_with("$(") || small.starts_with("{{") || small.starts_with("<") ||
      small.starts_with("%(") || small.starts_with("$env") || small.starts_with("secret://") ||
      small.starts_with("runtime://")) {
    return true;
  }
  return small.front() == '$' && run_length(std::string_view(small).substr(1), is_name_character) + 1 == small.size();
}

bool looks_random(std::string_view value) {
  std::array<uint32_t, 256> counts{};
  bool has_digit = false;
  bool has_letter = false;
  for (char c : value) {
    // Code and prose have brackets and blanks; secrets do not.
    if (c <= ' ' || c >= 0x7f || c == '(' || c == ')' || c == '[' || c == ']' || c == '{' || c == '}') return false;
    ++counts[static_cast<unsigned char>(c)];
    has_digit = has_digit || is_digit(c);
    has_letter = has_letter || is_upper(c) || is_lower(c);
  }
  double entropy = 0;
  for (uint32_t count : counts) {
    if (count == 0) continue;
    double share = static_cast<double>(count) / static_cast<double>(value.size());
    entropy -= share * std::log2(share);
  }
  // Hex has at most 4 bits a character, short values fewer.
  double wanted = value.size() >= 20 ? 3.0 : 2.8;
  return has_digit && has_letter && value.size() >= 12 && entropy >= wanted;
}

}  // namespace sluice::bundle
