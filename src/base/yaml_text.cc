// Texts are nearly all printable ASCII, which is skipped a block at a time.
#include "base/yaml_text.h"

#include <array>
#include <cstdio>

#include "base/utf8.h"

namespace sluice {
namespace {

// Lines end at LF, CR or CR LF, as libyaml counts them once the other breaks are refused.
Position position_at(std::string_view text, size_t offset, const std::string& file) {
  Position position{file, 1, 1};
  for (size_t i = 0; i < offset; ++i) {
    bool line_end = text[i] == '\n' || (text[i] == '\r' && (i + 1 >= text.size() || text[i + 1] != '\n'));
    if (line_end) {
      ++position.line;
      position.column = 1;
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80 && text[i] != '\r') {
      ++position.column;
    }
  }
  return position;
}

std::string code_point(uint32_t code) {
  std::array<char, 16> name{};
  std::snprintf(name.data(), name.size(), "U+%04X", code);
  return name.data();
}

Error bad_character(std::string_view text, size_t at, const std::string& file, std::string message, std::string next,
                    Code code = Code::invalid) {
  return Error{
      .code = code, .message = std::move(message), .next = std::move(next), .position = position_at(text, at, file)};
}

// libyaml compares each %TAG line with all before it.
constexpr int kMaxTagLines = 16;

bool has_many_tag_lines(std::string_view text) {
  int lines = 0;
  for (size_t at = text.find("%TAG"); at != std::string_view::npos; at = text.find("%TAG", at + 1)) {
    if ((at == 0 || text[at - 1] == '\n' || text[at - 1] == '\r') && ++lines > kMaxTagLines) return true;
  }
  return false;
}

// The length of the run of printable ASCII and LF at `at`, in whole blocks: rather too short than too long. The inner
// loop has no branch, so that the compiler makes it a few vector instructions.
constexpr size_t kBlock = 32;

size_t plain_run(std::string_view text, size_t at) {
  size_t from = at;
  for (; at + kBlock <= text.size(); at += kBlock) {
    unsigned char odd = 0;
    for (size_t i = 0; i < kBlock; ++i) {
      auto c = static_cast<unsigned char>(text[at + i]);
      odd |= static_cast<unsigned char>((c < 0x20) & (c != '\n')) | static_cast<unsigned char>(c > 0x7E);
    }
    if (odd != 0) break;
  }
  return at - from;
}

}  // namespace

bool is_yaml_printable(uint32_t code) {
  if (code < 0x7F) return code >= 0x20 || code == '\n' || code == '\r' || code == '\t';
  return code >= 0xA0 && code != 0x2028 && code != 0x2029 && code != 0xFEFF && code != 0xFFFE && code != 0xFFFF;
}

std::optional<Error> check_yaml_text(std::string_view text, const std::string& file) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    return bad_character(text, 0, file, "the text is UTF-16, not UTF-8", "save the file as UTF-8");
  }
  size_t slow_until = 0;  // a block with something else in it is read character by character
  for (size_t at = 0; at < text.size();) {
    if (at >= slow_until) {
      at += plain_run(text, at);
      slow_until = at + kBlock;
      if (at >= text.size()) break;
    }
    CodePoint found = first_code_point(text.substr(at));
    if (!found.valid) {
      return bad_character(text, at, file, "the text is not UTF-8 from here on", "save the file as UTF-8");
    }
    if (!is_yaml_printable(found.value)) {
      bool line_break = found.value == 0x85 || found.value == 0x2028 || found.value == 0x2029;
      std::string kind = line_break ? "line break " : found.value < 0xA0 ? "control character " : "character ";
      return bad_character(text, at, file, "the " + kind + code_point(found.value) + " is not allowed here",
                           "write it as an escape in double quotes, or remove it");
    }
    at += found.bytes;
  }
  if (has_many_tag_lines(text)) {
    return bad_character(text, 0, file, "the text has more than " + std::to_string(kMaxTagLines) + " %TAG lines",
                         "remove those that are not used", Code::limit);
  }
  return std::nullopt;
}

}  // namespace sluice
