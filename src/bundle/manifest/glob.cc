// A star is tried as short as it can be, and made longer when what follows it does not fit. Only the last star needs
// that: whatever an earlier one could take, the last one can take as well. So nothing is tried twice, neither within a
// component nor among components.
#include "bundle/manifest/glob.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/utf8.h"

namespace sluice::bundle {

namespace {

using Components = std::vector<std::string_view>;

Components split(std::string_view path) {
  Components parts;
  while (!path.empty()) {
    size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0) parts.push_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return parts;
}

// One character of the text against the pattern at `at`, which is moved behind what matched. A set that does not end is
// taken as a plain bracket.
bool match_one(std::string_view pattern, size_t& at, std::string_view character) {
  char first = pattern[at];
  if (first == '?') {
    ++at;
    return true;
  }
  if (first == '[') {
    size_t i = at + 1;
    bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
    if (negated) ++i;
    bool found = false;
    char32_t value = first_code_point(character).value;
    for (size_t start = i; i < pattern.size();) {
      if (pattern[i] == ']' && i > start) {
        at = i + 1;
        return found != negated;
      }
      if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
      CodePoint low = first_code_point(pattern.substr(i));
      i += low.bytes;
      CodePoint high = low;
      if (i + 1 < pattern.size() && pattern[i] == '-' && pattern[i + 1] != ']') {
        ++i;
        if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
        high = first_code_point(pattern.substr(i));
        i += high.bytes;
      }
      found = found || (low.value <= value && value <= high.value);
    }
  } else if (first == '\\' && at + 1 < pattern.size()) {
    ++at;
  }
  size_t bytes = first_code_point(pattern.substr(at)).bytes;
  if (pattern.substr(at, bytes) != character) return false;
  at += bytes;
  return true;
}

bool component_matches(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;  // behind the last star
  size_t taken = 0;                      // where what the last star did not take begins
  while (t < text.size()) {
    size_t bytes = first_code_point(text.substr(t)).bytes;
    if (p < pattern.size() && pattern[p] == '*') {
      star = ++p;
      taken = t;
      continue;
    }
    size_t next = p;
    if (p < pattern.size() && match_one(pattern, next, text.substr(t, bytes))) {
      p = next;
      t += bytes;
      continue;
    }
    if (star == std::string_view::npos) return false;
    taken += first_code_point(text.substr(taken)).bytes;
    p = star;
    t = taken;
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool components_match(const Components& pattern, const Components& path, size_t count) {
  size_t p = 0;
  size_t t = 0;
  size_t star = pattern.size() + 1;
  size_t taken = 0;
  while (t < count) {
    if (p < pattern.size() && pattern[p] == "**") {
      star = ++p;
      taken = t;
    } else if (p < pattern.size() && component_matches(pattern[p], path[t])) {
      ++p;
      ++t;
    } else {
      if (star > pattern.size()) return false;
      p = star;
      t = ++taken;
    }
  }
  while (p < pattern.size() && pattern[p] == "**") ++p;
  return p == pattern.size();
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view path) {
  Components parts = split(path);
  return components_match(split(pattern), parts, parts.size());
}

bool glob_covers(std::string_view pattern, std::string_view path) {
  Components globs = split(pattern);
  Components parts = split(path);
  for (size_t count = 1; count <= parts.size(); ++count) {
    if (components_match(globs, parts, count)) return true;
  }
  return false;
}

bool glob_may_match_below(std::string_view pattern, std::string_view folder) {
  Components globs = split(pattern);
  Components parts = split(folder);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i >= globs.size() || globs[i] == "**") return true;
    if (!component_matches(globs[i], parts[i])) return false;
  }
  return true;
}

}  // namespace sluice::bundle
