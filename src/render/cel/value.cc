// Equality, order, and JSON in both directions.
#include "render/cel/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "crypto/base64.h"
#include "render/cel/time.h"
#include "render/cel/type.h"

namespace sluice::cel {
namespace {

constexpr size_t kLinearKeys = 8;  // up to here a map is searched from its first entry on

template <class Set>
Value make(Kind kind, Set set) {
  Value value;
  value.kind = kind;
  set(value);
  return value;
}

template <class T>
int order(const T& left, const T& right) {
  return left < right ? -1 : right < left ? 1 : 0;
}

// With a double, a whole number is compared as a double: what CEL's conformance tests want.
std::optional<int> compare_reals(double left, double right) {
  if (std::isnan(left) || std::isnan(right)) return std::nullopt;
  return order(left, right);
}

std::optional<int> compare_numbers(const Value& left, const Value& right) {
  switch (left.kind) {
    case Kind::integer:
      if (right.is(Kind::integer)) return order(left.integer, right.integer);
      if (right.is(Kind::real)) return compare_reals(static_cast<double>(left.integer), right.real);
      if (left.integer < 0) return -1;
      return order(static_cast<uint64_t>(left.integer), right.unsigned_integer);
    case Kind::unsigned_integer:
      if (right.is(Kind::unsigned_integer)) return order(left.unsigned_integer, right.unsigned_integer);
      if (right.is(Kind::real)) return compare_reals(static_cast<double>(left.unsigned_integer), right.real);
      break;
    default:
      if (right.is(Kind::real)) return compare_reals(left.real, right.real);
      break;
  }
  const auto mirrored = compare_numbers(right, left);
  if (!mirrored) return std::nullopt;
  return -*mirrored;
}

bool can_be_key(const Value& key) {
  return key.is(Kind::string) || key.is(Kind::boolean) || key.is(Kind::integer) || key.is(Kind::unsigned_integer);
}

// A total order of what can be a key or can be looked for as one.
bool key_before(const Value& left, const Value& right) {
  if (left.number() && right.number()) return compare_numbers(left, right).value_or(0) < 0;
  const int left_group = left.number() ? static_cast<int>(Kind::integer) : static_cast<int>(left.kind);
  const int right_group = right.number() ? static_cast<int>(Kind::integer) : static_cast<int>(right.kind);
  if (left_group != right_group) return left_group < right_group;
  if (left.is(Kind::string)) return left.text < right.text;
  return left.is(Kind::boolean) && left.boolean < right.boolean;
}

bool equal_lists(const List& left, const List& right) {
  return std::equal(left.items.begin(), left.items.end(), right.items.begin(), right.items.end(), equal);
}

bool equal_maps(const Map& left, const Map& right) {
  return left.entries.size() == right.entries.size() &&
         std::all_of(left.entries.begin(), left.entries.end(), [&](const Entry& entry) {
           const auto* other = right.find(entry.key);
           return other && equal(entry.value, *other);
         });
}

Error not_json(std::string message) { return {.code = Code::invalid, .message = std::move(message)}; }

}  // namespace

Value Value::of(bool value) {
  return make(Kind::boolean, [&](Value& made) { made.boolean = value; });
}
Value Value::of(int64_t value) {
  return make(Kind::integer, [&](Value& made) { made.integer = value; });
}
Value Value::of(uint64_t value) {
  return make(Kind::unsigned_integer, [&](Value& made) { made.unsigned_integer = value; });
}
Value Value::of(double value) {
  return make(Kind::real, [&](Value& made) { made.real = value; });
}
Value Value::of(Instant value) {
  return make(Kind::timestamp, [&](Value& made) { made.instant = value; });
}
Value Value::of(const List* value) {
  return make(Kind::list, [&](Value& made) { made.list = value; });
}
Value Value::of(const Map* value) {
  return make(Kind::map, [&](Value& made) { made.map = value; });
}
Value Value::of(const Type* value) {
  return make(Kind::type, [&](Value& made) { made.type = value; });
}
Value Value::of(const FaultText* value) {
  return make(Kind::fault, [&](Value& made) { made.fault = value; });
}
Value Value::string(std::string_view text) {
  return make(Kind::string, [&](Value& made) { made.text = text; });
}
Value Value::bytes(std::string_view text) {
  return make(Kind::bytes, [&](Value& made) { made.text = text; });
}
Value Value::duration(int64_t nanos) {
  return make(Kind::duration, [&](Value& made) { made.nanos = nanos; });
}
Value Value::optional(const Value* inner) {
  return make(Kind::optional, [&](Value& made) { made.inner = inner; });
}
Value Value::omitted() {
  return make(Kind::omitted, [](Value&) {});
}

const Value* Map::find(const Value& key) const {
  if (sorted.empty()) {
    for (const auto& entry : entries) {
      if (equal(entry.key, key)) return &entry.value;
    }
    return nullptr;
  }
  const auto place = std::lower_bound(sorted.begin(), sorted.end(), key, [this](uint32_t index, const Value& wanted) {
    return key_before(entries[index].key, wanted);
  });
  if (place == sorted.end() || !equal(entries[*place].key, key)) return nullptr;
  return &entries[*place].value;
}

std::string_view Arena::keep(std::string_view text) {
  if (text.empty()) return {};
  auto* place = static_cast<char*>(take(text.size(), 1));
  std::memcpy(place, text.data(), text.size());
  return {place, text.size()};
}

Value Arena::map(const std::vector<Entry>& entries, uint32_t offset) {
  for (const auto& entry : entries) {
    if (!can_be_key(entry.key)) {
      return fault(
          "a key of a map is a string, a bool, an int or a uint, not a " + std::string(name_of(entry.key.kind)),
          offset);
    }
  }
  std::vector<uint32_t> sorted(entries.size());
  for (size_t index = 0; index < sorted.size(); ++index) sorted[index] = static_cast<uint32_t>(index);
  std::sort(sorted.begin(), sorted.end(),
            [&](uint32_t left, uint32_t right) { return key_before(entries[left].key, entries[right].key); });
  for (size_t index = 1; index < sorted.size(); ++index) {
    if (equal(entries[sorted[index - 1]].key, entries[sorted[index]].key))
      return fault("a key stands in a map twice", offset);
  }
  if (sorted.size() <= kLinearKeys) sorted.clear();
  return Value::of(make(Map{copy(entries), copy(sorted)}));
}

bool equal(const Value& left, const Value& right) {
  if (left.number() && right.number()) return compare_numbers(left, right) == 0;
  if (left.kind != right.kind) return false;
  switch (left.kind) {
    case Kind::null:
    case Kind::omitted:
      return true;
    case Kind::boolean:
      return left.boolean == right.boolean;
    case Kind::string:
    case Kind::bytes:
      return left.text == right.text;
    case Kind::list:
      return equal_lists(*left.list, *right.list);
    case Kind::map:
      return equal_maps(*left.map, *right.map);
    case Kind::type:
      return same_runtime_type(*left.type, *right.type);
    case Kind::timestamp:
      return left.instant == right.instant;
    case Kind::duration:
      return left.nanos == right.nanos;
    case Kind::optional:
      if (!left.inner || !right.inner) return left.inner == right.inner;
      return equal(*left.inner, *right.inner);
    default:
      return false;
  }
}

std::optional<int> compare(const Value& left, const Value& right) {
  if (left.number() && right.number()) return compare_numbers(left, right);
  if (left.kind != right.kind) return std::nullopt;
  switch (left.kind) {
    case Kind::boolean:
      return order(left.boolean, right.boolean);
    case Kind::string:
    case Kind::bytes:
      return order(left.text, right.text);
    case Kind::timestamp:
      return order(left.instant, right.instant);
    case Kind::duration:
      return order(left.nanos, right.nanos);
    default:
      return std::nullopt;
  }
}

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::null:
      return "null_type";
    case Kind::boolean:
      return "bool";
    case Kind::integer:
      return "int";
    case Kind::unsigned_integer:
      return "uint";
    case Kind::real:
      return "double";
    case Kind::string:
      return "string";
    case Kind::bytes:
      return "bytes";
    case Kind::list:
      return "list";
    case Kind::map:
      return "map";
    case Kind::type:
      return "type";
    case Kind::timestamp:
      return "google.protobuf.Timestamp";
    case Kind::duration:
      return "google.protobuf.Duration";
    case Kind::optional:
      return "optional_type";
    case Kind::omitted:
      return "omitted";
    default:
      return "error";
  }
}

