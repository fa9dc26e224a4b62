// Functions on lists and sets, and base64.
#include <algorithm>

#include "crypto/base64.h"
#include "render/cel/library.h"

namespace sluice::cel {
namespace {

bool holds(std::span<const Value> items, const Value& wanted) {
  return std::any_of(items.begin(), items.end(), [&](const Value& item) { return equal(item, wanted); });
}
bool holds_all(std::span<const Value> items, std::span<const Value> wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const Value& each) { return holds(items, each); });
}
std::span<const Value> items(const Value& value) { return value.list->items; }

Value slice(const Call& call) {
  const auto begin = call[1].integer, end = call[2].integer;
  const auto size = static_cast<int64_t>(items(call[0]).size());
  if (begin < 0 || end < begin || end > size) {
    return call.fault("a slice lies within the list: 0 <= start <= end <= " + std::to_string(size));
  }
  return Value::of(
      call.arena.make(List{items(call[0]).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin))}));
}

void flatten_into(std::vector<Value>& flat, std::span<const Value> given, int64_t depth) {
  for (const auto& item : given) {
    if (item.is(Kind::list) && depth > 0) {
      flatten_into(flat, items(item), depth - 1);
    } else {
      flat.push_back(item);
    }
  }
}
Value flatten(const Call& call) {
  const int64_t depth = call.given.size() > 1 ? call[1].integer : 1;
  if (depth < 0) return call.fault("a list is flattened by a depth of 0 or more");
  std::vector<Value> flat;
  flatten_into(flat, items(call[0]), depth);
  return call.arena.list(flat);
}

Value distinct(const Call& call) {
  std::vector<Value> kept;
  for (const auto& item : items(call[0])) {
    if (!holds(kept, item)) kept.push_back(item);
  }
  return call.arena.list(kept);
}

Value reverse(const Call& call) {
  return call.arena.list(std::vector<Value>(items(call[0]).rbegin(), items(call[0]).rend()));
}

Value sort(const Call& call) {
  std::vector<Value> sorted(items(call[0]).begin(), items(call[0]).end());
  for (const auto& item : sorted) {
    if (!compare(item, sorted.front()))
      return call.fault("a list is sorted whose elements have an order with each other");
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Value& left, const Value& right) { return compare(left, right).value_or(0) < 0; });
  return call.arena.list(sorted);
}

// Beneath the macro sortBy: the keys stand beside the elements.
Value sort_by(const Call& call) {
  const auto given = items(call[0]), keys = items(call[1]);
  std::vector<size_t> order(given.size());
  for (size_t index = 0; index < order.size(); ++index) {
    order[index] = index;
    if (!compare(keys[index], keys[0]))
      return call.fault("a list is sorted by keys that have an order with each other");
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t left, size_t right) { return compare(keys[left], keys[right]).value_or(0) < 0; });
  std::vector<Value> sorted;
  for (const size_t index : order) sorted.push_back(given[index]);
  return call.arena.list(sorted);
}

Value range(const Call& call) {
  std::vector<Value> numbers;
  const auto count = std::max<int64_t>(call[0].integer, 0);
  if (count > (1 << 20) || !call.arena.fits(static_cast<size_t>(count) * sizeof(Value))) {
    return call.fault("the list grows too large");
  }
  for (int64_t each = 0; each < count; ++each) numbers.push_back(Value::of(each));
  return call.arena.list(numbers);
}

Value first(const Call& call) {
  const auto given = items(call[0]);
  return given.empty() ? Value::optional(nullptr) : call.arena.optional(given.front());
}
Value last(const Call& call) {
  const auto given = items(call[0]);
  return given.empty() ? Value::optional(nullptr) : call.arena.optional(given.back());
}

Value contains(const Call& call) { return Value::of(holds_all(items(call[0]), items(call[1]))); }
Value equivalent(const Call& call) {
  return Value::of(holds_all(items(call[0]), items(call[1])) && holds_all(items(call[1]), items(call[0])));
}
Value intersects(const Call& call) {
  const auto given = items(call[0]);
  return Value::of(
      std::any_of(given.begin(), given.end(), [&](const Value& each) { return holds(items(call[1]), each); }));
}

Value encode(const Call& call) { return call.string(crypto::to_base64(call[0].text)); }
Value decode(const Call& call) {
  std::string padded(call[0].text);
  while (padded.size() % 4 != 0) padded += '=';
  const auto bytes = crypto::from_base64(padded);
  if (!bytes) return call.fault("this is no base64");
  return call.arena.bytes(*bytes);
}

constexpr Declared kCollections[] = {
    {"(list(T)).slice(int, int) -> list(T)", slice},
    {"(list(T)).flatten() -> list(dyn)", flatten},
    {"(list(T)).flatten(int) -> list(dyn)", flatten},
    {"(list(T)).distinct() -> list(T)", distinct},
    {"(list(T)).reverse() -> list(T)", reverse},
    {"(list(T)).sort() -> list(T)", sort},
    {"(list(T)).@sortBy(list(K)) -> list(T)", sort_by},
    {"lists.range(int) -> list(int)", range},
    {"(list(T)).first() -> optional_type(T)", first},
    {"(list(T)).last() -> optional_type(T)", last},
    {"sets.contains(list(T), list(T)) -> bool", contains},
    {"sets.equivalent(list(T), list(T)) -> bool", equivalent},
    {"sets.intersects(list(T), list(T)) -> bool", intersects},
    {"base64.encode(bytes) -> string", encode},
    {"base64.decode(string) -> bytes", decode},
};

}  // namespace

std::span<const Declared> collection_functions() { return kCollections; }

}  // namespace sluice::cel
