// Whatever the bytes, a YAML text is read or refused; what is read can be written, and reads back as the same values.
// covers: src/base/yaml.cc src/base/yaml_scalar.cc src/base/yaml_text.cc src/base/yaml_fault.cc
#include <boost/json.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/yaml.h"
#include "base/yaml_emit.h"

namespace {

size_t count_nodes(const sluice::json::value& node) {
  size_t nodes = 1;
  if (const auto* object = node.if_object()) {
    for (const auto& member : *object) nodes += count_nodes(member.value());
  } else if (const auto* array = node.if_array()) {
    for (const auto& element : *array) nodes += count_nodes(element);
  }
  return nodes;
}

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(bytes), size);
  sluice::YamlLimits limits{.max_depth = 40, .max_nodes = 20'000, .max_bytes = 1 << 20};
  auto documents = sluice::parse_yaml_stream(text, "fuzz.yaml", limits);
  if (!documents) {
    sluice::Code code = documents.error().code;
    require(code == sluice::Code::invalid || code == sluice::Code::limit, "a refusal is of the input");
    require(documents.error().position.has_value(), "a refusal has a position");
    return 0;
  }
  for (const sluice::Document& document : *documents) {
    require(count_nodes(document.root) == document.marks.size(), "a mark for every node");
    auto again = sluice::parse_yaml(sluice::emit_yaml(document.root));
    require(again.has_value(), "what is written can be read");
    require(sluice::json::serialize(again->root) == sluice::json::serialize(document.root), "it reads as the same");
  }
  return 0;
}
