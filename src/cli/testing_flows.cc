// The flows and the home that the tests of commands share.
#include "cli/testing_flows.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>

#include "base/real_disk.h"
#include "engine/journal_search.h"
#include "engine/retention.h"
#include "store/sqlite_store.h"

namespace sluice::cli {

FlowView undo_view() {
  using engine::Step;
  const json::object item{
      {"of", "Stock/reserve " + to_string(id(7))}, {"action", "Stock/release"}, {"input", json::object{{"item", "p"}}}};
  const json::value work = json::object{{"undo", json::array{item}}};
  std::vector<Step> steps = {
      {.seq = 1,
       .at_ms = kNoon_ms,
       .flow = id(1),
       .invocation = id(1),
       .action = "Stock/add",
       .caller = {.name = "uid:1000"},
       .root = engine::Root{.sync_set = "abc"},
       .end = engine::End{.variant = "ok"},
       .fired = {{.sync = "UndoIt", .matched = {completion(1)}, .rows = 1, .then = {invoke(2, "Flow/undo")}}}},
      {.seq = 2,
       .at_ms = kNoon_ms,
       .flow = id(1),
       .invocation = id(2),
       .kind = Step::Kind::begin,
       .action = "Flow/undo",
       .work = work},
      {.seq = 3,
       .at_ms = kNoon_ms,
       .flow = id(1),
       .invocation = engine::compensations_of(id(2), work)[0].id,
       .action = "Stock/release",
       .end = engine::End{.variant = "ok"}},
      {.seq = 4,
       .at_ms = kNoon_ms,
       .flow = id(1),
       .invocation = id(2),
       .kind = Step::Kind::finish,
       .action = "Flow/undo",
       .end = engine::End{.variant = "ok"},
       .by = "answer"}};
  return {.row = {.id = id(1), .status = store::FlowStatus::settled_ok}, .history = engine::history_of(steps)};
}

FlowView order_view(size_t count) {
  std::vector<engine::Step> steps = order_steps();
  steps.resize(count);
  FlowView flow{.row = {.id = id(1), .status = store::FlowStatus::running}, .history = engine::history_of(steps)};
  flow.follow_ups = {{id(9), "running"}};
  flow.pending = 1;
  if (count == 6) flow.row.status = store::FlowStatus::settled_failed;
  return flow;
}

TestingHome::TestingHome() { std::filesystem::permissions(folder_.path(), std::filesystem::perms::owner_all); }

void TestingHome::write(const std::function<void(store::Store& store)>& write) {
  std::filesystem::create_directories(folder_.path("store"));
  std::filesystem::permissions(folder_.path("store"), std::filesystem::perms::owner_all);
  RealDisk disk;
  auto store = store::SqliteStore::open(disk, folder_.path("store/store.db"));
  ASSERT_TRUE(store) << to_string(store.error());
  write(**store);
}

void TestingHome::write_orders() {
  write([](store::Store& store) {
    engine::TestingJournal journal(store);
    auto steps = order_steps();
    for (size_t i = 0; i < steps.size(); ++i) {
      journal.add(steps[i], i + 1 < steps.size() ? store::FlowStatus::running : store::FlowStatus::settled_failed);
    }
    journal.add({.at_ms = kNoon_ms + 7000,
                 .flow = id(5),
                 .invocation = id(5),
                 .action = "Shop/open",
                 .caller = {.name = "uid:7"},
                 .root = engine::Root{},
                 .end = engine::End{.variant = "ok"}},
                store::FlowStatus::settled_ok);
    journal.add({.at_ms = kNoon_ms + 8000,
                 .kind = engine::Step::Kind::denied,
                 .action = "Shop/open",
                 .caller = {.name = "uid:8"},
                 .count = 3});
  });
}

void TestingHome::pack_all() {
  write([](store::Store& store) {
    EXPECT_TRUE(engine::pack_settled(store, kNoon_ms, {.keep_flows = 0})) << "nothing could be packed";
  });
}

Ran TestingHome::run(const std::vector<std::string>& words, const Terminal& terminal) const {
  return run_line(all_commands(), words, terminal, {.variables = {{"SLUICE_HOME", folder_.path()}}});
}

std::string TestingHome::path(const std::string& name) const { return folder_.path(name); }

}  // namespace sluice::cli
