// Scalars and empty collections are JSON, which YAML includes; the rest is indentation.
#include "base/yaml_writer.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <string_view>

#include "base/json.h"
#include "base/utf8.h"

namespace sluice {
namespace {

namespace json = boost::json;

// Whether the text means itself without quotes: it begins like a word, has nothing that YAML gives a meaning, and is
// none of the words that stand for something else in YAML 1.1 or 1.2.
bool plain(std::string_view text) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  constexpr std::string_view kOthers = "0123456789 _-./+@(),;";
  constexpr std::array<std::string_view, 9> kReserved = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"};
  if (text.empty() || text.back() == ' ' || kLetters.find(text.front()) == std::string_view::npos) return false;
  std::string lower;
  for (char c : text) {
    bool letter = kLetters.find(c) != std::string_view::npos;
    if (!letter && kOthers.find(c) == std::string_view::npos) return false;
    lower += letter ? static_cast<char>(c | 0x20) : c;
  }
  return std::find(kReserved.begin(), kReserved.end(), lower) == kReserved.end();
}

// JSON's quotes, with what YAML does not take as it is escaped too: DEL, the C1 controls, and YAML 1.1's line breaks.
std::string quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const std::string json_text = write(json::value(json::string(text)));
  std::string safe;
  for (std::string_view rest = json_text; !rest.empty();) {
    CodePoint point = first_code_point(rest);
    char32_t c = point.value;
    bool special = (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || c == 0xFEFF || c == 0xFFFE || c == 0xFFFF;
    if (special) {
      safe += {'\\', 'u', kHex[c >> 12], kHex[(c >> 8) & 15], kHex[(c >> 4) & 15], kHex[c & 15]};
    } else {
      safe += rest.substr(0, point.bytes);
    }
    rest.remove_prefix(point.bytes);
  }
  return safe;
}

std::string scalar(std::string_view text) { return plain(text) ? std::string(text) : quoted(text); }

bool is_block(const json::value& value) {
  if (const auto* object = value.if_object()) return !object->empty();
  if (const auto* array = value.if_array()) return !array->empty();
  return false;
}

// Writes the value from where the line stands; its further lines begin `indent` blanks in.
void write_node(const json::value& value, size_t indent, std::string& text) {
  bool first = true;
  auto begin_line = [&] {
    if (!first) text.append(indent, ' ');
    first = false;
  };
  if (!is_block(value)) {
    text += value.is_string() ? scalar(value.get_string()) : write(value);
    text += '\n';
  } else if (const auto* object = value.if_object()) {
    for (const auto& member : *object) {
      begin_line();
      text += scalar(member.key()) + ':';
      if (is_block(member.value())) {
        text.append(1, '\n').append(indent + 2, ' ');
        write_node(member.value(), indent + 2, text);
      } else {
        text += ' ';
        write_node(member.value(), indent, text);
      }
    }
  } else {
    for (const auto& element : value.get_array()) {
      begin_line();
      text += "- ";
      write_node(element, indent + 2, text);
    }
  }
}

}  // namespace

std::string write_yaml(const json::value& value) {
  std::string text;
  write_node(value, 0, text);
  return text;
}

}  // namespace sluice
