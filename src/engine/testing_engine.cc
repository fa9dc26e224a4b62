// Kits, records and state for the engine's tests.
#include "engine/testing_engine.h"

#include <gtest/gtest.h>

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace sluice::engine {

json::object object(const std::string& text) { return json::parse(text).as_object(); }

std::shared_ptr<const lang::CheckedKit> checked(const std::vector<std::string>& concepts, const std::string& rules,
                                                std::optional<int64_t> cascade_limit) {
  lang::Kit kit = lang::kit_of(concepts, rules);
  kit.suite.cascade_limit = cascade_limit;
  lang::Checked result = lang::check(std::move(kit));
  if (result.kit) return std::make_shared<const lang::CheckedKit>(std::move(*result.kit));
  std::string text;
  for (const lang::Diagnostic& each : result.diagnostics) {
    if (each.severity == lang::Diagnostic::Severity::error) text += lang::line_of(each) + "\n";
  }
  throw std::runtime_error(text + rules);
}

std::shared_ptr<const SyncSet> set_of(const std::vector<std::string>& concepts, const std::string& rules) {
  auto set = SyncSet::compile(checked(concepts, rules));
  if (!set) throw std::runtime_error(set.error().message);
  return *set;
}

lang::ActionRef action_named(const lang::Symbols& symbols, const std::string& name) {
  return symbols.find_action(name).value();
}

Ulid test_id(int64_t n) { return Ulid::from(n, std::array<uint8_t, Ulid::kRandomBytes>{}); }

RecordRef RecordOf::operator()(const std::string& action, const std::string& input, const std::string& outcome,
                               const std::string& output, Causes causes) {
  return make(next, next, action, input, outcome, output, std::move(causes));
}

RecordRef RecordOf::make(uint64_t id, uint64_t seq, const std::string& action, const std::string& input,
                         const std::string& outcome, const std::string& output, Causes causes) {
  next = std::max(next, std::max(id, seq) + 1);
  const lang::Symbols& symbols = set.kit().symbols();
  Record record{.invocation = test_id(static_cast<int64_t>(id)),
                .action = action_named(symbols, action),
                .input = object(input),
                .output = object(output),
                .seq = seq,
                .causes = std::move(causes)};
  if (outcome == "requested") {
    record.kind = RecordKind::request;
  } else if (outcome.starts_with("engine.")) {
    record.engine = lang::engine_outcome_named(outcome.substr(7));
    EXPECT_TRUE(record.engine);
  } else {
    record.variant = lang::find_variant(symbols.action(record.action), outcome);
    EXPECT_TRUE(record.variant) << outcome;
  }
  return std::make_shared<const Record>(std::move(record));
}

std::string text_of(const SyncSet& set, const Match& match) {
  std::string text = set.name(match.sync) + "(";
  for (const RecordRef& record : match.records) {
    if (text.back() != '(') text += ", ";
    text += std::to_string(record->invocation.wall_ms()) + (record->kind == RecordKind::request ? "?" : "");
  }
  return text + ")";
}

std::vector<std::string> texts_of(const SyncSet& set, const std::vector<Match>& matches) {
  std::vector<std::string> texts;
  for (const Match& match : matches) texts.push_back(text_of(set, match));
  return texts;
}

std::vector<std::string> texts_of(const SyncSet& set, const std::vector<FollowUp>& follow_ups) {
  std::vector<std::string> texts;
  for (const FollowUp& each : follow_ups) {
    std::string text = each.is_answer ? "answer " + std::to_string(each.request.wall_ms()) + " => " + each.variant_name
                                      : set.kit().symbols().name(each.action);
    if (each.unavailable) text += " unavailable " + *each.unavailable;
    texts.push_back(text + " " + json::serialize(each.arguments));
  }
  return texts;
}

void StateInMemory::add(const std::string& relation, const std::string& key, const std::string& value) {
  rows_[relation].push_back({key, object(value)});
}

template <typename Keep>
std::vector<StateReader::Row> StateInMemory::filtered(const std::string& relation, const Keep& keep) const {
  std::vector<Row> found;
  auto rows = rows_.find(relation);
  if (rows == rows_.end()) return found;
  for (const Row& row : rows->second) {
    if (keep(row)) found.push_back(row);
  }
  return found;
}

std::vector<StateReader::Row> StateInMemory::by_key(const std::string& relation, std::string_view key) const {
  reads.push_back(relation + " by key " + std::string(key));
  return filtered(relation, [&](const Row& row) { return row.key == key; });
}

std::vector<StateReader::Row> StateInMemory::by_field(const std::string& relation, std::string_view field,
                                                      const json::value& value) const {
  reads.push_back(relation + " by " + std::string(field) + " " + json::serialize(value));
  return filtered(relation, [&](const Row& row) {
    const json::value* found = row.value.if_contains(field);
    return found != nullptr && *found == value;
  });
}

std::vector<StateReader::Row> StateInMemory::all(const std::string& relation, size_t limit) const {
  reads.push_back(relation + " all");
  auto rows = filtered(relation, [](const Row&) { return true; });
  if (rows.size() > limit) rows.resize(limit);
  return rows;
}

int64_t StateInMemory::now_ms() const { return now; }

}  // namespace sluice::engine
