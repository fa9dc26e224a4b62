// JSON: what parses must survive being written and read again, and canonical text must be its own canonical text.
// covers: src/base/json.cc src/base/json_text.cc src/base/canonical_json.cc
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/canonical_json.h"
#include "base/json.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

size_t count_nodes(const sluice::json::value& value) {
  size_t nodes = 1;
  if (const auto* array = value.if_array()) {
    for (const auto& element : *array) nodes += count_nodes(element);
  } else if (const auto* object = value.if_object()) {
    for (const auto& member : *object) nodes += count_nodes(member.value());
  }
  return nodes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  auto document = sluice::parse_json({reinterpret_cast<const char*>(bytes), size}, "x.json");
  if (!document) {
    sluice::Code code = document.error().code;
    require(code == sluice::Code::invalid || code == sluice::Code::limit);
    require(document.error().position.has_value());
    return 0;
  }
  require(document->marks.size() == count_nodes(document->root));
  require(sluice::parse_json(sluice::write(document->root)).value().root == document->root);
  require(sluice::parse_json(sluice::write_pretty(document->root)).value().root == document->root);
  auto canonical = sluice::canonical(document->root);
  if (canonical) {
    auto again = sluice::parse_json(*canonical);
    require(again.has_value());
    require(sluice::canonical(again->root).value() == *canonical);
  }
  return 0;
}
