// Characters, names and files of source text.
#include "lang/text.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include "lang/diagnostic.h"

namespace sluice::lang {
namespace {

constexpr size_t kMaxNameForNearest = 64;

// What starts a wide character: East Asian Wide and Fullwidth blocks and the emoji planes.
bool is_wide(uint32_t point) {
  return (point >= 0x1100 && point <= 0x115F) || (point >= 0x2E80 && point <= 0x303E) ||
         (point >= 0x3041 && point <= 0xA4CF) || (point >= 0xAC00 && point <= 0xD7A3) ||
         (point >= 0xF900 && point <= 0xFAFF) || (point >= 0xFE30 && point <= 0xFE6F) ||
         (point >= 0xFF00 && point <= 0xFF60) || (point >= 0xFFE0 && point <= 0xFFE6) ||
         (point >= 0x1F300 && point <= 0x1F64F) || (point >= 0x1F900 && point <= 0x1F9FF) ||
         (point >= 0x20000 && point <= 0x3FFFD);
}

bool is_combining(uint32_t point) {
  return (point >= 0x0300 && point <= 0x036F) || (point >= 0x200B && point <= 0x200D) ||
         (point >= 0x20D0 && point <= 0x20FF) || (point >= 0xFE00 && point <= 0xFE0F);
}

bool changes_direction(uint32_t point) {
  return point == 0x061C || point == 0x200E || point == 0x200F || (point >= 0x202A && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069);
}

std::string code_point_name(uint32_t point) {
  std::string hex;
  for (int shift = point > 0xFFFF ? 20 : 12; shift >= 0; shift -= 4) hex += "0123456789ABCDEF"[point >> shift & 15];
  return "U+" + hex;
}

// Insertions, deletions, replacements and swaps of neighbours that lead from a to b.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

Result<std::string> read_source(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return Error{.code = errno == ENOENT ? Code::not_found : Code::failed,
                 .message = "cannot read " + path + ": " + std::strerror(errno)};
  }
  if (!S_ISREG(status.st_mode)) return Error{.code = Code::invalid, .message = path + " is not a regular file"};
  if (static_cast<size_t>(status.st_size) > kMaxSourceBytes) {
    return Error{.code = Code::limit,
                 .message = path + " has " + std::to_string(status.st_size) + " bytes; a source file may have " +
                            std::to_string(kMaxSourceBytes)};
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<size_t>(status.st_size), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (!file && !file.eof())) return Error{.code = Code::failed, .message = "cannot read " + path};
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

bool check_source(std::string_view text, const std::string& file, Diagnostics& found) {
  auto refuse = [&](Mark mark, std::string what, std::string hint) {
    found.add({.file = file, .mark = mark, .text = std::move(what), .hint = std::move(hint), .rule = "source-text"});
    return false;
  };
  if (text.size() > kMaxSourceBytes) {
    return refuse({},
                  "the text has " + std::to_string(text.size()) + " bytes; a source file may have " +
                      std::to_string(kMaxSourceBytes),
                  "");
  }
  Mark mark{1, 1};
  size_t at = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  while (at < text.size()) {
    CodePoint next = decode(text, at);
    if (!next.valid) return refuse(mark, "invalid UTF-8", "save the file as UTF-8");
    if (next.value == 0) return refuse(mark, "the file holds a NUL byte", "");
    if (next.value == '\r' && (at + 1 == text.size() || text[at + 1] != '\n')) {
      return refuse(mark, "a carriage return that no line feed follows", "end lines with LF or CRLF");
    }
    if (changes_direction(next.value)) {
      return refuse(mark, code_point_name(next.value) + " changes the direction of text and can hide code",
                    "remove it, or write it as an escape in a string");
    }
    if (is_forbidden(next.value) && next.value != '\t' && next.value != '\n' && next.value != '\r') {
      return refuse(mark, "control character " + code_point_name(next.value), "remove it");
    }
    at += next.size;
    if (next.value == '\n') {
      mark = {mark.line + 1, 1};
    } else {
      ++mark.column;
    }
  }
  return true;
}

CodePoint decode(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[at + i]); };
  uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  uint32_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || at + size > text.size()) return {0xFFFD, 1, false};
  uint32_t value = lead & (0xFF >> (size + 1));
  for (uint32_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {0xFFFD, 1, false};
    value = value << 6 | (byte(i) & 0x3F);
  }
  bool overlong = (size == 3 && value < 0x800) || (size == 4 && value < 0x10000);
  if (overlong || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {0xFFFD, 1, false};
  return {value, size, true};
}

void append_utf8(std::string& out, uint32_t point) {
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xC0 | point >> 6);
    out += static_cast<char>(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    out += static_cast<char>(0xE0 | point >> 12);
    out += static_cast<char>(0x80 | (point >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (point & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | point >> 18);
    out += static_cast<char>(0x80 | (point >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (point >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (point & 0x3F));
  }
}

bool is_forbidden(uint32_t point) {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) || changes_direction(point) || point == 0x2028 ||
         point == 0x2029 || point == 0xFEFF;
}

uint32_t display_width(uint32_t point) { return is_combining(point) ? 0 : is_wide(point) ? 2 : 1; }

uint32_t count_code_points(std::string_view text) {
  return static_cast<uint32_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string nearest(std::string_view name, std::span<const std::string_view> candidates) {
  if (name.size() > kMaxNameForNearest) return {};
  size_t best = std::max<size_t>(1, name.size() / 3) + 1;
  std::string_view found;
  for (std::string_view candidate : candidates) {
    if (candidate.size() > kMaxNameForNearest) continue;
    size_t distance = edit_distance(name, candidate);
    if (distance < best) {
      best = distance;
      found = candidate;
    }
  }
  return std::string(found);
}

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (size_t at = 0; at < text.size();) {
    CodePoint next = decode(text, at);
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
      for (uint32_t rest = next.value; rest > 0 || hex.empty(); rest >>= 4)
        hex.insert(0, 1, "0123456789abcdef"[rest & 15]);
      out += "\\u{" + hex + "}";
    } else {
      append_utf8(out, next.value);
    }
    at += next.size;
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
