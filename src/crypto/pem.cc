// Reads the frame line by line; lines end in LF or CRLF.
#include "crypto/pem.h"

#include <algorithm>
#include <optional>

#include "crypto/base64.h"

namespace sluice::crypto {

namespace {

constexpr std::string_view kBegin = "-----BEGIN ";
constexpr std::string_view kEnd = "-----END ";
constexpr std::string_view kDashes = "-----";
constexpr std::string_view kBlank = " \t\r\n";
constexpr size_t kMaxLabelBytes = 64;

Error not_pem(std::string message, size_t line = 0) {
  Error error{.code = Code::invalid, .message = std::move(message)};
  if (line > 0) error.position = Position{.line = static_cast<uint32_t>(line), .column = 1};
  return error;
}

// Takes the first line off the text, without its end.
std::string_view take_line(std::string_view& text) {
  size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// The label of "-----BEGIN label-----"; labels are uppercase letters, digits and spaces.
std::optional<std::string_view> label_of(std::string_view line, std::string_view opening) {
  if (!line.starts_with(opening)) return std::nullopt;
  line.remove_prefix(opening.size());
  if (!line.ends_with(kDashes)) return std::nullopt;
  line.remove_suffix(kDashes.size());
  auto allowed = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ' '; };
  if (line.empty() || line.size() > kMaxLabelBytes || !std::all_of(line.begin(), line.end(), allowed)) {
    return std::nullopt;
  }
  return line;
}

}  // namespace

Result<PemBlock> parse_pem(std::string_view text) {
  if (text.size() > kMaxPemBytes) {
    return Error{.code = Code::limit,
                 .message = "this is " + std::to_string(text.size()) + " bytes long; a PEM key has at most " +
                            std::to_string(kMaxPemBytes),
                 .next = "give the file of one key"};
  }
  if (size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return not_pem("byte " + std::to_string(nul + 1) + " is NUL; expected PEM, which is text");
  }
  if (text.find_first_not_of(kBlank) == std::string_view::npos) {
    return not_pem("there is nothing here; expected PEM, which begins with \"-----BEGIN \"");
  }
  size_t line_number = 1;
  const auto label = label_of(take_line(text), kBegin);
  if (!label) return not_pem("expected PEM, which begins with a line like \"-----BEGIN PRIVATE KEY-----\"", 1);

  SecretBuffer digits(text.size());
  size_t used = 0;
  for (;;) {
    if (text.empty()) return not_pem("the PEM is cut off: expected \"-----END " + std::string(*label) + "-----\"");
    std::string_view line = take_line(text);
    ++line_number;
    if (line.starts_with(kDashes)) {
      if (label_of(line, kEnd) == label) break;
      return not_pem("expected \"-----END " + std::string(*label) + "-----\"", line_number);
    }
    if (line.starts_with("Proc-Type:") && line.find("ENCRYPTED") != std::string_view::npos) {
      Error error = not_pem("the key is encrypted with a passphrase, expected one that is not", line_number);
      error.next = "decrypt it with: openssl pkey -in KEY -out PLAIN-KEY";
      return error;
    }
    if (line.find(':') != std::string_view::npos) {
      return not_pem("expected base64, found a header; a PEM key has none", line_number);
    }
    std::copy(line.begin(), line.end(), digits.writable().begin() + static_cast<ptrdiff_t>(used));
    used += line.size();
  }
  if (text.find_first_not_of(kBlank) != std::string_view::npos) {
    return not_pem("expected nothing after \"-----END " + std::string(*label) + "-----\"", line_number + 1);
  }
  auto der = secret_from_base64(digits.reveal().substr(0, used));
  if (!der) return not_pem("in the lines between BEGIN and END, " + der.error().message);
  if (der->empty()) return not_pem("there is no base64 between BEGIN and END");
  return PemBlock{.label = std::string(*label), .der = std::move(*der)};
}

}  // namespace sluice::crypto
