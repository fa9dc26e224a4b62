// Patches objects and checks values, a JSON object on a line each, for comparison with what others wrote:
//
//   {"doc": …, "patch": [{"op", "path", "value"}]}   {"doc": …} or {"error": …}
//   {"schema": …, "value": …}                        {"valid": true} or {"valid": false, "why": …}
#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <iostream>

#include "render/component/patch.h"
#include "render/component/schema.h"

namespace sluice::component {
namespace {

json::object patched(const json::object& given) {
  json::value doc = given.at("doc");
  for (const json::value& each : given.at("patch").as_array()) {
    const json::object& operation = each.as_object();
    PatchOp op{};
    if (!boost::describe::enum_from_string(std::string(operation.at("op").as_string()).c_str(), op)) {
      return {{"error", "no such operation"}};
    }
    const json::value* value = operation.if_contains("value");
    const json::value* path = operation.if_contains("path");
    if (path == nullptr || !path->is_string()) return {{"error", "no path"}};
    auto done = apply_patch(doc, op, path->as_string(), value != nullptr ? *value : json::value());
    if (!done) return {{"error", done.error().message}};
  }
  return {{"doc", doc}};
}

json::object checked(const json::object& given) {
  auto schema = Schema::parse(json::object{{"openAPIV3Schema", given.at("schema")}});
  if (!schema) return {{"error", schema.error().message}};
  const auto faults = schema->check(given.at("value"));
  if (faults.empty()) return {{"valid", true}};
  return {{"valid", false}, {"why", faults.front().path + ": " + faults.front().message}};
}

}  // namespace
}  // namespace sluice::component

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto given = boost::json::parse(line).as_object();
    const auto told = given.contains("patch") ? sluice::component::patched(given) : sluice::component::checked(given);
    std::cout << boost::json::serialize(told) << "\n";
  }
}
