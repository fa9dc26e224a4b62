// State as wheres and guards see it: that of the one moment inside the step. The engine's transaction implements it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"

namespace sluice::engine {

// Relations are named as in lang/check/relations.h. Rows come in key order.
class StateReader {
 public:
  StateReader() = default;
  StateReader(const StateReader&) = delete;
  StateReader& operator=(const StateReader&) = delete;
  virtual ~StateReader() = default;

  // `key` of a child row is that of its owner; `value` is the row's object, or `{"value": x}` for elements that are no
  // records.
  struct Row {
    std::string key;
    json::object value;
  };
  // The row with this key (one at most; of a child relation, all elements of that owner).
  virtual std::vector<Row> by_key(const std::string& relation, std::string_view key) const = 0;
  // Rows in which a field that rules look rows up by has this value. Rows in which it does not are allowed, and
  // dropped. An older sync set may ask for a field that the newest kit does not index: then this is a scan.
  virtual std::vector<Row> by_field(const std::string& relation, std::string_view field,
                                    const json::value& value) const = 0;
  // The first `limit` rows.
  virtual std::vector<Row> all(const std::string& relation, size_t limit) const = 0;
  // The recorded time of the step.
  virtual int64_t now_ms() const = 0;
};

}  // namespace sluice::engine
