// Functions on strings.
#include "render/cel/text.h"

#include <re2/re2.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/utf8.h"
#include "render/cel/library.h"

namespace sluice::cel {
namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

Value out_of_range(const Call& call, int64_t index) {
  return call.fault("index out of range: " + std::to_string(index));
}

Value number(size_t value) { return Value::of(static_cast<int64_t>(value)); }

// Where an argument's index lies in the receiver, in bytes; npos if nowhere.
size_t place(const Call& call, size_t argument) {
  const auto index = call[argument].integer;
  return index < 0 ? std::string_view::npos : byte_of(call[0].text, static_cast<size_t>(index));
}

Value has_text(const Call& call) { return Value::of(call[0].text.find(call[1].text) != std::string_view::npos); }
Value starts_with(const Call& call) { return Value::of(call[0].text.starts_with(call[1].text)); }
Value ends_with(const Call& call) { return Value::of(call[0].text.ends_with(call[1].text)); }

Value matches(const Call& call) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(8 << 20);
  const RE2 pattern(re2::StringPiece(call[1].text.data(), call[1].text.size()), options);
  if (!pattern.ok()) return call.fault("the pattern cannot be read: " + pattern.error());
  return Value::of(RE2::PartialMatch(re2::StringPiece(call[0].text.data(), call[0].text.size()), pattern));
}

Value char_at(const Call& call) {
  const auto begin = place(call, 1);
  if (begin == std::string_view::npos) return out_of_range(call, call[1].integer);
  const auto rest = call[0].text.substr(begin);
  return Value::string(rest.empty() ? rest : rest.substr(0, first_code_point(rest).bytes));
}

Value found(const Call& call, size_t byte) {
  if (byte == std::string_view::npos) return Value::of(int64_t{-1});
  return number(length_of(call[0].text.substr(0, byte)));
}
Value index_of(const Call& call) { return found(call, call[0].text.find(call[1].text)); }
Value index_of_from(const Call& call) {
  const auto begin = place(call, 2);
  if (begin == std::string_view::npos) return out_of_range(call, call[2].integer);
  return found(call, call[0].text.find(call[1].text, begin));
}
Value last_index_of(const Call& call) { return found(call, call[0].text.rfind(call[1].text)); }
Value last_index_of_from(const Call& call) {
  const auto begin = place(call, 2);
  if (begin == std::string_view::npos) return out_of_range(call, call[2].integer);
  return found(call, call[0].text.rfind(call[1].text, begin));
}

Value lower_ascii(const Call& call) {
  std::string text(call[0].text);
  std::transform(text.begin(), text.end(), text.begin(), to_lower);
  return call.string(text);
}
Value upper_ascii(const Call& call) {
  std::string text(call[0].text);
  for (auto& each : text) each = is_lower(each) ? static_cast<char>(each - 'a' + 'A') : each;
  return call.string(text);
}

Value replaced(const Call& call, int64_t most) {
  const auto text = call[0].text, from = call[1].text, to = call[2].text;
  std::string made;
  size_t at = 0;
  for (; most != 0; --most) {
    size_t next = text.find(from, at);
    if (from.empty()) {  // before each character and at the end
      made += to;
      if (at == text.size()) return call.string(made);
      next = at;
      const auto bytes = first_code_point(text.substr(at)).bytes;
      made += text.substr(at, bytes);
      at += bytes;
    } else {
      if (next == std::string_view::npos) break;
      made += text.substr(at, next - at);
      made += to;
      at = next + from.size();
    }
    if (!call.arena.fits(made.size())) return call.fault("the text grows too large");
  }
  made += text.substr(at);
  return call.string(made);
}
Value replace_all(const Call& call) { return replaced(call, -1); }
Value replace_some(const Call& call) { return replaced(call, call[3].integer); }

Value parts_of(const Call& call, int64_t most) {
  std::vector<Value> parts;
  if (most == 0) return call.arena.list(parts);
  auto rest = call[0].text;
  const auto separator = call[1].text;
  if (separator.empty() && rest.empty()) return call.arena.list(parts);
  while (most < 0 || static_cast<int64_t>(parts.size()) + 1 < most) {
    size_t end = separator.empty() ? first_code_point(rest).bytes : rest.find(separator);
    if (end == std::string_view::npos || (separator.empty() && end == rest.size())) break;
    parts.push_back(Value::string(rest.substr(0, end)));
    rest.remove_prefix(end + separator.size());
    if (!call.arena.fits(parts.size() * sizeof(Value))) return call.fault("the list grows too large");
  }
  parts.push_back(Value::string(rest));
  return call.arena.list(parts);
}
Value split(const Call& call) { return parts_of(call, -1); }
Value split_some(const Call& call) { return parts_of(call, call[2].integer); }

