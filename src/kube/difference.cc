// The longest common subsequence of lines, after what is equal at both ends is put aside.
#include "kube/difference.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/yaml_emit.h"

namespace sluice::kube {
namespace {

constexpr size_t kMostCells = 4'000'000;
constexpr size_t kContext = 3;
constexpr std::string_view kRequestLabel = "lightapi.net/request-id";

using Lines = std::vector<std::string>;

Lines lines_of(const json::value& object) {
  Lines lines;
  if (object.is_null()) return lines;
  const std::string text = emit_yaml(object);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

json::value sorted(const json::value& value) {
  if (const json::array* array = value.if_array()) {
    json::array made;
    for (const json::value& each : *array) made.push_back(sorted(each));
    return made;
  }
  const json::object* object = value.if_object();
  if (object == nullptr) return value;
  std::vector<std::pair<std::string, const json::value*>> members;
  for (const auto& each : *object) members.emplace_back(each.key(), &each.value());
  std::ranges::sort(members, {}, &std::pair<std::string, const json::value*>::first);
  json::object made;
  for (const auto& [key, inner] : members) made.emplace(key, sorted(*inner));
  return made;
}

struct Edit {
  char sign;  // ' ', '-' or '+'
  const std::string* line;
};

std::vector<Edit> edits_of(const Lines& before, const Lines& after) {
  size_t head = 0, tail = 0;
  const size_t shorter = std::min(before.size(), after.size());
  while (head < shorter && before[head] == after[head]) ++head;
  while (tail < shorter - head && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;
  const size_t n = before.size() - head - tail, m = after.size() - head - tail;
  std::vector<Edit> edits;
  for (size_t i = 0; i < head; ++i) edits.push_back({' ', &before[i]});
  size_t i = 0, j = 0;
  if (n > 0 && m > 0 && n * m <= kMostCells) {
    std::vector<uint32_t> common((n + 1) * (m + 1), 0);
    auto cell = [&](size_t a, size_t b) -> uint32_t& { return common[a * (m + 1) + b]; };
    for (size_t a = n; a-- > 0;) {
      for (size_t b = m; b-- > 0;) {
        cell(a, b) =
            before[head + a] == after[head + b] ? cell(a + 1, b + 1) + 1 : std::max(cell(a + 1, b), cell(a, b + 1));
      }
    }
    while (i < n && j < m) {
      if (before[head + i] == after[head + j]) {
        edits.push_back({' ', &before[head + i]});
        ++i, ++j;
      } else if (cell(i + 1, j) >= cell(i, j + 1)) {
        edits.push_back({'-', &before[head + i++]});
      } else {
        edits.push_back({'+', &after[head + j++]});
      }
    }
  }
  for (; i < n; ++i) edits.push_back({'-', &before[head + i]});
  for (; j < m; ++j) edits.push_back({'+', &after[head + j]});
  for (size_t k = before.size() - tail; k < before.size(); ++k) edits.push_back({' ', &before[k]});
  return edits;
}

std::string range_of(size_t begin, size_t count) {
  return std::to_string(count == 0 ? begin : begin + 1) + (count == 1 ? "" : "," + std::to_string(count));
}

}  // namespace

json::value comparable(const json::value& object) {
  if (!object.is_object()) return object;
  json::value made = object;
  json::object& root = made.get_object();
  root.erase("status");
  if (json::value* metadata = root.if_contains("metadata"); metadata != nullptr && metadata->is_object()) {
    json::object& inner = metadata->get_object();
    for (const char* name :
         {"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "selfLink"}) {
      inner.erase(name);
    }
    if (json::value* labels = inner.if_contains("labels"); labels != nullptr && labels->is_object()) {
      labels->get_object().erase(kRequestLabel);
    }
  }
  return sorted(made);
}

const json::value& fields_of(const json::value& object, std::string_view manager, std::string_view operation) {
  static const json::value kNone;
  for (const json::value& each : list_at(object, {"metadata", "managedFields"})) {
    if (text_at(each, {"manager"}) == manager && text_at(each, {"operation"}) == operation &&
        text_at(each, {"subresource"}).empty()) {
      return at(each, {"fieldsV1"});
    }
  }
  return kNone;
}

bool is_same(const json::value& before, const json::value& after, std::string_view manager) {
  return comparable(before) == comparable(after) &&
         sorted(fields_of(before, manager)) == sorted(fields_of(after, manager));
}

std::string unified_difference(const json::value& before, const json::value& after, const std::string& name) {
  const Lines old_lines = lines_of(before), new_lines = lines_of(after);
  const std::vector<Edit> edits = edits_of(old_lines, new_lines);
  std::string hunks;
  size_t old_at = 0, new_at = 0;
  for (size_t i = 0; i < edits.size();) {
    if (edits[i].sign == ' ') {
      ++i, ++old_at, ++new_at;
      continue;
    }
    const size_t back = std::min(i, kContext);
    const size_t begin = i - back;
    size_t end = i, equal = 0;
    for (size_t k = i; k < edits.size() && equal <= 2 * kContext; ++k) {
      equal = edits[k].sign == ' ' ? equal + 1 : 0;
      if (equal == 0) end = k + 1;
    }
    end = std::min(end + kContext, edits.size());
    const size_t old_begin = old_at - back, new_begin = new_at - back;
    size_t old_count = 0, new_count = 0;
    std::string body;
    for (size_t k = begin; k < end; ++k) {
      body += edits[k].sign + *edits[k].line + "\n";
      old_count += edits[k].sign != '+';
      new_count += edits[k].sign != '-';
    }
    hunks += "@@ -" + range_of(old_begin, old_count) + " +" + range_of(new_begin, new_count) + " @@\n" + body;
    old_at = old_begin + old_count;
    new_at = new_begin + new_count;
    i = end;
  }
  if (hunks.empty()) return "";
  return "--- current/" + name + "\n+++ target/" + name + "\n" + hunks;
}

}  // namespace sluice::kube
