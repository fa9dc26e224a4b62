// What the engine's tests share: kits made of texts, records made of names, and state in memory.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/rules/guard_set.h"
#include "engine/rules/sync_set.h"
#include "lang/check/testing_kit.h"

namespace sluice::engine {

json::object object(const std::string& text);

std::shared_ptr<const lang::CheckedKit> checked(const std::vector<std::string>& concepts, const std::string& rules,
                                                std::optional<int64_t> cascade_limit = std::nullopt);

std::shared_ptr<const SyncSet> set_of(const std::vector<std::string>& concepts, const std::string& rules);

lang::ActionRef action_named(const lang::Symbols& symbols, const std::string& name);

Ulid test_id(int64_t n);

// A record, for instance ("Order/pay", "{…}", "declined", "{…}"). The outcome is a variant, "engine.fault" or
// "requested". Numbers give the id and the step.
struct RecordOf {
  const SyncSet& set;
  uint64_t next = 1;

  RecordRef operator()(const std::string& action, const std::string& input, const std::string& outcome,
                       const std::string& output = "{}", Causes causes = nullptr);
  RecordRef make(uint64_t id, uint64_t seq, const std::string& action, const std::string& input,
                 const std::string& outcome, const std::string& output, Causes causes);
};

// "Sync(3, 1?)": the sync and the numbers of its records.
std::string text_of(const SyncSet& set, const Match& match);

std::vector<std::string> texts_of(const SyncSet& set, const std::vector<Match>& matches);

// "Concept/action {…}" or "answer 7 => ok {…}", one a follow-up.
std::vector<std::string> texts_of(const SyncSet& set, const std::vector<FollowUp>& follow_ups);

class StateInMemory final : public StateReader {
 public:
  // Rows are given in key order.
  void add(const std::string& relation, const std::string& key, const std::string& value);

  std::vector<Row> by_key(const std::string& relation, std::string_view key) const override;
  std::vector<Row> by_field(const std::string& relation, std::string_view field,
                            const json::value& value) const override;
  std::vector<Row> all(const std::string& relation, size_t limit) const override;
  int64_t now_ms() const override;

  int64_t now = 1'900'000'000'000;
  mutable std::vector<std::string> reads;  // what was asked for, in order

 private:
  template <typename Keep>
  std::vector<Row> filtered(const std::string& relation, const Keep& keep) const;

  std::map<std::string, std::vector<Row>> rows_;
};

}  // namespace sluice::engine
