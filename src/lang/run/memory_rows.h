// Rows in memory: what the harness gives to handlers under test. Ids are numbers in order and the time stands still
// until it is set, so that a test sees the same on every run.
#pragma once

#include <map>
#include <utility>

#include "lang/run/rows.h"

namespace sluice::lang {

class MemoryRows final : public Rows {
 public:
  std::optional<json::value> get(std::string_view relation, std::string_view key) const override;
  void put(std::string_view relation, std::string_view key, json::value value) override;
  bool erase(std::string_view relation, std::string_view key) override;
  std::vector<Row> scan(std::string_view relation, std::string_view prefix, std::string_view after,
                        size_t limit) const override;
  std::optional<Row> last(std::string_view relation, std::string_view prefix) const override;
  std::vector<Row> find(std::string_view relation, std::string_view field, const json::value& value) const override;
  std::string new_id() override;
  DateTime now() const override { return now_; }
  Request request() const override { return request_; }

  void set_now(DateTime now) { now_ = now; }
  void set_request(Request request) { request_ = std::move(request); }

  using Relation = std::map<std::string, json::value, std::less<>>;
  using Relations = std::map<std::string, Relation, std::less<>>;
  // All there is, and going back to it: how a step that faults leaves nothing behind.
  const Relations& relations() const { return relations_; }
  void restore(Relations relations) { relations_ = std::move(relations); }

 private:
  const Relation* relation(std::string_view name) const;

  Relations relations_;
  uint64_t ids_ = 0;
  DateTime now_{.ms = 1'893'456'000'000};  // 2030-01-01
  Request request_;
};

}  // namespace sluice::lang
