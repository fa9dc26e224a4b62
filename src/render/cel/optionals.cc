// Values that may be there or not.
#include "render/cel/library.h"

namespace sluice::cel {
namespace {

bool zero(const Value& value) {
  switch (value.kind) {
    case Kind::null:
      return true;
    case Kind::boolean:
      return !value.boolean;
    case Kind::integer:
      return value.integer == 0;
    case Kind::unsigned_integer:
      return value.unsigned_integer == 0;
    case Kind::real:
      return value.real == 0;
    case Kind::string:
    case Kind::bytes:
      return value.text.empty();
    case Kind::list:
      return value.list->items.empty();
    case Kind::map:
      return value.map->entries.empty();
    case Kind::timestamp:
      return value.instant == Instant{};
    case Kind::duration:
      return value.nanos == 0;
    case Kind::optional:
      return value.inner == nullptr;
    default:
      return false;
  }
}

Value of(const Call& call) { return call.arena.optional(call[0]); }
Value of_non_zero(const Call& call) { return zero(call[0]) ? Value::optional(nullptr) : call.arena.optional(call[0]); }
Value none(const Call&) { return Value::optional(nullptr); }
Value has_value(const Call& call) { return Value::of(call[0].inner != nullptr); }
Value value_of(const Call& call) {
  if (!call[0].inner) return call.fault("there is no value in this optional");
  return *call[0].inner;
}
Value unwrap(const Call& call) {
  std::vector<Value> there;
  for (const auto& each : call[0].list->items) {
    if (!each.is(Kind::optional)) return call.fault(no_overload("unwrap", call.given));
    if (each.inner) there.push_back(*each.inner);
  }
  return call.arena.list(there);
}

// `or` and `orValue` are the evaluator's: what stands behind them is not evaluated in vain.
constexpr Declared kOptional[] = {
    {"optional.of(T) -> optional_type(T)", of},
    {"optional.ofNonZeroValue(T) -> optional_type(T)", of_non_zero},
    {"optional.none() -> optional_type(T)", none},
    {"optional.unwrap(list(optional_type(T))) -> list(T)", unwrap},
    {"(list(optional_type(T))).unwrapOpt() -> list(T)", unwrap},
    {"(optional_type(T)).hasValue() -> bool", has_value},
    {"(optional_type(T)).value() -> T", value_of},
    {"(optional_type(T)).or(optional_type(T)) -> optional_type(T)", nullptr},
    {"(optional_type(T)).orValue(T) -> T", nullptr},
};

}  // namespace

std::span<const Declared> optional_functions() { return kOptional; }

}  // namespace sluice::cel
