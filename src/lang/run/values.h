// The types of a concept's fields that C++ has no type for: identities, times, bytes, requests and sealed values.
// Each is a string in JSON, so that a `.concept`, a journal row and a handler agree on what it is.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/json_fields.h"
#include "base/result.h"

namespace sluice::lang {

// An opaque identity. A concept never looks into one; two with different owners do not mix, and text becomes one only
// by saying so: `RolloutId("…")`.
template <class Owner>
class Id {
 public:
  Id() = default;
  explicit Id(std::string text) : text_(std::move(text)) {}

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }

  auto operator<=>(const Id&) const = default;

 private:
  std::string text_;
};

// An open answered action: what `answer ?r` names.
using Request = Id<struct RequestOwner>;

// A moment, in milliseconds since 1970 UTC. In JSON ISO 8601, always UTC, always with milliseconds, so that text sorts
// as time does; years 0000 to 9999.
struct DateTime {
  int64_t ms = 0;

  auto operator<=>(const DateTime&) const = default;
};

std::string to_text(DateTime time);
Result<DateTime> parse_date_time(std::string_view text);

// Raw bytes; base64 with padding in JSON.
struct Bytes {
  std::string bytes;

  auto operator<=>(const Bytes&) const = default;
};

std::string to_base64(std::string_view bytes);
Result<Bytes> parse_base64(std::string_view text);

// A handle to a secret. The value is nowhere in state, journal or answers, and cannot be had from this type: only
// Attempt::open (lang/run/handler.h) yields it, and only `perform` is given an Attempt.
class Sealed {
 public:
  Sealed() = default;
  static Sealed of_handle(std::string handle) { return Sealed(std::move(handle)); }

  const std::string& handle() const { return handle_; }

  auto operator<=>(const Sealed&) const = default;

 private:
  explicit Sealed(std::string handle) : handle_(std::move(handle)) {}

  std::string handle_;
};

}  // namespace sluice::lang

namespace sluice {

template <class Owner>
struct JsonScalar<lang::Id<Owner>> {
  static constexpr std::string_view kExpected = "an id";
  static constexpr std::string_view kPattern = "";
  static Result<lang::Id<Owner>> parse(std::string_view text) { return lang::Id<Owner>(std::string(text)); }
  static std::string print(const lang::Id<Owner>& id) { return id.text(); }
};

template <>
struct JsonScalar<lang::DateTime> {
  static constexpr std::string_view kExpected = "a UTC time such as \"2030-01-31T12:00:00.000Z\"";
  static constexpr std::string_view kPattern =
      "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,3})?Z$";
  static Result<lang::DateTime> parse(std::string_view text) { return lang::parse_date_time(text); }
  static std::string print(const lang::DateTime& time) { return lang::to_text(time); }
};

template <>
struct JsonScalar<lang::Bytes> {
  static constexpr std::string_view kExpected = "base64 text";
  static constexpr std::string_view kPattern = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$";
  static Result<lang::Bytes> parse(std::string_view text) { return lang::parse_base64(text); }
  static std::string print(const lang::Bytes& bytes) { return lang::to_base64(bytes.bytes); }
};

template <>
struct JsonScalar<lang::Sealed> {
  static constexpr std::string_view kExpected = "the handle of a sealed value";
  static constexpr std::string_view kPattern = "";
  static Result<lang::Sealed> parse(std::string_view text) { return lang::Sealed::of_handle(std::string(text)); }
  static std::string print(const lang::Sealed& sealed) { return sealed.handle(); }
};

}  // namespace sluice
