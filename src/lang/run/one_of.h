// OneOf<Ts…>: one value of one of several types, as handlers give and take it: the variants of an action, and what else
// can happen to it. It is what std::variant would be, for two small functions a type instead of seventy: a kit has
// hundreds of these types, and half of the functions that it was compiled to were those.
//
//   Ship::Outcome outcome = Ship::Ok{.parcel = "p1"};
//   if (auto* ok = get_if<Ship::Ok>(&outcome)) ok->parcel = "p2";
//
// Copies are deep. A OneOf of some types becomes one of more types by itself.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace sluice::lang {

namespace one_of {

struct Kind {
  void* (*copy)(const void* value);
  void (*drop)(void* value);
};

template <class T>
inline constexpr Kind kKind{.copy = [](const void* value) -> void* { return new T(*static_cast<const T*>(value)); },
                            .drop = [](void* value) { delete static_cast<T*>(value); }};

// A value whose type its owner knows. What was moved from holds none.
class Box {
 public:
  Box(const Kind& kind, void* value) : kind_(&kind), value_(value) {}
  Box(const Box& other) : kind_(other.kind_), value_(other.value_ == nullptr ? nullptr : kind_->copy(other.value_)) {}
  Box(Box&& other) noexcept : kind_(other.kind_), value_(std::exchange(other.value_, nullptr)) {}
  Box& operator=(Box other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(value_, other.value_);
    return *this;
  }
  ~Box() {
    if (value_ != nullptr) kind_->drop(value_);
  }

  void* value() const { return value_; }

 private:
  const Kind* kind_;
  void* value_;
};

template <class T, class... Ts>
inline constexpr bool kHas = (std::is_same_v<T, Ts> || ...);

// Where T stands among the others.
template <class T, class... Ts>
constexpr size_t place() {
  constexpr std::array<bool, sizeof...(Ts)> same{std::is_same_v<T, Ts>...};
  return static_cast<size_t>(std::find(same.begin(), same.end(), true) - same.begin());
}

}  // namespace one_of

template <class... Ts>
class OneOf {
 public:
  template <class T>
    requires one_of::kHas<T, Ts...>
  OneOf(T value)  // NOLINT: implicit on purpose
      : index_(one_of::place<T, Ts...>()), box_(one_of::kKind<T>, new T(std::move(value))) {}

  template <class... Fewer>
    requires(one_of::kHas<Fewer, Ts...> && ...)
  OneOf(OneOf<Fewer...> other)  // NOLINT: implicit on purpose
      : index_(std::array{one_of::place<Fewer, Ts...>()...}[other.index_]), box_(std::move(other.box_)) {}

  // A value of the type that stands at `index`.
  OneOf(size_t index, one_of::Box value) : index_(index), box_(std::move(value)) {}

  // Which of the types it is, counted from 0.
  size_t index() const { return index_; }
  // The value itself, which is of that type.
  void* value() { return box_.value(); }
  const void* value() const { return box_.value(); }

 private:
  template <class... Us>
  friend class OneOf;

  size_t index_;
  one_of::Box box_;
};

// The value if it is a T; null if it is something else.
template <class T, class... Us>
T* get_if(OneOf<Us...>* from) {
  static_assert(one_of::kHas<T, Us...>, "it is never of this type");
  return from->index() == one_of::place<T, Us...>() ? static_cast<T*>(from->value()) : nullptr;
}
template <class T, class... Us>
const T* get_if(const OneOf<Us...>* from) {
  static_assert(one_of::kHas<T, Us...>, "it is never of this type");
  return from->index() == one_of::place<T, Us...>() ? static_cast<const T*>(from->value()) : nullptr;
}

// The value, which must be a T: that it is not is a bug.
template <class T, class... Us>
const T& get(const OneOf<Us...>& from) {
  const T* found = get_if<T>(&from);
  if (found == nullptr) throw std::logic_error("it is of another type");
  return *found;
}

}  // namespace sluice::lang
