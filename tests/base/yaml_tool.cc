// YAML as a filter for test_yaml_npm.py: each line of standard input is a JSON string that holds a YAML text, and
// becomes one line of JSON: {"documents": [...], "emitted": "..."}, the documents also written out as YAML again, or
// {"error": "..."}.
#include <boost/json.hpp>
#include <iostream>
#include <string>

#include "base/yaml.h"
#include "base/yaml_emit.h"

namespace {

namespace json = boost::json;

json::value read(const std::string& line) {
  auto documents = sluice::parse_yaml_stream(json::value_to<std::string>(json::parse(line)));
  if (!documents) return {{"error", to_string(documents.error())}};
  json::array trees;
  std::string emitted;
  for (sluice::Document& document : *documents) {
    emitted += "---\n" + sluice::emit_yaml(document.root);
    trees.push_back(std::move(document.root));
  }
  return {{"documents", std::move(trees)}, {"emitted", std::move(emitted)}};
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) std::cout << json::serialize(read(line)) << '\n';
}
