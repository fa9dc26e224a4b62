// The values of CEL expressions, and the memory in which an evaluation keeps them.
//
// A Value is small, is copied freely and owns nothing: what it points at lies in an Arena, or in the text of the
// expression. An Arena counts what it gives out, so an evaluation that grows without end is stopped by its budget.
//
// A failure is a value too (Kind::fault), because `||`, `&&` and the macros may swallow one.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace sluice::cel {

struct Type;
struct List;
struct Map;
struct FaultText;

enum class Kind : uint8_t {
  null,
  boolean,
  integer,
  unsigned_integer,
  real,
  string,
  bytes,
  list,
  map,
  type,
  timestamp,
  duration,
  optional,
  omitted,  // what oc_omit() gives: the entry or element that holds it is left out
  fault,
};

struct Instant {
  int64_t seconds = 0;  // since 1970, within the years 1 to 9999
  int32_t nanos = 0;    // 0 to 999,999,999

  auto operator<=>(const Instant&) const = default;
};

struct Value {
  Kind kind = Kind::null;
  union {
    bool boolean;
    int64_t integer;
    uint64_t unsigned_integer;
    double real;
    std::string_view text;  // of string and bytes
    const List* list;
    const Map* map;
    const Type* type;
    Instant instant;
    int64_t nanos;       // of a duration
    const Value* inner;  // of an optional; null if there is nothing in it
    const FaultText* fault;
  };

  Value() : integer(0) {}
  static Value of(bool value);
  static Value of(int64_t value);
  static Value of(uint64_t value);
  static Value of(double value);
  static Value of(Instant value);
  static Value of(const List* value);
  static Value of(const Map* value);
  static Value of(const Type* value);
  static Value of(const FaultText* value);
  static Value string(std::string_view text);  // the text must outlive the value
  static Value bytes(std::string_view text);
  static Value duration(int64_t nanos);
  static Value optional(const Value* inner);
  static Value omitted();

  bool is(Kind other) const { return kind == other; }
  bool failed() const { return kind == Kind::fault; }
  bool number() const { return kind >= Kind::integer && kind <= Kind::real; }
};

struct FaultText {
  std::string_view text;
  uint32_t offset = 0;  // in the expression
};

struct List {
  std::span<const Value> items;
};

struct Entry {
  Value key;
  Value value;
};

// Entries in the order in which they were written; numbers that are equal are one key, whatever their types.
struct Map {
  std::span<const Entry> entries;
  std::span<const uint32_t> sorted;  // the entries by key, of a map with more than a few

  const Value* find(const Value& key) const;
};

class Arena {
 public:
  explicit Arena(size_t limit = size_t{16} << 20) : limit_(limit) {}

  template <class T>
  T* make(T value) {
    return new (take(sizeof(T), alignof(T))) T(value);
  }
  template <class T>
  std::span<T> copy(const std::vector<T>& items) {
    if (items.empty()) return {};
    auto* place = static_cast<T*>(take(sizeof(T) * items.size(), alignof(T)));
    std::uninitialized_copy(items.begin(), items.end(), place);
    return {place, items.size()};
  }
  std::string_view keep(std::string_view text);

  Value string(std::string_view text) { return Value::string(keep(text)); }
  Value bytes(std::string_view text) { return Value::bytes(keep(text)); }
  Value list(const std::vector<Value>& items) { return Value::of(make(List{copy(items)})); }
  Value optional(const Value& value) { return Value::optional(make(value)); }
  Value fault(std::string_view text, uint32_t offset = 0) { return Value::of(make(FaultText{keep(text), offset})); }
  // A fault if a key stands in it twice or cannot be one.
  Value map(const std::vector<Entry>& entries, uint32_t offset = 0);

  // Whether so many bytes more fit. Whoever makes a large value asks first; the evaluator asks after each step.
  bool fits(size_t bytes) const { return bytes <= limit_ && used_ <= limit_ - bytes; }

 private:
  void* take(size_t bytes, size_t alignment) {
    used_ += bytes;
    return memory_.allocate(bytes, alignment);
  }

  std::pmr::monotonic_buffer_resource memory_;
  size_t used_ = 0;
  size_t limit_;
};

// CEL's equality: numbers by value whatever their types, everything else by kind and content.
bool equal(const Value& left, const Value& right);

// -1, 0 or 1; nothing if the two have no order. NaN has none with anything.
std::optional<int> compare(const Value& left, const Value& right);

// Names of kinds as `type()` and messages have them: "int", "google.protobuf.Timestamp".
std::string_view name_of(Kind kind);

// JSON's integers become int, or uint above its range; the order of objects stays.
Value from_json(const json::value& document, Arena& arena);

// What JSON has no form for becomes text: bytes in base64, timestamps in RFC 3339, durations in seconds, types by name.
// A key that is not a string, NaN and infinities are errors, and so is an optional; omitted items are left out.
Result<json::value> to_json(const Value& value);

// As string() and interpolation show it: the shortest digits that read back as the same number.
std::string text_of(double number);
std::string text_of(Instant instant);
std::string text_of_duration(int64_t nanos);

}  // namespace sluice::cel
