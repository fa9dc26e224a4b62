// One ordered map a relation.
#include "lang/run/memory_rows.h"

namespace sluice::lang {
namespace {

// The value at a path of names with dots; null pointer if it leads nowhere.
const json::value* at_path(const json::value& value, std::string_view path) {
  const json::value* at = &value;
  while (true) {
    size_t dot = path.find('.');
    if (!at->is_object()) return nullptr;
    at = at->get_object().if_contains(path.substr(0, dot));
    if (!at || dot == std::string_view::npos) return at;
    path.remove_prefix(dot + 1);
  }
}

}  // namespace

const MemoryRows::Relation* MemoryRows::relation(std::string_view name) const {
  auto found = relations_.find(name);
  return found == relations_.end() ? nullptr : &found->second;
}

std::optional<json::value> MemoryRows::get(std::string_view relation_name, std::string_view key) const {
  const Relation* rows = relation(relation_name);
  if (!rows) return std::nullopt;
  auto found = rows->find(key);
  if (found == rows->end()) return std::nullopt;
  return found->second;
}

void MemoryRows::put(std::string_view relation_name, std::string_view key, json::value value) {
  relations_[std::string(relation_name)].insert_or_assign(std::string(key), std::move(value));
}

bool MemoryRows::erase(std::string_view relation_name, std::string_view key) {
  auto rows = relations_.find(relation_name);
  if (rows == relations_.end()) return false;
  auto found = rows->second.find(key);
  if (found == rows->second.end()) return false;
  rows->second.erase(found);
  return true;
}

std::vector<Row> MemoryRows::scan(std::string_view relation_name, std::string_view prefix, std::string_view after,
                                  size_t limit) const {
  std::vector<Row> result;
  const Relation* rows = relation(relation_name);
  if (!rows) return result;
  auto at = after < prefix ? rows->lower_bound(prefix) : rows->upper_bound(after);
  for (; at != rows->end() && at->first.starts_with(prefix) && result.size() < limit; ++at) {
    result.push_back({at->first, at->second});
  }
  return result;
}

std::optional<Row> MemoryRows::last(std::string_view relation_name, std::string_view prefix) const {
  std::vector<Row> all = scan(relation_name, prefix, {}, SIZE_MAX);
  if (all.empty()) return std::nullopt;
  return std::move(all.back());
}

std::vector<Row> MemoryRows::find(std::string_view relation_name, std::string_view field,
                                  const json::value& value) const {
  std::vector<Row> result;
  const Relation* rows = relation(relation_name);
  if (!rows) return result;
  for (const auto& [key, row] : *rows) {
    const json::value* found = at_path(row, field);
    if (found && *found == value) result.push_back({key, row});
  }
  return result;
}

std::string MemoryRows::new_id() {
  std::string digits = std::to_string(++ids_);
  return std::string(26 - digits.size(), '0') + digits;
}

}  // namespace sluice::lang
