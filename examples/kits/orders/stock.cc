// Stock counts what is on the shelf. What is reserved is off it at once, so two orders never get the same item.
#include <algorithm>

#include "stock.gen.h"

namespace sluice::orders::stock {
namespace {

constexpr int64_t kMostOnShelf = 1'000'000;

int64_t on_shelf(const State& state, const StockId& item) {
  auto found = state.get(item);
  return found ? found->onShelf : 0;
}

}  // namespace

Add::Result Stock::add(const Add& ask, State& state) {
  int64_t before = on_shelf(state, ask.item);
  if (ask.count < 1 || ask.count > kMostOnShelf - before) return Add::BadCount{.count = ask.count};
  state.put(ask.item, {.onShelf = before + ask.count});
  return Add::Ok{.item = ask.item, .onShelf = before + ask.count};
}

Reserve::Result Stock::reserve(const Reserve& ask, State& state) {
  int64_t before = on_shelf(state, ask.item);
  if (ask.count < 1 || ask.count > before) return Reserve::Short{.item = ask.item, .onShelf = before};
  state.put(ask.item, {.onShelf = before - ask.count});
  return Reserve::Ok{.item = ask.item, .count = ask.count};
}

// Undoing must succeed, whatever it is given: too much, or less than nothing, is cut to what the shelf can hold.
Release::Result Stock::release(const Release& ask, State& state) {
  int64_t before = on_shelf(state, ask.item);
  int64_t after = before + std::clamp<int64_t>(ask.count, 0, kMostOnShelf - before);
  if (after != before) state.put(ask.item, {.onShelf = after});
  return Release::Ok{.item = ask.item, .onShelf = after};
}

Look::Result Stock::look(const Look& ask, const State& state) {
  if (!state.has(ask.item)) return Look::Unknown{.item = ask.item};
  return Look::Ok{.item = ask.item, .onShelf = on_shelf(state, ask.item)};
}

}  // namespace sluice::orders::stock
