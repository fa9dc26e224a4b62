// The errors of values that do not fit their action.
#include "lang/bind.h"

namespace sluice::lang::bind {

Error unknown_variant(std::string_view action, std::string_view variant) {
  return {.code = Code::invalid, .message = std::string(action) + " has no variant \"" + std::string(variant) + "\""};
}

Error not_readable(std::string_view what, std::string_view action, Error error) {
  error.message = std::string(what) + " of " + std::string(action) + ": " + error.message;
  return error;
}

json::object filled(const json::object& given, const json::object& defaults) {
  json::object all = given;
  for (const auto& field : defaults) {
    if (!all.contains(field.key())) all.emplace(field.key(), field.value());
  }
  return all;
}

}  // namespace sluice::lang::bind
