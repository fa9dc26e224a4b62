// Most scalars are words: the first character alone tells that they are strings, and they are not scanned further.
#include "base/yaml_scalar.h"

#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "base/ascii.h"

namespace sluice {
namespace {

bool is_octal(char c) { return c >= '0' && c <= '7'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Takes the characters of one class off the front and says how many there were.
size_t skip(std::string_view& text, bool (*of_class)(char)) {
  size_t count = 0;
  while (count < text.size() && of_class(text[count])) ++count;
  text.remove_prefix(count);
  return count;
}

bool is_one_of(std::string_view text, std::string_view a, std::string_view b, std::string_view c) {
  return text == a || text == b || text == c;
}

// The schema's number forms: [-+]?[0-9]+ and 0o[0-7]+ and 0x[0-9a-fA-F]+ are integers;
// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? are floats; [-+]?\.inf and \.nan are not finite.
ScalarType number_type(std::string_view text) {
  std::string_view rest = text;
  bool sign = rest.front() == '-' || rest.front() == '+';
  if (sign) rest.remove_prefix(1);
  if (rest.empty()) return ScalarType::string;
  if (rest.front() == '.') {
    if (is_one_of(rest, ".inf", ".Inf", ".INF")) return ScalarType::not_finite;
    if (!sign && is_one_of(rest, ".nan", ".NaN", ".NAN")) return ScalarType::not_finite;
  }
  if (!sign && rest.size() > 2 && rest[0] == '0' && (rest[1] == 'o' || rest[1] == 'x')) {
    bool octal = rest[1] == 'o';
    rest.remove_prefix(2);
    skip(rest, octal ? is_octal : is_hex);
    return rest.empty() ? ScalarType::integer : ScalarType::string;
  }
  size_t digits = skip(rest, is_digit);
  if (rest.empty()) return ScalarType::integer;
  if (rest.front() == '.') {
    rest.remove_prefix(1);
    digits += skip(rest, is_digit);
  }
  if (digits == 0) return ScalarType::string;
  if (!rest.empty() && (rest.front() == 'e' || rest.front() == 'E')) {
    rest.remove_prefix(1);
    if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) rest.remove_prefix(1);
    if (skip(rest, is_digit) == 0) return ScalarType::string;
  }
  return rest.empty() ? ScalarType::real : ScalarType::string;
}

std::string_view store_integer(std::string_view text, json::value& out) {
  bool negative = text.front() == '-';
  if (negative || text.front() == '+') text.remove_prefix(1);
  int base = 10;
  if (text.size() > 2 && (text[1] == 'o' || text[1] == 'x')) {
    base = text[1] == 'o' ? 8 : 16;
    text.remove_prefix(2);
  }
  uint64_t magnitude = 0;
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  auto read = std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
  if (read.ec != std::errc() || (negative && magnitude > kMost + 1)) return "this integer does not fit into 64 bits";
  if (negative) {
    out = static_cast<int64_t>(0 - magnitude);
  } else if (magnitude <= kMost) {
    out = static_cast<int64_t>(magnitude);
  } else {
    out = magnitude;
  }
  return {};
}

std::string_view store_real(std::string_view text, json::value& out) {
  if (text.front() == '+') text.remove_prefix(1);
  double number = 0;
  auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  // from_chars does not say on which side a number is out of range; strtod does.
  if (read.ec == std::errc::result_out_of_range) number = std::strtod(std::string(text).c_str(), nullptr);
  if (!std::isfinite(number)) return "this number is larger than a double can hold";
  out = number;
  return {};
}

}  // namespace

ScalarType core_schema_type(std::string_view text) {
  if (text.empty()) return ScalarType::null;
  switch (text.front()) {
    case '~':
      return text.size() == 1 ? ScalarType::null : ScalarType::string;
    case 'n':
    case 'N':
      return is_one_of(text, "null", "Null", "NULL") ? ScalarType::null : ScalarType::string;
    case 't':
    case 'T':
      return is_one_of(text, "true", "True", "TRUE") ? ScalarType::boolean : ScalarType::string;
    case 'f':
    case 'F':
      return is_one_of(text, "false", "False", "FALSE") ? ScalarType::boolean : ScalarType::string;
    case '-':
    case '+':
    case '.':
      return number_type(text);
    default:
      return is_digit(text.front()) ? number_type(text) : ScalarType::string;
  }
}

std::string_view describe(ScalarType type) {
  switch (type) {
    case ScalarType::string:
      return "a string";
    case ScalarType::null:
      return "null";
    case ScalarType::boolean:
      return "a boolean";
    case ScalarType::integer:
      return "an integer";
    case ScalarType::real:
      return "a number";
    case ScalarType::not_finite:
      return "a number that is not finite";
  }
  return "";
}

std::string_view store_scalar(ScalarType type, std::string_view text, json::value& out) {
  switch (type) {
    case ScalarType::string:
      out.emplace_string().assign(text.data(), text.size());
      return {};
    case ScalarType::null:
      out = nullptr;
      return {};
    case ScalarType::boolean:
      out = text.front() == 't' || text.front() == 'T';
      return {};
    case ScalarType::integer:
      return store_integer(text, out);
    case ScalarType::real:
      return store_real(text, out);
    case ScalarType::not_finite:
      return "infinity and not-a-number have no place in JSON";
  }
  return {};
}

}  // namespace sluice
