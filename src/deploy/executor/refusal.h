// Why the executor does not do what it was asked for: one of the variants of Cluster, with a sentence. What was asked
// for is as it was, unless the sentence says how far it came.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace sluice::deploy::executor {

struct Refusal {
  std::string why;  // "policyDenied"
  std::string message;
};

// A value, or why there is none.
template <class T>
class Tried {
 public:
  Tried(T value) : value_(std::move(value)) {}
  Tried(Refusal refusal) : refusal_(std::move(refusal)) {}

  explicit operator bool() const { return value_.has_value(); }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  const Refusal& refusal() const {
    assert(!value_);
    return refusal_;
  }

 private:
  std::optional<T> value_;
  Refusal refusal_;
};

// A refusal has no other place for the next step.
inline Refusal refusal_of(std::string_view why, const Error& error) {
  return {std::string(why), to_string(error) + (error.next.empty() ? "" : "; next: " + error.next)};
}

}  // namespace sluice::deploy::executor
