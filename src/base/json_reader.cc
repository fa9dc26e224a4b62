// The reader's sentences, and the ranges of integers.
#include "base/json_reader.h"

#include <algorithm>
#include <boost/json.hpp>
#include <vector>

#include "base/json.h"
#include "base/json_text.h"
#include "base/nearest.h"

namespace sluice::reader {
namespace {

Error invalid(std::string message, const Place& place, std::string next = "") {
  return Error{.code = Code::invalid, .message = std::move(message), .next = std::move(next), .path = place.pointer()};
}

std::string found_text(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return value.get_bool() ? "true" : "false";
    case json::kind::int64:
    case json::kind::uint64:
      return "an integer";
    case json::kind::double_:
      return "the number " + write(value);
    case json::kind::string:
      return "a string";
    case json::kind::array:
      return "an array";
    case json::kind::object:
      break;
  }
  return "an object";
}

std::string joined(std::span<const std::string_view> names) {
  std::string text;
  for (std::string_view name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

template <class T>
Error out_of_range(const json::value& found, T least, T most, const Place& place) {
  return invalid(
      "expected an integer from " + std::to_string(least) + " to " + std::to_string(most) + ", found " + write(found),
      place);
}

}  // namespace

Error wrong_kind(std::string_view expected, const json::value& found, const Place& place) {
  return invalid("expected " + std::string(expected) + ", found " + found_text(found), place);
}

Error missing_field(std::string_view expected, const Place& field) {
  return invalid("missing field, expected " + std::string(expected), field, "add the field");
}

Error unknown_field(std::string_view name, std::span<const std::string_view> known, const Place& field) {
  if (auto meant = nearest(name, known))
    return invalid("unknown field, did you mean " + json_quoted(*meant) + "?", field, "rename the field");
  if (known.empty()) return invalid("unknown field, there are none here", field, "remove the field");
  return invalid("unknown field, expected one of " + joined(known), field, "remove or rename the field");
}

Error unknown_name(std::string_view found, std::span<const std::string_view> known, const Place& place) {
  std::string message = "expected one of " + joined(known) + ", found " + json_quoted(found);
  if (auto meant = nearest(found, known)) message += "; did you mean " + json_quoted(*meant) + "?";
  return invalid(std::move(message), place);
}

Error refused_scalar(Error error, const Place& place) {
  error.code = Code::invalid;
  error.path = place.pointer();
  return error;
}

Result<int64_t> read_signed(const json::value& value, int64_t least, int64_t most, const Place& place) {
  const int64_t* number = value.if_int64();
  if (number == nullptr || *number < least || *number > most) return out_of_range(value, least, most, place);
  return *number;
}

Result<uint64_t> read_unsigned(const json::value& value, uint64_t most, const Place& place) {
  uint64_t number = 0;
  if (const int64_t* small = value.if_int64()) {
    if (*small < 0) return out_of_range<uint64_t>(value, 0, most, place);
    number = static_cast<uint64_t>(*small);
  } else {
    number = value.get_uint64();
  }
  if (number > most) return out_of_range<uint64_t>(value, 0, most, place);
  return number;
}

std::optional<Error> read_members(const json::object& object, const Place& place, std::span<const Member> members) {
  // In the order of the text, so that the first error is the first that a person meets.
  for (const auto& given : object) {
    std::string_view key(given.key().data(), given.key().size());
    Place field = place.member(key);
    auto member = std::ranges::find(members, key, &Member::name);
    if (member == members.end()) {
      std::vector<std::string_view> names;
      for (const Member& each : members) names.push_back(each.name);
      return unknown_field(key, names, field);
    }
    if (auto error = member->reading->read(given.value(), field, member->at)) return error;
  }
  for (const Member& member : members) {
    if (!member.required || object.contains(member.name)) continue;
    return missing_field(member.reading->expected(), place.member(member.name));
  }
  return std::nullopt;
}

}  // namespace sluice::reader
