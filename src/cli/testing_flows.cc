// The flows and the home that the tests of commands share.
#include "cli/testing_flows.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>

#include "base/real_disk.h"
#include "engine/journal/retention.h"
#include "store/sqlite_store.h"

namespace sluice::cli {

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
