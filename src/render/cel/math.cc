// math.…: the greatest and least of numbers, rounding, signs and bits.
#include <cmath>

#include "render/cel/library.h"

namespace sluice::cel {
namespace {

// A wish of one number is for that number.
Value extreme(const Call& call, std::span<const Value> numbers, int wanted) {
  if (numbers.empty()) return call.fault("there is no greatest or least of nothing");
  const Value* found = nullptr;
  for (const auto& each : numbers) {
    if (!each.number()) return call.fault(no_overload(wanted > 0 ? "math.greatest" : "math.least", call.given));
    if (!found || compare(each, *found) == wanted) found = &each;
  }
  return *found;
}
Value greatest(const Call& call) { return extreme(call, call.given, 1); }
Value least(const Call& call) { return extreme(call, call.given, -1); }
Value greatest_of(const Call& call) { return extreme(call, call[0].list->items, 1); }
Value least_of(const Call& call) { return extreme(call, call[0].list->items, -1); }

template <double (*Round)(double)>
Value rounded(const Call& call) {
  return Value::of(Round(call[0].real));
}

Value only(const Call& call) { return call[0]; }
Value absolute_integer(const Call& call) {
  if (call[0].integer == INT64_MIN) return call.fault("the result is beyond 64 bits");
  return Value::of(std::abs(call[0].integer));
}
Value sign_of_integer(const Call& call) {
  return Value::of(int64_t{call[0].integer > 0} - int64_t{call[0].integer < 0});
}
Value sign_of_unsigned(const Call& call) { return Value::of(uint64_t{call[0].unsigned_integer > 0}); }
Value sign_of_real(const Call& call) {
  const double number = call[0].real;
  return Value::of(number > 0 ? 1.0 : number < 0 ? -1.0 : number);
}

Value is_nan(const Call& call) { return Value::of(std::isnan(call[0].real)); }
Value is_infinite(const Call& call) { return Value::of(std::isinf(call[0].real)); }
Value is_finite(const Call& call) { return Value::of(std::isfinite(call[0].real)); }

template <auto Member>
Value bits_and(const Call& call) {
  return Value::of(call[0].*Member & call[1].*Member);
}
template <auto Member>
Value bits_or(const Call& call) {
  return Value::of(call[0].*Member | call[1].*Member);
}
template <auto Member>
Value bits_xor(const Call& call) {
  return Value::of(call[0].*Member ^ call[1].*Member);
}
template <auto Member>
Value bits_not(const Call& call) {
  return Value::of(~(call[0].*Member));
}

// Whatever is shifted in is zero, on both sides.
template <auto Member>
Value shifted(const Call& call, bool left) {
  const auto by = call[1].integer;
  if (by < 0) return call.fault("a shift by a negative offset");
  const auto bits = static_cast<uint64_t>(call[0].*Member);
  const uint64_t made = by > 63 ? 0 : left ? bits << by : bits >> by;
  return Value::of(static_cast<std::remove_cvref_t<decltype(call[0].*Member)>>(made));
}
template <auto Member>
Value shift_left(const Call& call) {
  return shifted<Member>(call, true);
}
template <auto Member>
Value shift_right(const Call& call) {
  return shifted<Member>(call, false);
}

template <class Number>
double root(Number number) {
  return std::sqrt(static_cast<double>(number));
}
Value root_of_integer(const Call& call) { return Value::of(root(call[0].integer)); }
Value root_of_unsigned(const Call& call) { return Value::of(root(call[0].unsigned_integer)); }
Value root_of_real(const Call& call) { return Value::of(root(call[0].real)); }

constexpr Declared kMath[] = {
    {"math.greatest(int) -> int", only},
    {"math.greatest(uint) -> uint", only},
    {"math.greatest(double) -> double", only},
    {"math.greatest(int, int) -> int", greatest},
    {"math.greatest(uint, uint) -> uint", greatest},
    {"math.greatest(double, double) -> double", greatest},
    {"math.greatest(int, uint) -> dyn", greatest},
    {"math.greatest(int, double) -> dyn", greatest},
    {"math.greatest(uint, int) -> dyn", greatest},
    {"math.greatest(uint, double) -> dyn", greatest},
    {"math.greatest(double, int) -> dyn", greatest},
    {"math.greatest(double, uint) -> dyn", greatest},
    {"math.greatest(list(int)) -> int", greatest_of},
    {"math.greatest(list(uint)) -> uint", greatest_of},
    {"math.greatest(list(double)) -> double", greatest_of},
    {"math.least(int) -> int", only},
    {"math.least(uint) -> uint", only},
    {"math.least(double) -> double", only},
    {"math.least(int, int) -> int", least},
    {"math.least(uint, uint) -> uint", least},
    {"math.least(double, double) -> double", least},
    {"math.least(int, uint) -> dyn", least},
    {"math.least(int, double) -> dyn", least},
    {"math.least(uint, int) -> dyn", least},
    {"math.least(uint, double) -> dyn", least},
    {"math.least(double, int) -> dyn", least},
    {"math.least(double, uint) -> dyn", least},
    {"math.least(list(int)) -> int", least_of},
    {"math.least(list(uint)) -> uint", least_of},
    {"math.least(list(double)) -> double", least_of},
    {"math.ceil(double) -> double", rounded<std::ceil>},
    {"math.floor(double) -> double", rounded<std::floor>},
    {"math.round(double) -> double", rounded<std::round>},
    {"math.trunc(double) -> double", rounded<std::trunc>},
    {"math.abs(int) -> int", absolute_integer},
    {"math.abs(uint) -> uint", only},
    {"math.abs(double) -> double", rounded<std::fabs>},
    {"math.sign(int) -> int", sign_of_integer},
    {"math.sign(uint) -> uint", sign_of_unsigned},
    {"math.sign(double) -> double", sign_of_real},
    {"math.isNaN(double) -> bool", is_nan},
    {"math.isInf(double) -> bool", is_infinite},
    {"math.isFinite(double) -> bool", is_finite},
    {"math.bitAnd(int, int) -> int", bits_and<kInteger>},
    {"math.bitAnd(uint, uint) -> uint", bits_and<kUnsigned>},
    {"math.bitOr(int, int) -> int", bits_or<kInteger>},
    {"math.bitOr(uint, uint) -> uint", bits_or<kUnsigned>},
    {"math.bitXor(int, int) -> int", bits_xor<kInteger>},
    {"math.bitXor(uint, uint) -> uint", bits_xor<kUnsigned>},
    {"math.bitNot(int) -> int", bits_not<kInteger>},
    {"math.bitNot(uint) -> uint", bits_not<kUnsigned>},
    {"math.bitShiftLeft(int, int) -> int", shift_left<kInteger>},
    {"math.bitShiftLeft(uint, int) -> uint", shift_left<kUnsigned>},
    {"math.bitShiftRight(int, int) -> int", shift_right<kInteger>},
    {"math.bitShiftRight(uint, int) -> uint", shift_right<kUnsigned>},
    {"math.sqrt(int) -> double", root_of_integer},
    {"math.sqrt(uint) -> double", root_of_unsigned},
    {"math.sqrt(double) -> double", root_of_real},
};

}  // namespace

std::span<const Declared> math_functions() { return kMath; }

}  // namespace sluice::cel
