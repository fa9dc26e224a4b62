// Objects of one kind that come and go many times a second: taken from and given back to a list, so that nothing is
// allocated once there are enough. A given-back object keeps its memory and is not taken again before the next rest(),
// so that an event that was already on its way to it finds an object that is marked as gone, not another one.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace sluice::router {

template <class T>
class Slab {
 public:
  Slab() = default;
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  T* take() {
    if (free_.empty()) grow();
    T* object = free_.back();
    free_.pop_back();
    ++taken_;
    *object = T{};
    return object;
  }

  void give(T* object) {
    resting_.push_back(object);
    --taken_;
  }

  // When no event from before the last call can come any more: what had been given back until then is free.
  void rest() {
    if (resting_.empty() && rested_.empty()) return;
    free_.insert(free_.end(), rested_.begin(), rested_.end());
    rested_.clear();
    rested_.swap(resting_);
  }

  size_t taken() const { return taken_; }

 private:
  static constexpr size_t kAtOnce = 64;

  void grow() {
    blocks_.push_back(std::make_unique<T[]>(kAtOnce));
    for (size_t i = 0; i < kAtOnce; ++i) free_.push_back(&blocks_.back()[kAtOnce - 1 - i]);
    resting_.reserve(blocks_.size() * kAtOnce);
    rested_.reserve(blocks_.size() * kAtOnce);
  }

  std::vector<std::unique_ptr<T[]>> blocks_;
  std::vector<T*> free_;
  std::vector<T*> resting_;  // given back since the last rest(),
  std::vector<T*> rested_;   // and before it
  size_t taken_ = 0;
};

}  // namespace sluice::router
