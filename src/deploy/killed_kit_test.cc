// The kit on a store in a file, in a process that ends before each of its operations on the disk, as if it was killed
// there: what was answered is there, what was not is whole or not at all, and each change has its record.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/json.hpp>
#include <filesystem>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "base/real_disk.h"
#include "base/testing_faulty_disk.h"
#include "base/testing_folder.h"
#include "base/ulid.h"
#include "deploy/deploy_kit.h"
#include "deployment.gen.h"
#include "engine/engine.h"
#include "engine/journal/record_reader.h"
#include "engine/journal/step.h"
#include "env.gen.h"
#include "lang/check/check.h"
#include "revision.gen.h"
#include "store/sqlite_store.h"

namespace sluice::deploy {
namespace killed_kit_test {

constexpr const char* kShop = "01J0000000000000000000000D";
constexpr const char* kOne = "01J0000000000000000000000A";
constexpr const char* kTwo = "01J0000000000000000000000B";

std::shared_ptr<const lang::CheckedKit> checked_kit() {
  static const auto kKit = [] {
    lang::Checked checked = lang::check(
        lang::load_kit(std::string(kKitFolder), [](const std::string& path) { return read_kit_file(path); }));
    return std::make_shared<const lang::CheckedKit>(*std::move(checked.kit));
  }();
  return kKit;
}

void put(store::Batch& batch, const std::string& relation, const std::string& key, const json::value& value) {
  batch.state.push_back({relation, key, 1, 0, write(value)});
}

// Two ready revisions of one deployment.
void begin_store(const std::string& path) {
  RealDisk disk;
  auto store = store::SqliteStore::open(disk, path);
  ASSERT_TRUE(store) << store.error().message;
  store::Batch batch;
  env::EnvRecord environment{.name = "local", .generation = 1};
  put(batch, "Env", "local", to_json(environment));
  put(batch, "Deployment", kShop,
      to_json(
          deployment::DeploymentRecord{.environment = "local", .bundle = "shop", .customer = "acme", .generation = 1}));
  for (const char* id : {kOne, kTwo}) {
    put(batch, "Revision", id,
        to_json(revision::RevisionRecord{.deployment = kShop,
                                         .environment = "local",
                                         .bundle = "shop",
                                         .generation = 1,
                                         .lifecycle = revision::RevisionLifecycle::ready}));
  }
  ASSERT_TRUE((*store)->commit(batch));
}

// Shifts all traffic so many times, and says after each how many were answered. Ends at the fatal operation.
[[noreturn]] void run_child(const std::string& path, uint64_t fatal, int shifts, int answers) {
  RealDisk real;
  std::atomic<uint64_t> operations = 0;
  FaultyDisk disk(real, {.before = [&](DiskOperation) {
                    if (++operations == fatal) std::_Exit(9);
                  }});
  auto store = store::SqliteStore::open(disk, path);
  if (!store) std::_Exit(2);
  RealClock clock;
  RealRandom random;
  lang::Tools tools;
  auto engine = engine::Engine::start({.store = store->get(),
                                       .clock = &clock,
                                       .random = &random,
                                       .tools = &tools,
                                       .concepts = concepts(),
                                       .fatal = [](const std::string&) { std::_Exit(3); }},
                                      checked_kit());
  if (!engine) std::_Exit(4);
  for (int i = 0; i < shifts; ++i) {
    json::array entries{json::object{{"revision", i % 2 == 0 ? kTwo : kOne}, {"weightBps", 10'000}},
                        json::object{{"revision", i % 2 == 0 ? kOne : kTwo}, {"weightBps", 0}}};
    auto outcome = (*engine)->invoke({.action = "Traffic/set",
                                      .input = {{"deployment", kShop}, {"entries", std::move(entries)}},
                                      .caller = {.name = "test"}});
    if (!outcome || outcome->end.variant != "ok") std::_Exit(5);
    const char byte = 'x';
    if (::write(answers, &byte, 1) != 1) std::_Exit(6);
  }
  std::_Exit(operations < fatal ? 0 : 7);
}

struct ChildEnd {
  int exit = 0;
  int answered = 0;
};
ChildEnd run(const std::string& path, uint64_t fatal, int shifts) {
  (void)checked_kit();  // once for all of them
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) run_child(path, fatal, shifts, ends[1]);
  ::close(ends[1]);
  ChildEnd end;
  char byte = 0;
  while (::read(ends[0], &byte, 1) == 1) ++end.answered;
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  end.exit = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return end;
}

struct Kept {
  int64_t generation = 0;
  int64_t records = 0;
  int64_t weights = 0;
};
Kept look(const std::string& path) {
  Kept kept;
  RealDisk disk;
  auto store = store::SqliteStore::open(disk, path);
  EXPECT_TRUE(store) << store.error().message;
  if (!store) return kept;
  auto snapshot = (*store)->read();
  EXPECT_TRUE(snapshot);
  if (auto row = (*snapshot)->get("Traffic", kShop); row && *row) {
    kept.generation = parse_json((*row)->value).value().root.at("generation").as_int64();
  }
  auto rows = (*snapshot)->scan("Traffic.entries", lang::child_key(kShop), [&](const store::StateRow& row) {
    kept.weights += parse_json(row.value).value().root.at("weightBps").as_int64();
    return true;
  });
  EXPECT_TRUE(rows);
  engine::RecordReader records(**snapshot);
  auto read = (*snapshot)->journal_from(1, [&](const store::JournalRow& row) {
    auto record = records.read(row);
    auto step = record ? engine::read_step(*record) : Result<engine::Step>(record.error());
    EXPECT_TRUE(step);
    if (step && step->action == "Traffic/set" && step->end && step->end->variant == "ok") ++kept.records;
    return true;
  });
  EXPECT_TRUE(read);
  return kept;
}

TEST(KilledKit, Greentic16ASplitIsTheOldOneOrTheNewOneAtEachOperation) {
  TestingFolder folder;
  begin_store(folder.path("store.db"));
  int killed = 0;
  for (uint64_t n = 1;; ++n) {
    SCOPED_TRACE("operation " + std::to_string(n));
    const std::string copy = folder.path("copy");
    std::filesystem::remove_all(copy);
    std::filesystem::create_directory(copy);
    for (const auto& each : std::filesystem::directory_iterator(folder.path())) {
      if (each.is_regular_file()) std::filesystem::copy(each.path(), copy);
    }
    ChildEnd end = run(copy + "/store.db", n, 1);
    ASSERT_TRUE(end.exit == 9 || end.exit == 0) << end.exit;
    Kept kept = look(copy + "/store.db");
    ASSERT_GE(kept.generation, end.answered);
    ASSERT_LE(kept.generation, 1);
    ASSERT_EQ(kept.weights, kept.generation == 0 ? 0 : 10'000);
    ASSERT_EQ(kept.records, kept.generation) << "each change has its record, and there is no other";
    if (end.exit == 0) break;
    ++killed;
  }
  EXPECT_GT(killed, 20);
}

TEST(KilledKit, Greentic18AfterAThousandChangesAndManyDeathsEachChangeHasItsRecord) {
  TestingFolder folder;
  const std::string path = folder.path("store.db");
  begin_store(path);
  SeededRandom random(7);
  int64_t answered = 0, asked = 0;
  int deaths = 0;
  while (asked < 1000) {
    // Long enough a life for some changes, seldom for all.
    ChildEnd end = run(path, 40 + random.below(400), 60);
    ASSERT_TRUE(end.exit == 9 || end.exit == 0) << end.exit;
    deaths += end.exit == 9 ? 1 : 0;
    answered += end.answered;
    asked += std::min(end.answered + 1, 60);
    Kept kept = look(path);
    ASSERT_GE(kept.generation, answered) << "what was answered is there";
    ASSERT_LE(kept.generation, asked);
    ASSERT_EQ(kept.records, kept.generation);
    ASSERT_EQ(kept.weights, kept.generation == 0 ? 0 : 10'000);
  }
  EXPECT_GT(deaths, 5);
}

}  // namespace killed_kit_test
}  // namespace sluice::deploy
