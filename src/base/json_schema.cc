// How types are called in a schema.
#include "base/json_schema.h"

namespace sluice::schema {

std::string definition_name(std::string_view type_name) {
  // Only what tells types apart for a reader: no sluice::, no unnamed namespaces.
  std::string name;
  while (!type_name.empty()) {
    size_t end = type_name.find("::");
    std::string_view part = type_name.substr(0, end);
    type_name.remove_prefix(end == std::string_view::npos ? type_name.size() : end + 2);
    if (part.empty() || part == "sluice" || part.front() == '(' || part.front() == '{') continue;
    name.append(name.empty() ? "" : ".").append(part);
  }
  return name;
}

}  // namespace sluice::schema
