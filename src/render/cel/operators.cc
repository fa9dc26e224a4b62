// Arithmetic, comparison, membership and size.
#include <cmath>

#include "render/cel/library.h"
#include "render/cel/text.h"
#include "render/cel/time.h"

namespace sluice::cel {
namespace {

constexpr std::string_view kOverflow = "the result is beyond 64 bits";

template <auto Member, class Operation>
Value exactly(const Call& call, Operation operation) {
  auto result = call[0].*Member;
  if (operation(call[0].*Member, call[1].*Member, &result)) return call.fault(kOverflow);
  return Value::of(result);
}

template <auto Member>
Value add_whole(const Call& call) {
  return exactly<Member>(
      call, [](auto left, auto right, auto* result) { return __builtin_add_overflow(left, right, result); });
}
template <auto Member>
Value subtract_whole(const Call& call) {
  return exactly<Member>(
      call, [](auto left, auto right, auto* result) { return __builtin_sub_overflow(left, right, result); });
}
template <auto Member>
Value multiply_whole(const Call& call) {
  return exactly<Member>(
      call, [](auto left, auto right, auto* result) { return __builtin_mul_overflow(left, right, result); });
}

template <auto Member>
Value divide_whole(const Call& call) {
  const auto left = call[0].*Member, right = call[1].*Member;
  if (right == 0) return call.fault("division by zero");
  if (std::is_signed_v<decltype(+left)> && right + 1 == 0 && left == static_cast<decltype(+left)>(INT64_MIN)) {
    return call.fault(kOverflow);
  }
  return Value::of(left / right);
}
template <auto Member>
Value modulo(const Call& call) {
  const auto left = call[0].*Member, right = call[1].*Member;
  if (right == 0) return call.fault("modulus by zero");
  if (std::is_signed_v<decltype(+left)> && right + 1 == 0) {
    if (left == static_cast<decltype(+left)>(INT64_MIN)) return call.fault(kOverflow);
    return Value::of(left - left);
  }
  return Value::of(left % right);
}

Value negate_integer(const Call& call) {
  if (call[0].integer == INT64_MIN) return call.fault(kOverflow);
  return Value::of(-call[0].integer);
}

Value add_real(const Call& call) { return Value::of(call[0].real + call[1].real); }
Value subtract_real(const Call& call) { return Value::of(call[0].real - call[1].real); }
Value multiply_real(const Call& call) { return Value::of(call[0].real * call[1].real); }
Value divide_real(const Call& call) { return Value::of(call[0].real / call[1].real); }
Value negate_real(const Call& call) { return Value::of(-call[0].real); }

Value join_text(const Call& call) {
  std::string joined(call[0].text);
  joined += call[1].text;
  const auto kept = call.arena.keep(joined);
  return call[0].is(Kind::string) ? Value::string(kept) : Value::bytes(kept);
}

Value join_lists(const Call& call) {
  std::vector<Value> items(call[0].list->items.begin(), call[0].list->items.end());
  items.insert(items.end(), call[1].list->items.begin(), call[1].list->items.end());
  return call.arena.list(items);
}

Value moment(const Call& call, std::optional<Instant> instant) {
  if (!instant) return call.fault("the result is no time in the years 1 to 9999");
  return Value::of(*instant);
}

Value timestamp_plus(const Call& call) { return moment(call, add(call[0].instant, call[1].nanos)); }
Value plus_timestamp(const Call& call) { return moment(call, add(call[1].instant, call[0].nanos)); }
Value timestamp_minus(const Call& call) {
  if (call[1].nanos == INT64_MIN) return call.fault(kOverflow);
  return moment(call, add(call[0].instant, -call[1].nanos));
}

Value length_between(const Call& call) {
  const auto nanos = difference(call[0].instant, call[1].instant);
  if (!nanos) return call.fault("a duration is shorter than 292 years");
  return Value::duration(*nanos);
}

Value add_durations(const Call& call) {
  int64_t sum = 0;
  if (__builtin_add_overflow(call[0].nanos, call[1].nanos, &sum))
    return call.fault("a duration is shorter than 292 years");
  return Value::duration(sum);
}
Value subtract_durations(const Call& call) {
  int64_t rest = 0;
  if (__builtin_sub_overflow(call[0].nanos, call[1].nanos, &rest))
    return call.fault("a duration is shorter than 292 years");
  return Value::duration(rest);
}

Value invert(const Call& call) { return Value::of(!call[0].boolean); }
Value equals(const Call& call) { return Value::of(equal(call[0], call[1])); }
Value differs(const Call& call) { return Value::of(!equal(call[0], call[1])); }

// NaN is neither less nor greater than anything.
Value less(const Call& call) { return Value::of(compare(call[0], call[1]).value_or(1) < 0); }
Value less_or_equal(const Call& call) { return Value::of(compare(call[0], call[1]).value_or(1) <= 0); }
Value greater(const Call& call) { return Value::of(compare(call[0], call[1]).value_or(-1) > 0); }
Value greater_or_equal(const Call& call) { return Value::of(compare(call[0], call[1]).value_or(-1) >= 0); }

Value in_list(const Call& call) {
  for (const auto& item : call[1].list->items) {
    if (equal(item, call[0])) return Value::of(true);
  }
  return Value::of(false);
}
Value in_map(const Call& call) { return Value::of(call[1].map->find(call[0]) != nullptr); }

Value count(size_t size) { return Value::of(static_cast<int64_t>(size)); }
Value size_of_string(const Call& call) { return count(length_of(call[0].text)); }
Value size_of_bytes(const Call& call) { return count(call[0].text.size()); }
Value size_of_list(const Call& call) { return count(call[0].list->items.size()); }
Value size_of_map(const Call& call) { return count(call[0].map->entries.size()); }

constexpr Declared kOperators[] = {
    {"_+_(int, int) -> int", add_whole<kInteger>},
    {"_+_(uint, uint) -> uint", add_whole<kUnsigned>},
    {"_+_(double, double) -> double", add_real},
    {"_+_(string, string) -> string", join_text},
    {"_+_(bytes, bytes) -> bytes", join_text},
    {"_+_(list(T), list(T)) -> list(T)", join_lists},
    {"_+_(timestamp, duration) -> timestamp", timestamp_plus},
    {"_+_(duration, timestamp) -> timestamp", plus_timestamp},
    {"_+_(duration, duration) -> duration", add_durations},
    {"_-_(int, int) -> int", subtract_whole<kInteger>},
    {"_-_(uint, uint) -> uint", subtract_whole<kUnsigned>},
    {"_-_(double, double) -> double", subtract_real},
    {"_-_(timestamp, timestamp) -> duration", length_between},
    {"_-_(timestamp, duration) -> timestamp", timestamp_minus},
    {"_-_(duration, duration) -> duration", subtract_durations},
    {"_*_(int, int) -> int", multiply_whole<kInteger>},
    {"_*_(uint, uint) -> uint", multiply_whole<kUnsigned>},
    {"_*_(double, double) -> double", multiply_real},
    {"_/_(int, int) -> int", divide_whole<kInteger>},
    {"_/_(uint, uint) -> uint", divide_whole<kUnsigned>},
    {"_/_(double, double) -> double", divide_real},
    {"_%_(int, int) -> int", modulo<kInteger>},
    {"_%_(uint, uint) -> uint", modulo<kUnsigned>},
    {"-_(int) -> int", negate_integer},
    {"-_(double) -> double", negate_real},
    {"!_(bool) -> bool", invert},
    {"_==_(T, T) -> bool", equals},
    {"_!=_(T, T) -> bool", differs},
    {"@in(T, list(T)) -> bool", in_list},
    {"@in(K, map(K, V)) -> bool", in_map},
    {"size(string) -> int", size_of_string},
    {"size(bytes) -> int", size_of_bytes},
    {"size(list(T)) -> int", size_of_list},
    {"size(map(K, V)) -> int", size_of_map},
    {"(string).size() -> int", size_of_string},
    {"(bytes).size() -> int", size_of_bytes},
    {"(list(T)).size() -> int", size_of_list},
    {"(map(K, V)).size() -> int", size_of_map},
};

}  // namespace

std::span<const Declared> operators() { return kOperators; }

void add_ordering(Library& library) {
  constexpr std::string_view kTaken[] = {
      "int, int",   "uint, uint",           "double, double",     "string, string", "bytes, bytes",
      "bool, bool", "timestamp, timestamp", "duration, duration", "int, uint",      "int, double",
      "uint, int",  "uint, double",         "double, int",        "double, uint"};
  for (const auto& [sign, native] : {std::pair<std::string_view, Native>{"<", less},
                                     {"<=", less_or_equal},
                                     {">", greater},
                                     {">=", greater_or_equal}}) {
    for (const auto taken : kTaken)
      library.add("_" + std::string(sign) + "_(" + std::string(taken) + ") -> bool", native);
  }
}

}  // namespace sluice::cel
