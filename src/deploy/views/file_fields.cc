// Faults are `invalid`, at the field.
#include "deploy/views/file_fields.h"

#include <boost/json.hpp>

namespace sluice::deploy::views {

Error wrong(const Document& file, const std::string& path, const std::string& message) {
  return {.code = Code::invalid, .message = message, .path = path, .position = file.position_of(path)};
}

Result<void> check_fields(const Document& file, const std::string& path, const json::value& value,
                          const FieldNames& known) {
  if (!value.is_object()) return wrong(file, path, "expected an object");
  for (const auto& each : value.get_object()) {
    if (known.contains(std::string_view(each.key()))) continue;
    return wrong(file, path + "/" + std::string(each.key()), "there is no such field");
  }
  return {};
}

Result<std::string> text_at(const Document& file, const std::string& path, const json::value& object,
                            std::string_view name) {
  const json::value* value = object.as_object().if_contains(name);
  if (value == nullptr || value->is_null()) return std::string();
  if (!value->is_string()) return wrong(file, path + "/" + std::string(name), "expected a text");
  return std::string(value->get_string());
}

}  // namespace sluice::deploy::views