Value substring_from(const Call& call) {
  const auto begin = place(call, 1);
  if (begin == std::string_view::npos) return out_of_range(call, call[1].integer);
  return Value::string(call[0].text.substr(begin));
}
Value substring(const Call& call) {
  const auto begin = place(call, 1), end = place(call, 2);
  if (begin == std::string_view::npos) return out_of_range(call, call[1].integer);
  if (end == std::string_view::npos) return out_of_range(call, call[2].integer);
  if (begin > end) return call.fault("the substring ends before it begins");
  return Value::string(call[0].text.substr(begin, end - begin));
}

// White space as Unicode has it.
bool is_space(char32_t point) {
  return (point >= 9 && point <= 13) || point == 0x20 || point == 0x85 || point == 0xa0 || point == 0x1680 ||
         (point >= 0x2000 && point <= 0x200a) || point == 0x2028 || point == 0x2029 || point == 0x202f ||
         point == 0x205f || point == 0x3000;
}
Value trim(const Call& call) {
  auto text = call[0].text;
  while (!text.empty()) {
    const auto point = first_code_point(text);
    if (!is_space(point.value)) break;
    text.remove_prefix(point.bytes);
  }
  while (!text.empty()) {
    size_t begin = text.size() - 1;
    while (begin > 0 && continues(text[begin])) --begin;
    if (!is_space(first_code_point(text.substr(begin)).value)) break;
    text = text.substr(0, begin);
  }
  return Value::string(text);
}

Value joined(const Call& call, std::string_view separator) {
  std::string text;
  for (const auto& item : call[0].list->items) {
    if (!item.is(Kind::string)) return call.fault(no_overload("join", call.given));
    if (&item != call[0].list->items.data()) text += separator;
    text += item.text;
    if (!call.arena.fits(text.size())) return call.fault("the text grows too large");
  }
  return call.string(text);
}
Value join(const Call& call) { return joined(call, ""); }
Value join_with(const Call& call) { return joined(call, call[1].text); }

Value reverse_text(const Call& call) {
  std::string text;
  for (auto rest = call[0].text; !rest.empty();) {
    size_t begin = rest.size() - 1;
    while (begin > 0 && continues(rest[begin])) --begin;
    text += rest.substr(begin);
    rest = rest.substr(0, begin);
  }
  return call.string(text);
}

Value quote(const Call& call) {
  std::string text = "\"";
  constexpr std::string_view kSpecial = "\a\b\f\n\r\t\v\\\"";
  constexpr std::string_view kLetters = "abfnrtv\\\"";
  for (auto rest = call[0].text; !rest.empty();) {
    const auto point = first_code_point(rest);
    const size_t special = kSpecial.find(rest.front());
    if (special != std::string_view::npos) {
      text += '\\';
      text += kLetters[special];
    } else {
      append_utf8(text, point.value);
    }
    rest.remove_prefix(point.bytes);
  }
  return call.string(text + "\"");
}

constexpr Declared kText[] = {
    {"(string).contains(string) -> bool", has_text},
    {"(string).startsWith(string) -> bool", starts_with},
    {"(string).endsWith(string) -> bool", ends_with},
    {"(string).matches(string) -> bool", matches},
    {"matches(string, string) -> bool", matches},
    {"(string).charAt(int) -> string", char_at},
    {"(string).indexOf(string) -> int", index_of},
    {"(string).indexOf(string, int) -> int", index_of_from},
    {"(string).lastIndexOf(string) -> int", last_index_of},
    {"(string).lastIndexOf(string, int) -> int", last_index_of_from},
    {"(string).lowerAscii() -> string", lower_ascii},
    {"(string).upperAscii() -> string", upper_ascii},
    {"(string).replace(string, string) -> string", replace_all},
    {"(string).replace(string, string, int) -> string", replace_some},
    {"(string).split(string) -> list(string)", split},
    {"(string).split(string, int) -> list(string)", split_some},
    {"(string).substring(int) -> string", substring_from},
    {"(string).substring(int, int) -> string", substring},
    {"(string).trim() -> string", trim},
    {"(string).reverse() -> string", reverse_text},
    {"(list(string)).join() -> string", join},
    {"(list(string)).join(string) -> string", join_with},
    {"strings.quote(string) -> string", quote},
};

}  // namespace

size_t length_of(std::string_view text) {
  return text.size() - static_cast<size_t>(std::count_if(text.begin(), text.end(), continues));
}

size_t byte_of(std::string_view text, size_t index) {
  size_t byte = 0;
  for (; byte < text.size(); ++byte) {
    if (continues(text[byte])) continue;
    if (index == 0) return byte;
    --index;
  }
  return index == 0 ? byte : std::string_view::npos;
}

std::span<const Declared> text_functions() { return kText; }

}  // namespace sluice::cel
