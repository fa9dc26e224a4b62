// Canonical JSON as a filter for test_canonical_json.py: each line of standard input becomes one line of output, or
// "error: …". `canonical_json_tool json` reads JSON texts, `canonical_json_tool doubles` the sixteen hexadecimal digits
// of a double's bits.
#include <bit>
#include <charconv>
#include <cstdint>
#include <iostream>
#include <string>

#include "base/canonical_json.h"
#include "base/json.h"

namespace {

sluice::Result<sluice::json::value> value_of(const std::string& line, bool doubles) {
  if (doubles) {
    uint64_t bits = 0;
    auto done = std::from_chars(line.data(), line.data() + line.size(), bits, 16);
    if (line.size() != 16 || done.ptr != line.data() + line.size()) {
      return sluice::Error{.message = "expected sixteen hexadecimal digits"};
    }
    return sluice::json::value(std::bit_cast<double>(bits));
  }
  auto document = sluice::parse_json(line);
  if (!document) return document.error();
  return std::move(document->root);
}

std::string canonical_line(const std::string& line, bool doubles) {
  auto value = value_of(line, doubles);
  if (!value) return "error: " + to_string(value.error());
  auto text = sluice::canonical(*value);
  return text ? *text : "error: " + to_string(text.error());
}

}  // namespace

int main(int argc, char** argv) {
  std::string mode = argc == 2 ? argv[1] : "";
  if (mode != "json" && mode != "doubles") {
    std::cerr << "usage: canonical_json_tool json|doubles\n";
    return 2;
  }
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) std::cout << canonical_line(line, mode == "doubles") << '\n';
  return std::cout.flush() ? 0 : 1;
}
