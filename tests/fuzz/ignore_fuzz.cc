// Ignore files and globs: the first line is a path, the rest an ignore file. Any text gives rules or an error with a
// position, and rules give an answer.
// covers: src/bundle/manifest/ignore.cc src/bundle/manifest/glob.cc
#include <cassert>
#include <cstdint>
#include <string_view>

#include "bundle/manifest/glob.h"
#include "bundle/manifest/ignore.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace sluice::bundle;
  std::string_view text(reinterpret_cast<const char*>(bytes), size);
  std::string_view path = text.substr(0, std::min(text.find('\n'), text.size()));
  std::string_view file = text.substr(std::min(path.size() + 1, text.size()));
  auto rules = IgnoreRules::parse(file);
  if (!rules) {
    assert(rules.error().position.has_value());
    return 0;
  }
  auto match = rules->match(path, false);
  auto as_folder = rules->match(path, true);
  // What matches a file matches a folder of that name.
  assert(!match || as_folder);
  std::string_view pattern = file.substr(0, std::min(file.find('\n'), file.size()));
  if (glob_matches(pattern, path) && !path.empty()) assert(glob_covers(pattern, path) || glob_matches(pattern, ""));
  return 0;
}
