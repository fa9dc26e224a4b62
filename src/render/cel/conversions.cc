// From one type to another, exactly or not at all.
#include <charconv>
#include <cmath>

#include "base/utf8.h"
#include "render/cel/library.h"
#include "render/cel/time.h"

namespace sluice::cel {
namespace {

Value same(const Call& call) { return call[0]; }

template <class Number>
bool read_whole(std::string_view text, Number& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size();
}

Value unreadable(const Call& call, std::string_view wanted) {
  return call.fault("'" + std::string(call[0].text.substr(0, 40)) + "' is no " + std::string(wanted));
}

Value integer_of_unsigned(const Call& call) {
  if (call[0].unsigned_integer > static_cast<uint64_t>(INT64_MAX)) return call.fault("this is beyond the range of int");
  return Value::of(static_cast<int64_t>(call[0].unsigned_integer));
}
Value integer_of_real(const Call& call) {
  if (!(call[0].real > -9223372036854775808.0 && call[0].real < 9223372036854775808.0)) {
    return call.fault("this is beyond the range of int");
  }
  return Value::of(static_cast<int64_t>(call[0].real));
}
Value integer_of_string(const Call& call) {
  int64_t number = 0;
  if (!read_whole(call[0].text, number)) return unreadable(call, "int");
  return Value::of(number);
}
Value integer_of_timestamp(const Call& call) { return Value::of(call[0].instant.seconds); }

Value unsigned_of_integer(const Call& call) {
  if (call[0].integer < 0) return call.fault("this is beyond the range of uint");
  return Value::of(static_cast<uint64_t>(call[0].integer));
}
Value unsigned_of_real(const Call& call) {
  if (!(call[0].real > -1.0 && call[0].real < 18446744073709551616.0))
    return call.fault("this is beyond the range of uint");
  return Value::of(static_cast<uint64_t>(call[0].real));
}
Value unsigned_of_string(const Call& call) {
  uint64_t number = 0;
  if (!read_whole(call[0].text, number)) return unreadable(call, "uint");
  return Value::of(number);
}

Value real_of_integer(const Call& call) { return Value::of(static_cast<double>(call[0].integer)); }
Value real_of_unsigned(const Call& call) { return Value::of(static_cast<double>(call[0].unsigned_integer)); }
Value real_of_string(const Call& call) {
  auto text = call[0].text;
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ptr != text.data() + text.size() || read.ec != std::errc{}) return unreadable(call, "double");
  return Value::of(number);
}

Value string_of_integer(const Call& call) { return call.string(std::to_string(call[0].integer)); }
Value string_of_unsigned(const Call& call) { return call.string(std::to_string(call[0].unsigned_integer)); }
Value string_of_real(const Call& call) { return call.string(text_of(call[0].real)); }
Value string_of_boolean(const Call& call) { return Value::string(call[0].boolean ? "true" : "false"); }
Value string_of_bytes(const Call& call) {
  if (!valid_utf8(call[0].text)) return call.fault("these bytes are no text in UTF-8");
  return Value::string(call[0].text);
}
Value string_of_timestamp(const Call& call) { return call.string(text_of(call[0].instant)); }
Value string_of_duration(const Call& call) { return call.string(text_of_duration(call[0].nanos)); }

Value bytes_of_string(const Call& call) { return Value::bytes(call[0].text); }

Value boolean_of_string(const Call& call) {
  for (const std::string_view text : {"1", "t", "true", "TRUE", "True", "T"}) {
    if (call[0].text == text) return Value::of(true);
  }
  for (const std::string_view text : {"0", "f", "false", "FALSE", "False", "F"}) {
    if (call[0].text == text) return Value::of(false);
  }
  return unreadable(call, "bool");
}

Value timestamp_of_string(const Call& call) {
  const auto instant = parse_instant(call[0].text);
  if (!instant) return unreadable(call, "timestamp: write 2026-03-01T09:30:00Z");
  return Value::of(*instant);
}
Value timestamp_of_integer(const Call& call) {
  const Instant instant{call[0].integer, 0};
  if (!within_bounds(instant)) return call.fault("this is no time in the years 1 to 9999");
  return Value::of(instant);
}
Value duration_of_string(const Call& call) {
  const auto nanos = parse_duration_text(call[0].text);
  if (!nanos) return unreadable(call, "duration: write 1h30m, 45s or 100ms");
  return Value::duration(*nanos);
}

Value type_of(const Call& call) { return Value::of(runtime_type(call[0].kind)); }

constexpr Declared kConversions[] = {
    {"int(int) -> int", same},
    {"int(uint) -> int", integer_of_unsigned},
    {"int(double) -> int", integer_of_real},
    {"int(string) -> int", integer_of_string},
    {"int(timestamp) -> int", integer_of_timestamp},
    {"uint(uint) -> uint", same},
    {"uint(int) -> uint", unsigned_of_integer},
    {"uint(double) -> uint", unsigned_of_real},
    {"uint(string) -> uint", unsigned_of_string},
    {"double(double) -> double", same},
    {"double(int) -> double", real_of_integer},
    {"double(uint) -> double", real_of_unsigned},
    {"double(string) -> double", real_of_string},
    {"string(string) -> string", same},
    {"string(bool) -> string", string_of_boolean},
    {"string(int) -> string", string_of_integer},
    {"string(uint) -> string", string_of_unsigned},
    {"string(double) -> string", string_of_real},
    {"string(bytes) -> string", string_of_bytes},
    {"string(timestamp) -> string", string_of_timestamp},
    {"string(duration) -> string", string_of_duration},
    {"bytes(bytes) -> bytes", same},
    {"bytes(string) -> bytes", bytes_of_string},
    {"bool(bool) -> bool", same},
    {"bool(string) -> bool", boolean_of_string},
    {"timestamp(timestamp) -> timestamp", same},
    {"timestamp(string) -> timestamp", timestamp_of_string},
    {"timestamp(int) -> timestamp", timestamp_of_integer},
    {"duration(duration) -> duration", same},
    {"duration(string) -> duration", duration_of_string},
    {"dyn(T) -> dyn", same},
    {"type(T) -> type(T)", type_of},
};

}  // namespace

std::span<const Declared> conversions() { return kConversions; }

}  // namespace sluice::cel
