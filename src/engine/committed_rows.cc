// Reads through a snapshot of the store.
#include "engine/committed_rows.h"

#include <algorithm>
#include <boost/json.hpp>

namespace sluice::engine {

CommittedRows::CommittedRows(std::unique_ptr<store::Snapshot> snapshot, store::BlobStore* blobs,
                             std::shared_ptr<const IndexedFields> indexed, int64_t now_ms)
    : snapshot_(std::move(snapshot)), blobs_(blobs), indexed_(std::move(indexed)), now_ms_(now_ms) {}

json::value CommittedRows::value_of(const store::StateRow& row) const {
  auto value = read_value(row.value, blobs_);
  if (!value) throw UnreadableStore(value.error());
  return *std::move(value);
}

std::optional<json::value> CommittedRows::get(std::string_view relation, std::string_view key) const {
  auto row = snapshot_->get(relation, key);
  if (!row) throw UnreadableStore(row.error());
  if (!*row) return std::nullopt;
  return value_of(**row);
}

void CommittedRows::put(std::string_view, std::string_view, json::value) {
  throw std::logic_error("committed state cannot be written");
}

bool CommittedRows::erase(std::string_view, std::string_view) {
  throw std::logic_error("committed state cannot be written");
}

std::string CommittedRows::new_id() { throw std::logic_error("committed state makes no ids"); }

std::vector<lang::Row> CommittedRows::scan(std::string_view relation, std::string_view prefix, std::string_view after,
                                           size_t limit) const {
  std::vector<lang::Row> rows;
  if (limit == 0) return rows;
  auto read = snapshot_->scan(relation, prefix, [&](const store::StateRow& row) {
    if (row.key > after) rows.push_back({row.key, value_of(row)});
    return rows.size() < limit;
  });
  if (!read) throw UnreadableStore(read.error());
  return rows;
}

std::optional<lang::Row> CommittedRows::last(std::string_view relation, std::string_view prefix) const {
  std::optional<store::StateRow> found;
  auto read = snapshot_->scan(relation, prefix, [&](const store::StateRow& row) {
    found = row;
    return true;
  });
  if (!read) throw UnreadableStore(read.error());
  if (!found) return std::nullopt;
  return lang::Row{found->key, value_of(*found)};
}

std::vector<lang::Row> CommittedRows::find(std::string_view relation, std::string_view field,
                                           const json::value& value) const {
  std::string wanted = *lookup_of(json::object{{"value", value}}, "value");
  std::vector<lang::Row> rows;
  auto fields = indexed_->find(relation);
  if (fields != indexed_->end() && std::ranges::find(fields->second, field) != fields->second.end()) {
    auto read = snapshot_->lookup(relation, field, wanted, [&](const std::string& key) {
      auto row = get(relation, key);
      if (row && lookup_of(*row, field) == wanted) rows.push_back({key, *std::move(row)});
      return true;
    });
    if (!read) throw UnreadableStore(read.error());
    return rows;
  }
  auto read = snapshot_->scan(relation, "", [&](const store::StateRow& row) {
    json::value found = value_of(row);
    if (lookup_of(found, field) == wanted) rows.push_back({row.key, std::move(found)});
    return true;
  });
  if (!read) throw UnreadableStore(read.error());
  return rows;
}

}  // namespace sluice::engine
