// Characters, names and files of source text.
#include "lang/syntax/text.h"

#include <algorithm>

#include "base/real_disk.h"
#include "base/utf8.h"
#include "lang/syntax/diagnostic.h"

namespace sluice::lang {
namespace {

bool changes_direction(char32_t point) {
  return point == 0x061C || point == 0x200E || point == 0x200F || (point >= 0x202A && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069);
}

// Blanks of no width, hyphens that show at no line's end, fillers, and tags.
bool hides(char32_t point) {
  constexpr std::pair<char32_t, char32_t> kRanges[] = {
      {0x00AD, 0x00AD}, {0x034F, 0x034F},   {0x115F, 0x1160},  {0x17B4, 0x17B5}, {0x180B, 0x180F},
      {0x200B, 0x200B}, {0x2060, 0x2065},   {0x206A, 0x206F},  {0x3164, 0x3164}, {0xFFA0, 0xFFA0},
      {0xFFF9, 0xFFFB}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};
  return std::ranges::any_of(kRanges, [&](const auto& range) { return point >= range.first && point <= range.second; });
}

}  // namespace

std::string code_point_name(char32_t point) {
  std::string hex;
  for (int shift = point > 0xFFFF ? 20 : 12; shift >= 0; shift -= 4) hex += "0123456789ABCDEF"[point >> shift & 15];
  return "U+" + hex;
}

Result<std::string> read_source(const std::string& path) {
  RealDisk disk;
  auto file = disk.open(path, {});
  if (!file) return file.error();
  return read_source(**file, path);
}

Result<std::string> read_source(File& file, const std::string& path) {
  auto stat = file.stat();
  if (!stat) return stat.error();
  if (stat->kind != FileKind::file) return Error{.code = Code::invalid, .message = path + " is not a regular file"};
  if (stat->size > kMaxSourceBytes) {
    return Error{.code = Code::limit,
                 .message = path + " has " + std::to_string(stat->size) + " bytes; a source file may have " +
                            std::to_string(kMaxSourceBytes),
                 .next = "split it into several files"};
  }
  std::string text(stat->size, '\0');
  auto bytes = file.read_at(0, text);
  if (!bytes) return bytes.error();
  text.resize(*bytes);
  return text;
}

bool check_source(std::string_view text, const std::string& file, Diagnostics& found) {
  auto refuse = [&](Mark mark, std::string what, std::string hint) {
    found.add({.file = file, .mark = mark, .text = std::move(what), .hint = std::move(hint), .rule = "source-text"});
    return false;
  };
  if (text.size() > kMaxSourceBytes) {
    return refuse({1, 1},
                  "the text has " + std::to_string(text.size()) + " bytes; a source file may have " +
                      std::to_string(kMaxSourceBytes),
                  "split it into several files");
  }
  Mark mark{1, 1};
  size_t at = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  while (at < text.size()) {
    CodePoint next = first_code_point(text.substr(at));
    if (!next.valid) return refuse(mark, "invalid UTF-8", "save the file as UTF-8");
    if (next.value == 0) return refuse(mark, "the file holds a NUL byte", "remove it; a source file is text");
    if (next.value == '\r' && (at + 1 == text.size() || text[at + 1] != '\n')) {
      return refuse(mark, "a carriage return that no line feed follows", "end lines with LF or CRLF");
    }
    if (changes_direction(next.value)) {
      return refuse(mark, code_point_name(next.value) + " changes the direction of text and can hide code",
                    "remove it, or write it as an escape in a string");
    }
    if (hides(next.value)) {
      return refuse(mark, code_point_name(next.value) + " cannot be seen and can hide code",
                    "remove it, or write it as an escape in a string");
    }
    if (is_forbidden(next.value) && next.value != '\t' && next.value != '\n' && next.value != '\r') {
      return refuse(mark, "control character " + code_point_name(next.value), "remove it");
    }
    at += next.bytes;
    if (next.value == '\n') {
      mark = {mark.line + 1, 1};
    } else {
      ++mark.column;
    }
  }
  return true;
}

bool is_forbidden(char32_t point) {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) || changes_direction(point) || point == 0x2028 ||
         point == 0x2029 || point == 0xFEFF || hides(point);
}

bool is_invisible(char32_t point) {
  return is_forbidden(point) || point == 0x200C || point == 0x200D || (point >= 0xFE00 && point <= 0xFE0F);
}

uint32_t count_code_points(std::string_view text) {
  return static_cast<uint32_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string quoted(std::string_view word) { return "`" + std::string(word) + "`"; }

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (size_t at = 0; at < text.size();) {
    CodePoint next = first_code_point(text.substr(at));
    if (next.value == '"' || next.value == '\\') {
      out += '\\';
      out += static_cast<char>(next.value);
    } else if (next.value == '\n') {
      out += "\\n";
    } else if (next.value == '\t') {
      out += "\\t";
    } else if (next.value == '{' && at + 1 < text.size() && text[at + 1] == '{') {
      out += "\\{";
    } else if (is_forbidden(next.value)) {
      std::string hex;
      for (char32_t rest = next.value; rest > 0 || hex.empty(); rest >>= 4)
        hex.insert(0, 1, "0123456789abcdef"[rest & 15]);
      out += "\\u{" + hex + "}";
    } else {
      append_utf8(out, next.value);
    }
    at += next.bytes;
  }
  return out + '"';
}

std::vector<uint32_t> blank_lines(std::string_view text) {
  std::vector<uint32_t> lines;
  uint32_t line = 1;
  bool blank = true;
  for (char c : text) {
    if (c == '\n') {
      if (blank) lines.push_back(line);
      ++line;
      blank = true;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      blank = false;
    }
  }
  return lines;
}

}  // namespace sluice::lang
