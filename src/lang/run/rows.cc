// Keys of child relations, and the read-only view.
#include "lang/run/rows.h"

#include <stdexcept>

namespace sluice::lang {

std::string child_key(std::string_view key, std::string_view element) {
  std::string text;
  text.reserve(key.size() + 1 + element.size());
  text.append(key).push_back('\0');
  return text.append(element);
}

std::optional<json::value> ReadOnlyRows::get(std::string_view relation, std::string_view key) const {
  return rows_.get(relation, key);
}

void ReadOnlyRows::put(std::string_view relation, std::string_view, json::value) {
  throw std::logic_error("a query wrote to " + std::string(relation));
}

bool ReadOnlyRows::erase(std::string_view relation, std::string_view) {
  throw std::logic_error("a query erased from " + std::string(relation));
}

std::vector<Row> ReadOnlyRows::scan(std::string_view relation, std::string_view prefix, std::string_view after,
                                    size_t limit) const {
  return rows_.scan(relation, prefix, after, limit);
}

std::optional<Row> ReadOnlyRows::last(std::string_view relation, std::string_view prefix) const {
  return rows_.last(relation, prefix);
}

std::vector<Row> ReadOnlyRows::find(std::string_view relation, std::string_view field, const json::value& value) const {
  return rows_.find(relation, field, value);
}

std::string ReadOnlyRows::new_id() { throw std::logic_error("a query asked for a new id"); }

}  // namespace sluice::lang
