// Errors with a JSON pointer, and optional times.
#include "bundle/trust/field_fault.h"

#include "base/utc_time.h"

namespace sluice::bundle {

Error invalid(std::string path, std::string message, std::string next) {
  return {.code = Code::invalid, .message = std::move(message), .next = std::move(next), .path = std::move(path)};
}

Result<std::optional<int64_t>> time_of(const std::optional<std::string>& text, const std::string& path) {
  if (!text) return std::optional<int64_t>();
  auto ms = parse_utc(*text);
  if (!ms) return invalid(path, ms.error().message);
  return std::optional(*ms);
}

}  // namespace sluice::bundle
