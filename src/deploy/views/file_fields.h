// Reading a file of an environment field by field: each fault is told with its place.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/document.h"
#include "base/result.h"

namespace sluice::deploy::views {

using FieldNames = std::set<std::string_view>;

Error wrong(const Document& file, const std::string& path, const std::string& message);
// It is an object, and has no other fields than these.
Result<void> check_fields(const Document& file, const std::string& path, const json::value& value,
                          const FieldNames& known);
// A text, or nothing where there is null or no such field.
Result<std::string> text_at(const Document& file, const std::string& path, const json::value& object,
                            std::string_view name);

}  // namespace sluice::deploy::views
