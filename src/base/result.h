// Result<T>: a value or the Error that stands in its place. Every failure that a caller can meet travels this way;
// exceptions are left for bugs and exhausted memory.
//
//   Result<Config> load(const std::string& path) {
//     auto text = read_file(path);
//     if (!text) return text.error();
//     return parse(*text);
//   }
//
// An Error says what happened (message), what to do next (next), and where: a path into a document (a JSON pointer)
// or a position in a file. Its code decides the exit code and the HTTP status (base/code.h).
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "base/code.h"

namespace sluice {

// A place in a text file, counted from 1; columns count code points. File may be empty for text without a name.
struct Position {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;

  bool operator==(const Position&) const = default;
};

// "file:line:column", or "line:column" without a file.
std::string to_string(const Position& position);

struct Error {
  Code code = Code::failed;
  std::string message;
  std::string next;  // the next step, as a command or a sentence; empty if there is none
  std::string path;  // JSON pointer into the document at fault; empty if there is none
  std::optional<Position> position;

  bool operator==(const Error&) const = default;
};

// One line for a person: "app.yaml:3:7: /replicas: expected an integer, found a string". The next step is not in it.
std::string to_string(const Error& error);

namespace result {

// Errors are rare and large, so a Result points at its own. A Result that was moved from has none.
Error* keep(Error error);
Error* copy(const Error* error);
void drop(Error* error) noexcept;

}  // namespace result

// Written by hand rather than on std::variant, of which every type of value would need seventy functions: half of what
// a test program is made of.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : has_value_(true), value_(std::move(value)) {}                     // NOLINT: implicit on purpose
  Result(Error error) : has_value_(false), error_(result::keep(std::move(error))) {}  // NOLINT: implicit on purpose
  Result(const Result& other)
    requires std::is_copy_constructible_v<T>
      : has_value_(other.has_value_) {
    if (has_value_) {
      std::construct_at(&value_, other.value_);
    } else {
      error_ = result::copy(other.error_);
    }
  }
  Result(Result&& other) noexcept : has_value_(other.has_value_) { take(other); }
  Result& operator=(const Result& other)
    requires std::is_copy_constructible_v<T>
  {
    if (this != &other) *this = Result(other);
    return *this;
  }
  Result& operator=(Result&& other) noexcept {
    if (this == &other) return *this;
    drop();
    has_value_ = other.has_value_;
    take(other);
    return *this;
  }
  ~Result() { drop(); }

  bool has_value() const { return has_value_; }
  explicit operator bool() const { return has_value(); }

  T& value() & { return get(); }
  const T& value() const& { return get(); }
  T&& value() && { return std::move(get()); }
  T& operator*() & { return get(); }
  const T& operator*() const& { return get(); }
  T&& operator*() && { return std::move(get()); }
  T* operator->() { return &get(); }
  const T* operator->() const { return &get(); }

  const Error& error() const& {
    assert(!has_value() && error_ != nullptr);
    return *error_;
  }
  Error&& error() && {
    assert(!has_value() && error_ != nullptr);
    return std::move(*error_);
  }

 private:
  void take(Result& other) noexcept {
    if (has_value_) {
      std::construct_at(&value_, std::move(other.value_));
    } else {
      error_ = std::exchange(other.error_, nullptr);
    }
  }
  void drop() noexcept {
    if (has_value_) {
      std::destroy_at(&value_);
    } else {
      result::drop(error_);
    }
  }
  T& get() {
    assert(has_value());
    return value_;
  }
  const T& get() const {
    assert(has_value());
    return value_;
  }

  bool has_value_;
  union {
    T value_;
    Error* error_;
  };
};

// Done, or why not. `return {};` is success.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : has_value_(false), error_(result::keep(std::move(error))) {}  // NOLINT: implicit on purpose
  Result(const Result& other) : has_value_(other.has_value_), error_(result::copy(other.error_)) {}
  Result(Result&& other) noexcept : has_value_(other.has_value_), error_(std::exchange(other.error_, nullptr)) {}
  Result& operator=(Result other) noexcept {
    has_value_ = other.has_value_;
    std::swap(error_, other.error_);
    return *this;
  }
  ~Result() { result::drop(error_); }

  bool has_value() const { return has_value_; }
  explicit operator bool() const { return has_value(); }

  const Error& error() const& {
    assert(error_ != nullptr);
    return *error_;
  }
  Error&& error() && {
    assert(error_ != nullptr);
    return std::move(*error_);
  }

 private:
  bool has_value_ = true;
  Error* error_ = nullptr;
};

}  // namespace sluice
