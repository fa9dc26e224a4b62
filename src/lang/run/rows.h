// Rows is all that a handler's typed State needs from a store: JSON values by (relation, key), as they stand inside one
// transaction, with the handler's own writes visible. The engine implements it on its transaction, tests in memory
// (lang/run/memory_rows.h). Only generated code and lang/run/state.h use it; handlers see State.
//
// Relations are named as in lang/check/relations.h. A child relation (`D -> list T`) holds its elements under the key
// `child_key(key of D, element)`, so that the elements of one D are the rows with one prefix, in their order. Keys are
// compared byte by byte, are not empty and hold no NUL of their own.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"
#include "lang/run/values.h"

namespace sluice::lang {

struct Row {
  std::string key;
  json::value value;

  bool operator==(const Row&) const = default;
};

class Rows {
 public:
  Rows() = default;
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  virtual ~Rows() = default;

  virtual std::optional<json::value> get(std::string_view relation, std::string_view key) const = 0;
  virtual void put(std::string_view relation, std::string_view key, json::value value) = 0;
  // Whether there was one.
  virtual bool erase(std::string_view relation, std::string_view key) = 0;

  // The first `limit` rows, in key order, whose key begins with `prefix` and is greater than `after`.
  virtual std::vector<Row> scan(std::string_view relation, std::string_view prefix, std::string_view after,
                                size_t limit) const = 0;
  // The last row whose key begins with `prefix`.
  virtual std::optional<Row> last(std::string_view relation, std::string_view prefix) const = 0;
  // The rows, in key order, in which the field (a path with dots leads into records) is there and equals `value`.
  virtual std::vector<Row> find(std::string_view relation, std::string_view field, const json::value& value) const = 0;

  // A new id, larger than those before it; the same again when the step is replayed.
  virtual std::string new_id() = 0;
  // The time of the step.
  virtual DateTime now() const = 0;
  // The invocation that runs, by which an answered action is answered.
  virtual Request request() const = 0;
};

// The key of an element in a child relation; without the element, the prefix that all of them share.
std::string child_key(std::string_view key, std::string_view element = {});

// Reads pass through; a write is a bug and throws std::logic_error. What a query is given.
class ReadOnlyRows final : public Rows {
 public:
  // `rows` must outlive this.
  explicit ReadOnlyRows(const Rows& rows) : rows_(rows) {}

  std::optional<json::value> get(std::string_view relation, std::string_view key) const override;
  void put(std::string_view relation, std::string_view key, json::value value) override;
  bool erase(std::string_view relation, std::string_view key) override;
  std::vector<Row> scan(std::string_view relation, std::string_view prefix, std::string_view after,
                        size_t limit) const override;
  std::optional<Row> last(std::string_view relation, std::string_view prefix) const override;
  std::vector<Row> find(std::string_view relation, std::string_view field, const json::value& value) const override;
  std::string new_id() override;
  DateTime now() const override { return rows_.now(); }
  Request request() const override { return rows_.request(); }

 private:
  const Rows& rows_;
};

}  // namespace sluice::lang
