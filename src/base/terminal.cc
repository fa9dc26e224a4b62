// Widths follow the East Asian Width property, in ranges coarse enough to read; ambiguous characters are narrow.
#include "base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "base/utf8.h"

namespace sluice {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

constexpr std::array kNoWidth = {
    Range{0x0300, 0x036F}, Range{0x0483, 0x0489}, Range{0x0591, 0x05BD},   Range{0x0610, 0x061A},
    Range{0x064B, 0x065F}, Range{0x06D6, 0x06DC}, Range{0x0900, 0x0902},   Range{0x093C, 0x093C},
    Range{0x0941, 0x0948}, Range{0x094D, 0x094D}, Range{0x0E31, 0x0E31},   Range{0x0E34, 0x0E3A},
    Range{0x0E47, 0x0E4E}, Range{0x1AB0, 0x1AFF}, Range{0x1DC0, 0x1DFF},   Range{0x200B, 0x200F},
    Range{0x202A, 0x202E}, Range{0x2060, 0x2064}, Range{0x20D0, 0x20FF},   Range{0xFE00, 0xFE0F},
    Range{0xFE20, 0xFE2F}, Range{0xFEFF, 0xFEFF}, Range{0x1F3FB, 0x1F3FF}, Range{0xE0000, 0xE01EF},
};

constexpr std::array kTwoCells = {
    Range{0x1100, 0x115F},   Range{0x231A, 0x231B},   Range{0x23E9, 0x23EC},   Range{0x2614, 0x2615},
    Range{0x2705, 0x2705},   Range{0x274C, 0x274C},   Range{0x2753, 0x2755},   Range{0x2757, 0x2757},
    Range{0x2E80, 0x303E},   Range{0x3041, 0x33FF},   Range{0x3400, 0x4DBF},   Range{0x4E00, 0x9FFF},
    Range{0xA000, 0xA4CF},   Range{0xA960, 0xA97F},   Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},
    Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},   Range{0x1F300, 0x1F3FA},
    Range{0x1F400, 0x1F64F}, Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1FAFF}, Range{0x20000, 0x3FFFD},
};

template <size_t size>
bool among(const std::array<Range, size>& ranges, char32_t point) {
  auto above = std::upper_bound(ranges.begin(), ranges.end(), point,
                                [](char32_t wanted, const Range& range) { return wanted < range.first; });
  return above != ranges.begin() && point <= std::prev(above)->last;
}

size_t cells(char32_t point) {
  if (point < 0x20 || (point >= 0x7F && point < 0xA0) || among(kNoWidth, point)) return 0;
  return among(kTwoCells, point) ? 2 : 1;
}

// The bytes of the escape sequence that the text begins with; 0 if it does not begin with one.
size_t escape_bytes(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  for (size_t i = 2; i < text.size(); ++i) {
    if (text[i] >= 0x40 && text[i] <= 0x7E) return i + 1;
  }
  return text.size();
}

std::string_view escape(Style style) {
  switch (style) {
    case Style::plain:
      return "";
    case Style::heading:
      return "\x1b[1;4m";
    case Style::strong:
      return "\x1b[1m";
    case Style::faint:
      return "\x1b[2m";
    case Style::accent:
      return "\x1b[36m";
    case Style::good:
      return "\x1b[32m";
    case Style::warning:
      return "\x1b[33m";
    case Style::bad:
      return "\x1b[1;31m";
  }
  return "";
}

}  // namespace

Variables process_variables() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

std::string Terminal::paint(Style style, std::string_view text) const {
  if (!color || style == Style::plain || text.empty()) return std::string(text);
  return std::string(escape(style)).append(text).append("\x1b[0m");
}

Terminal detect_terminal(int fd, const Variables& variables, bool no_color) {
  Terminal terminal;
  terminal.tty = isatty(fd) == 1;
  bool unwanted = no_color || !variables("NO_COLOR").value_or("").empty();
  terminal.color = terminal.tty && !unwanted && variables("TERM").value_or("dumb") != "dumb";
  winsize size{};
  if (terminal.tty && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    terminal.width = size.ws_col;
  } else if (auto columns = variables("COLUMNS")) {
    size_t width = 0;
    auto [end, error] = std::from_chars(columns->data(), columns->data() + columns->size(), width);
    if (error == std::errc() && *end == '\0' && width > 0) terminal.width = width;
  }
  return terminal;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    size_t skip = escape_bytes(text);
    if (skip == 0) {
      CodePoint point = first_code_point(text);
      width += cells(point.value);
      skip = point.bytes;
    }
    text.remove_prefix(skip);
  }
  return width;
}

std::string truncate_to_width(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  size_t used = 0;
  size_t bytes = 0;
  while (bytes < text.size()) {
    CodePoint point = first_code_point(text.substr(bytes));
    if (used + cells(point.value) > width - 1) break;
    used += cells(point.value);
    bytes += point.bytes;
  }
  while (bytes > 0 && text[bytes - 1] == ' ') --bytes;
  return std::string(text.substr(0, bytes)) + "…";
}

std::string printable(std::string_view text, bool keep_lines) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    CodePoint point = first_code_point(text);
    if (point.value == '\n' && keep_lines) {
      clean += '\n';
    } else if (point.value == '\n') {
      clean += "\\n";
    } else if (point.value == '\t') {
      clean += "\\t";
    } else if (!point.valid || point.value < 0x20 || point.value == 0x7F) {
      auto byte = static_cast<unsigned char>(text.front());
      clean += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else if (point.value >= 0x80 && point.value < 0xA0) {
      clean += {'\\', 'x', kHex[point.value >> 4], kHex[point.value & 15]};
    } else if ((point.value >= 0x202A && point.value <= 0x202E) || (point.value >= 0x2066 && point.value <= 0x2069)) {
      clean += "\\u20";  // direction overrides can make text read as another
      clean += {kHex[(point.value >> 4) & 15], kHex[point.value & 15]};
    } else {
      clean += text.substr(0, point.bytes);
    }
    text.remove_prefix(point.bytes);
  }
  return clean;
}

std::string wrap_text(std::string_view text, size_t width, size_t indent) {
  std::string wrapped;
  size_t used = 0;  // cells on the line; the first line begins where the caller stands
  bool at_start = true;
  auto new_line = [&] {
    wrapped += '\n';
    used = 0;
    at_start = true;
  };
  while (!text.empty()) {
    if (text.front() == '\n') {
      new_line();
      text.remove_prefix(1);
      continue;
    }
    if (text.front() == ' ') {
      text.remove_prefix(1);
      continue;
    }
    std::string_view word = text.substr(0, text.find_first_of(" \n"));
    text.remove_prefix(word.size());
    size_t wide = display_width(word);
    if (!at_start && used + 1 + wide > width) new_line();
    if (at_start) {
      if (!wrapped.empty()) wrapped.append(indent, ' ');
      used = indent;
    } else {
      wrapped += ' ';
      ++used;
    }
    wrapped += word;
    used += wide;
    at_start = false;
  }
  return wrapped;
}

}  // namespace sluice
