// Forms are read as far as they tell a key from what only speaks of one.
#include "bundle/secrets/private_keys.h"

#include <array>
#include <string>

#include "bundle/secrets/secret_assignments.h"
#include "bundle/secrets/secret_letters.h"
#include "crypto/base64.h"

namespace sluice::bundle {

namespace {

constexpr uint64_t kMaxBytesBehindDer = 64;  // a line break, or padding

// The end of a line in a PEM block: a real one, or one written as an escape inside a string. A line may be a string of
// its own, in quotes, with a sign that joins it to the next; `joint` tells that.
size_t skip_line_break(std::string_view text, size_t at, bool& joint) {
  int quotes = 0;  // the first ends a string, the second begins the next one, whose letters follow
  while (quotes < 2) {
    const bool is_quote = at < text.size() && (text[at] == '"' || text[at] == '\'');
    if (is_quote) ++quotes;
    // A plus is a letter of the key, unless it stands between two strings.
    const bool joins = at < text.size() && (text[at] == ',' || text[at] == '.' || (text[at] == '+' && quotes == 1));
    // Lines of a message that is quoted, or of a comment.
    const bool is_mark =
        at < text.size() && quotes == 0 && std::string_view(">#|*").find(text[at]) != std::string_view::npos;
    const bool is_joint = is_quote || joins || is_mark;
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

}  // namespace

std::optional<size_t> pem_key(std::string_view text, bool is_binary) {
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

std::optional<size_t> encoded_pem_key(std::string_view text) {
  constexpr size_t kLabelBytes = 64;
  constexpr size_t kLeastLetters = 100;
  std::string label;
  size_t letters = 0, end = 0;
  uint32_t bits = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\n' || text[at] == '\r' || is_blank(text[at])) continue;
    if (!is_base64(text[at])) break;
    bits = bits << 6 | base64_value(text[at]);
    if (++letters % 4 == 0 && label.size() < kLabelBytes) {
      for (int shift : {16, 8, 0}) label += static_cast<char>(bits >> shift);
    }
    end = at + 1;
  }
  const bool is_key = label.starts_with(kPemStart) && label.find("PRIVATE KEY") != std::string::npos;
  return is_key && letters >= kLeastLetters ? std::optional(end) : std::nullopt;
}

std::optional<size_t> encoded_der_key(std::string_view text) {
  constexpr size_t kLeastLetters = 60;
  constexpr size_t kFirstLetters = 64;
  std::string first;
  size_t letters = 0, end = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool is_break = text[at] == '\n' || text[at] == '\r' || is_blank(text[at]);
    // A line ends after a group of letters; what follows otherwise is the next word.
    if (is_break && letters % 4 == 0 && letters >= kLeastLetters) continue;
    if (!is_base64(text[at])) break;
    if (letters++ < kFirstLetters) first += text[at];
    end = at + 1;
  }
  if (letters < kLeastLetters) return std::nullopt;
  first.resize(first.size() / 4 * 4);
  auto bytes = crypto::from_base64(first);
  if (!bytes) return std::nullopt;
  size_t at = 1;
  auto length = der_length(*bytes, at);
  const size_t size = letters * 3 / 4;
  // All of it is there, or it goes on behind what can be seen.
  const bool is_whole = length && at + *length <= size;
  const bool is_cut = length && end == text.size();
  if (!is_whole && !is_cut) return std::nullopt;
  return is_der_key(*bytes, at + *length) ? std::optional(end) : std::nullopt;
}

std::optional<WebKey> web_key(std::string_view text, size_t at) {
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
      if (length >= 16 && looks_random(text.substr(value + 1, length))) return WebKey{value + 1, length};
    }
  }
  return std::nullopt;
}

bool is_der_key(std::string_view first_bytes, uint64_t size) {
  if (size < 32 || !first_bytes.starts_with('\x30')) return false;
  size_t at = 1;
  auto length = der_length(first_bytes, at);
  if (!length || at + *length > size || size - (at + *length) > kMaxBytesBehindDer) return false;
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

}  // namespace sluice::bundle