Value from_json(const json::value& document, Arena& arena) {
  switch (document.kind()) {
    case json::kind::bool_:
      return Value::of(document.get_bool());
    case json::kind::int64:
      return Value::of(document.get_int64());
    case json::kind::uint64:
      return Value::of(document.get_uint64());
    case json::kind::double_:
      return Value::of(document.get_double());
    case json::kind::string:
      return arena.string(document.get_string());
    case json::kind::array: {
      std::vector<Value> items;
      items.reserve(document.get_array().size());
      for (const auto& item : document.get_array()) items.push_back(from_json(item, arena));
      return arena.list(items);
    }
    case json::kind::object: {
      std::vector<Entry> entries;
      entries.reserve(document.get_object().size());
      for (const auto& [key, value] : document.get_object()) {
        entries.push_back({arena.string(key), from_json(value, arena)});
      }
      return arena.map(entries);
    }
    default:
      return {};
  }
}

Result<json::value> to_json(const Value& value) {
  switch (value.kind) {
    case Kind::null:
      return json::value(nullptr);
    case Kind::boolean:
      return json::value(value.boolean);
    case Kind::integer:
      return json::value(value.integer);
    case Kind::unsigned_integer:
      return json::value(value.unsigned_integer);
    case Kind::real:
      if (!std::isfinite(value.real)) return not_json(text_of(value.real) + " is no number of JSON");
      return json::value(value.real);
    case Kind::string:
      return json::value(json::string(value.text));
    case Kind::bytes:
      return json::value(crypto::to_base64(value.text));
    case Kind::timestamp:
      return json::value(text_of(value.instant));
    case Kind::duration:
      return json::value(text_of_duration(value.nanos));
    case Kind::type:
      return json::value(runtime_name(*value.type));
    case Kind::list: {
      json::array items;
      for (const auto& item : value.list->items) {
        if (item.is(Kind::omitted)) continue;
        auto made = to_json(item);
        if (!made) return made;
        items.push_back(std::move(*made));
      }
      return json::value(std::move(items));
    }
    case Kind::map: {
      json::object object;
      for (const auto& entry : value.map->entries) {
        if (entry.value.is(Kind::omitted)) continue;
        if (!entry.key.is(Kind::string)) {
          return not_json("a key of an object is a string, not a " + std::string(name_of(entry.key.kind)));
        }
        auto made = to_json(entry.value);
        if (!made) return made;
        object[entry.key.text] = std::move(*made);
      }
      return json::value(std::move(object));
    }
    case Kind::optional:
      return not_json("an optional is no value of JSON: take what is in it by orValue(…)");
    case Kind::omitted:
      return not_json("there is nothing here that could be left out");
    default:
      return Error{.code = Code::invalid, .message = std::string(value.fault->text)};
  }
}

std::string text_of(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "+Inf" : "-Inf";
  char buffer[64];
  auto written = std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific);
  const std::string_view scientific(buffer, written.ptr);
  const size_t exponent_at = scientific.find('e');
  int exponent = 0;
  const char* digits = scientific.data() + exponent_at + 1 + (scientific[exponent_at + 1] == '+');
  std::from_chars(digits, scientific.data() + scientific.size(), exponent);
  const auto figures = std::count_if(scientific.begin(), scientific.begin() + static_cast<long>(exponent_at),
                                     [](char each) { return each >= '0' && each <= '9'; });
  if (exponent < -4 || exponent >= std::max<long>(figures, 21)) return std::string(scientific);
  written = std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::fixed);
  return {buffer, written.ptr};
}

}  // namespace sluice::cel
