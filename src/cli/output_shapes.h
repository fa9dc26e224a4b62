// What each command prints with --output json, as a JSON Schema: `sluice schema env show`. Members are added with time,
// never renamed or removed.
#pragma once

#include <string>
#include <string_view>

#include "base/document.h"
#include "base/result.h"

namespace sluice::cli {

// `not_found` for a command that has none here. What prints no JSON is a plain text: {"type": "string"}.
Result<json::object> output_schema(std::string_view command);

// The file that `env apply` takes.
json::value environment_file_schema();

}  // namespace sluice::cli
