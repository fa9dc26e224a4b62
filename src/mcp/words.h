// The numbers of JSON-RPC's errors as the protocol uses them, and members of messages.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

namespace sluice::mcp {

namespace json = boost::json;

inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kNoMethod = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternal = -32603;
inline constexpr int kHeaderMismatch = -32020;
inline constexpr int kUnsupportedVersion = -32022;
inline constexpr int kOldResourceNotFound = -32002;  // since 2026-07-28 these are invalid params

// The text, or the object, of that name; an empty one if there is none.
inline std::string text_in(const json::object& from, std::string_view name) {
  const json::value* value = from.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}
inline const json::object& object_in(const json::object& from, std::string_view name) {
  static const json::object kNone;
  const json::value* value = from.if_contains(name);
  return value != nullptr && value->is_object() ? value->get_object() : kNone;
}

}  // namespace sluice::mcp
