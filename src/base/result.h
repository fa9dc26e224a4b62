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
#include <optional>
#include <string>
#include <utility>
#include <variant>

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

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit on purpose

  bool has_value() const { return state_.index() == 0; }
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
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    assert(!has_value());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  T& get() {
    assert(has_value());
    return *std::get_if<0>(&state_);
  }
  const T& get() const {
    assert(has_value());
    return *std::get_if<0>(&state_);
  }

  std::variant<T, Error> state_;
};

// Done, or why not. `return {};` is success.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit on purpose

  bool has_value() const { return !error_; }
  explicit operator bool() const { return has_value(); }

  const Error& error() const& {
    assert(error_);
    return *error_;
  }
  Error&& error() && {
    assert(error_);
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

}  // namespace sluice
