// A string is written plain if that is beyond doubt for every reader, as a literal block if it has several lines that a
// block keeps exactly, and in double quotes otherwise.
#include "base/yaml_emit.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "base/ascii.h"
#include "base/utf8.h"
#include "base/yaml_scalar.h"
#include "base/yaml_text.h"

namespace sluice {
namespace {

// Implicit keys may have 1024 characters; longer ones are written with '?'.
constexpr size_t kMaxImplicitKey = 1000;

// Words that YAML 1.1 takes for booleans: strings to us, but not to every reader of what we write.
bool is_old_boolean(std::string_view text) {
  constexpr std::array kWords = {"y", "n", "yes", "no", "on", "off"};
  std::string lower;
  for (char c : text.substr(0, 4)) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (std::string_view word : kWords) {
    if (text.size() == word.size() && lower == word) return true;
  }
  return false;
}

// Far stricter than YAML: letters, digits and harmless signs, no ': ' and no ' #'.
bool can_be_plain(std::string_view text) {
  if (text.empty()) return false;
  char first = text.front();
  if (!is_letter(first) && !is_digit(first) && first != '_' && first != '/' && first != '.') return false;
  if (text.back() == ' ' || text.back() == ':' || text.starts_with("...")) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (is_letter(c) || is_digit(c)) continue;
    if (std::string_view("_-./@+=()<>;~$*%^").find(c) != std::string_view::npos) continue;
    if (c == ':' && text[i + 1] != ' ') continue;
    if (c == ' ' && text[i + 1] != '#') continue;
    return false;
  }
  // YAML 1.1 takes 12:30 for a number of base sixty.
  if (text.find(':') != std::string_view::npos && is_digit(first)) return false;
  return core_schema_type(text) == ScalarType::string && !is_old_boolean(text);
}

// Whether a literal block keeps the text: several lines, none of them only spaces, nothing that needs an escape, and a
// first line from which a reader can tell the indentation.
bool can_be_literal(std::string_view text) {
  size_t newline = text.find('\n');
  if (newline == std::string_view::npos || text.front() == ' ' || text.front() == '\t' || newline == 0) return false;
  bool blank = true;  // so far this line has only spaces
  size_t width = 0;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '\n') {
      if (blank && width > 0) return false;
      blank = true;
      width = 0;
      ++at;
      continue;
    }
    CodePoint c = first_code_point(text.substr(at));
    if (!c.valid || !is_yaml_printable(c.value) || c.value == '\r') return false;
    if (c.value != ' ' && c.value != '\t') blank = false;
    ++width;
    at += c.bytes;
  }
  return !blank || width == 0;
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (size_t at = 0; at < text.size();) {
    CodePoint c = first_code_point(text.substr(at));
    if (!c.valid) {
      out += "\\uFFFD";
      ++at;
      continue;
    }
    switch (c.value) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (is_yaml_printable(c.value)) {
          out += text.substr(at, c.bytes);
        } else {
          std::array<char, 8> escape{};
          std::snprintf(escape.data(), escape.size(), "\\u%04X", static_cast<unsigned>(c.value));
          out += escape.data();
        }
    }
    at += c.bytes;
  }
  out += '"';
}

class Emitter {
 public:
  std::string take() && { return std::move(out_); }

  // Writes a value after "key:", "-" or at the start of the text, and ends its line. `level` is the value's own
  // indentation; a map or list in a list begins on the dash's line.
  void value(const json::value& value, size_t level, bool after_dash = false) {
    if (const auto* object = value.if_object(); object != nullptr && !object->empty()) {
      bool same_line = after_dash || out_.empty();
      if (after_dash) out_ += ' ';
      if (!same_line) out_ += '\n';
      for (const auto& member : *object) {
        if (!same_line) indent(level);
        same_line = false;
        key(member.key());
        this->value(member.value(), level + 1);
      }
    } else if (const auto* array = value.if_array(); array != nullptr && !array->empty()) {
      bool same_line = after_dash || out_.empty();
      if (after_dash) out_ += ' ';
      if (!same_line) out_ += '\n';
      for (const auto& element : *array) {
        if (!same_line) indent(level);
        same_line = false;
        out_ += '-';
        this->value(element, level + 1, true);
      }
    } else {
      if (!out_.empty()) out_ += ' ';
      scalar(value, level);
      out_ += '\n';
    }
  }

 private:
  void indent(size_t level) { out_.append(2 * level, ' '); }

  void key(std::string_view text) {
    if (can_be_plain(text) && text.size() <= kMaxImplicitKey) {
      out_ += text;
      out_ += ':';
      return;
    }
    std::string quoted;
    append_quoted(quoted, text);
    if (quoted.size() <= kMaxImplicitKey) {
      out_ += quoted + ":";
      return;
    }
    size_t line = out_.rfind('\n') + 1;  // 0 if there is none
    size_t column = out_.size() - line;
    out_ += "? " + quoted + "\n";
    out_.append(column, ' ');
    out_ += ':';
  }

  void scalar(const json::value& value, size_t level) {
    if (const auto* text = value.if_string()) {
      string({text->data(), text->size()}, level);
    } else if (value.is_object()) {
      out_ += "{}";
    } else if (value.is_array()) {
      out_ += "[]";
    } else if (const auto* number = value.if_double()) {
      real(*number);
    } else {
      out_ += json::serialize(value);
    }
  }

  void string(std::string_view text, size_t level) {
    if (can_be_plain(text)) {
      out_ += text;
    } else if (!text.empty() && can_be_literal(text)) {
      literal(text, std::max<size_t>(level, 1));
    } else {
      append_quoted(out_, text);
    }
  }

  // Ends without the line's end, which the caller writes.
  void literal(std::string_view text, size_t level) {
    bool ends = text.back() == '\n';
    bool ends_twice = ends && text[text.size() - 2] == '\n';
    out_ += !ends ? "|-" : ends_twice ? "|+" : "|";
    if (ends) text.remove_suffix(1);
    size_t at = 0;
    while (at <= text.size()) {
      size_t end = std::min(text.find('\n', at), text.size());
      out_ += '\n';
      if (end > at) indent(level);
      out_ += text.substr(at, end - at);
      at = end + 1;
    }
  }

  void real(double number) {
    if (!std::isfinite(number)) {
      out_ += std::isnan(number) ? ".nan" : number > 0 ? ".inf" : "-.inf";
      return;
    }
    std::array<char, 32> digits{};
    auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    std::string_view text(digits.data(), static_cast<size_t>(end - digits.data()));
    out_ += text;
    if (core_schema_type(text) == ScalarType::integer) out_ += ".0";
  }

  std::string out_;
};

}  // namespace

std::string emit_yaml(const json::value& value) {
  Emitter emitter;
  emitter.value(value, 0);
  return std::move(emitter).take();
}

}  // namespace sluice
