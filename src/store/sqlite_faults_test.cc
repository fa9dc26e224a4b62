// The SQLite store on a disk that fails: power cuts and errors at every operation of a script of commits. After each,
// the store must hold exactly the batches that were acknowledged, or those and the one that was under way, whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/testing_faulty_disk.h"
#include "base/testing_volatile_disk.h"
#include "store/memory_store.h"
#include "store/sqlite_store.h"
#include "store/store_conformance.h"

namespace sluice::store {
namespace sqlite_faults_test {

constexpr const char* kPath = "/store.db";
constexpr uint64_t kBatches = 10;
constexpr uint64_t kCheckpointAfter = 4;  // and again after twice as many
constexpr uint64_t kPackAfter = 6;

const SqliteOptions kOptions{.checkpoint_in_background = false};

// Batch n of the script, from 1: rows of every kind, some replaced or erased by later batches, one larger than a page.
Batch batch_of(uint64_t n) {
  Batch batch;
  std::string text = std::to_string(n);
  auto id = static_cast<int64_t>(n);
  batch.journal = {{.seq = 2 * n - 1, .flow = test_id(id), .prev = 0, .record = "first of " + text},
                   {.seq = 2 * n, .flow = test_id(id), .prev = 2 * n - 1, .record = std::string(300, 'r')}};
  batch.state = {
      {.rel = "A", .key = "total", .generation = n, .seq = 2 * n, .value = text},
      {.rel = "A", .key = text, .generation = 1, .seq = 2 * n, .value = std::string(n == 3 ? 9000 : 60, 'v')},
      {.rel = "A", .key = std::to_string(n - 2), .value = std::nullopt}};
  batch.lookups = {{"A", "f", "1", text}, {"A", "f", "1", std::to_string(n - 1), false}};
  batch.flows = {{.id = test_id(id), .head = 2 * n, .status = FlowStatus::settled_ok, .sync_set = "s" + text}};
  batch.timers = {{.invocation = test_id(id), .flow = test_id(id), .due_ms = 100 - id}};
  batch.timers_done = {test_id(id - 2)};
  batch.keys = {{.caller = "ann", .key = text, .flow = test_id(id), .expires_ms = id}};
  batch.sync_sets = {{"s" + text, "content"}};
  batch.meta = {{"last", text}};
  return batch;
}

PackedFlow packed_flow() { return {.flow = test_id(2), .blob = "packed", .record_hashes = {{3, "h3"}, {4, "h4"}}}; }

// All that a snapshot holds of what the script writes, as text.
Result<std::string> contents(Store& store) {
  auto snapshot = store.read();
  if (!snapshot) return snapshot.error();
  Snapshot& s = **snapshot;
  std::string out = "at " + std::to_string(s.position()) + "\n";
  auto line = [&](std::initializer_list<std::string> parts) {
    for (const std::string& part : parts) out += part + "|";
    out += "\n";
    return true;
  };
  std::vector<Result<void>> done;
  done.push_back(s.journal_from(0, [&](const JournalRow& row) {
    return line({std::to_string(row.seq), to_string(row.flow), std::to_string(row.prev), row.record, row.packed_hash});
  }));
  done.push_back(s.scan("A", "", [&](const StateRow& row) {
    return line({row.key, std::to_string(row.generation), std::to_string(row.seq), row.value});
  }));
  done.push_back(s.lookup("A", "f", "1", [&](const std::string& key) { return line({"found", key}); }));
  done.push_back(s.flows_oldest_first({}, [&](const FlowRow& flow) {
    return line({to_string(flow.id), std::to_string(flow.head), flow.sync_set, flow.packed ? "packed" : ""});
  }));
  done.push_back(s.timers([&](const TimerRow& timer) { return line({to_string(timer.invocation)}); }));
  for (const Result<void>& reading : done) {
    if (!reading) return reading.error();
  }
  for (uint64_t n = 1; n <= kBatches; ++n) {
    auto key = s.key("ann", std::to_string(n));
    auto set = s.sync_set("s" + std::to_string(n));
    if (!key) return key.error();
    if (!set) return set.error();
    line({*key ? "key" : "no key", set->value_or("no set")});
  }
  auto last = s.meta("last");
  auto blob = s.packed(test_id(2));
  if (!last) return last.error();
  if (!blob) return blob.error();
  line({last->value_or("none"), blob->value_or("none")});
  return out;
}

// contents() after each number of steps of the script, of which one is the packing.
const std::vector<std::string>& expected_contents() {
  static const std::vector<std::string> kExpected = [] {
    std::vector<std::string> all;
    MemoryStore model;
    all.push_back(*contents(model));
    for (uint64_t n = 1; n <= kBatches; ++n) {
      EXPECT_TRUE(model.commit(batch_of(n)));
      all.push_back(*contents(model));
      if (n != kPackAfter) continue;
      EXPECT_TRUE(model.pack({packed_flow()}));
      all.push_back(*contents(model));
    }
    return all;
  }();
  return kExpected;
}

// Step k of the script, from 0: a batch, or the packing. A checkpoint may come before it; whether that works changes
// nothing, but that a failed sync in it breaks the store.
Result<void> run_step(SqliteStore& store, uint64_t k) {
  bool packs = k == kPackAfter;
  uint64_t n = k < kPackAfter ? k + 1 : k;
  if (!packs && n > 1 && (n - 1) % kCheckpointAfter == 0) (void)store.checkpoint();
  return packs ? store.pack({packed_flow()}) : store.commit(batch_of(n));
}

constexpr uint64_t kSteps = kBatches + 1;

// Runs the script until something fails; says how many steps were acknowledged.
uint64_t run_until_failure(Disk& disk) {
  auto store = SqliteStore::open(disk, kPath, kOptions);
  if (!store) return 0;
  uint64_t acknowledged = 0;
  while (acknowledged < kSteps && run_step(**store, acknowledged)) ++acknowledged;
  return acknowledged;
}

void expect_acknowledged(Disk& disk, uint64_t acknowledged) {
  auto store = SqliteStore::open(disk, kPath, kOptions);
  ASSERT_TRUE(store) << store.error().message;
  auto found = contents(**store);
  ASSERT_TRUE(found) << found.error().message;
  const auto& expected = expected_contents();
  bool is_acknowledged = *found == expected[acknowledged];
  bool is_one_more = acknowledged < kSteps && *found == expected[acknowledged + 1];
  EXPECT_TRUE(is_acknowledged || is_one_more) << "acknowledged: " << acknowledged << ", found:\n" << *found;
  // And it goes on from there.
  for (uint64_t k = is_acknowledged ? acknowledged : acknowledged + 1; k < kSteps; ++k) {
    auto done = run_step(**store, k);
    ASSERT_TRUE(done) << done.error().message;
  }
  EXPECT_EQ(*contents(**store), expected.back());
}

// What the script's operations are, so that no kind is left untried.
std::set<DiskOperation> kinds_of(const std::map<DiskOperation, uint64_t>& counts) {
  std::set<DiskOperation> kinds;
  for (const auto& [kind, count] : counts) kinds.insert(kind);
  return kinds;
}

TEST(SqliteFaults, TheScriptReachesEveryKindOfOperation) {
  VolatileDisk under;
  FaultyDisk disk(under);
  EXPECT_EQ(run_until_failure(disk), kSteps);
  EXPECT_THAT(
      kinds_of(disk.operations_by_kind()),
      testing::ElementsAre(DiskOperation::open, DiskOperation::read, DiskOperation::write, DiskOperation::truncate,
                           DiskOperation::sync, DiskOperation::stat, DiskOperation::lock, DiskOperation::rename,
                           DiskOperation::remove, DiskOperation::sync_folder));
  auto counts = disk.operations_by_kind();
  std::string summary;
  for (const auto& [kind, count] : counts) {
    summary += std::string(operation_name(kind)) + " " + std::to_string(count) + ", ";
  }
  RecordProperty("operations", summary);
  expect_acknowledged(under, kSteps);
}

TEST(SqliteFaults, APowerCutAtAnyOperationLosesNothingAcknowledged) {
  std::set<DiskOperation> struck;
  uint64_t n = 1;
  for (;; ++n) {
    SCOPED_TRACE("operation " + std::to_string(n));
    VolatileDisk under;
    FaultyDisk disk(under, {.kind = FaultKind::stop, .at = n});
    uint64_t acknowledged = run_until_failure(disk);
    if (!disk.struck()) break;
    struck.insert(*disk.struck());
    under.crash();
    expect_acknowledged(under, acknowledged);
    if (HasFatalFailure() || HasNonfatalFailure()) break;
  }
  EXPECT_GT(n, 200u);
  EXPECT_EQ(struck.size(), 10u);
}

TEST(SqliteFaults, APowerCutThatTearsAndReordersUnsyncedWritesLosesNothingAcknowledged) {
  uint64_t n = 1;
  for (;; ++n) {
    SCOPED_TRACE("operation " + std::to_string(n));
    VolatileDisk under;
    FaultyDisk disk(under, {.kind = FaultKind::stop, .at = n});
    uint64_t acknowledged = run_until_failure(disk);
    if (!disk.struck()) break;
    SeededRandom random(n);
    under.crash_keeping_some(random);
    expect_acknowledged(under, acknowledged);
    if (HasFatalFailure() || HasNonfatalFailure()) break;
  }
  EXPECT_GT(n, 200u);
}

// contents(), and once more if the fault strikes it.
std::string read_again(Store& store, std::optional<Error>& first) {
  auto found = contents(store);
  if (!found && !first) first = found.error();
  if (!found) found = contents(store);
  return found ? *found : found.error().message;
}

// Runs the script on a disk with one fault, and each step that fails again: a failed step has changed nothing and
// works when the disk does. Returns what the store said, if anything failed.
std::optional<Error> run_with_one_fault(FaultyDisk& disk, VolatileDisk& under) {
  std::optional<Error> first;
  auto store = SqliteStore::open(disk, kPath, kOptions);
  if (!store) {
    first = store.error();
    store = SqliteStore::open(disk, kPath, kOptions);
    EXPECT_TRUE(store) << "opened again: " << store.error().message;
    if (!store) return first;
  }
  for (uint64_t k = 0; k < kSteps; ++k) {
    auto done = run_step(**store, k);
    if (!done && !first) first = done.error();
    if ((*store)->broken()) {
      EXPECT_FALSE(done);
      EXPECT_EQ(done.error(), *(*store)->broken());
      EXPECT_EQ((*store)->commit({}).error(), *(*store)->broken());
      EXPECT_EQ((*store)->read().error(), *(*store)->broken());
      EXPECT_EQ((*store)->pack({}).error(), *(*store)->broken());
      EXPECT_EQ((*store)->forget(0, {}).error(), *(*store)->broken());
      EXPECT_EQ((*store)->back_up("/copy").error(), *(*store)->broken());
      EXPECT_EQ((*store)->checkpoint().error(), *(*store)->broken());
      (*store).reset();
      expect_acknowledged(under, k);
      return first;
    }
    if (!done) {
      EXPECT_EQ(read_again(**store, first), expected_contents()[k]) << "a failed step has changed something";
      done = run_step(**store, k);
      EXPECT_TRUE(done) << "done again: " << done.error().message;
    }
    if (!done) return first;
    EXPECT_EQ(read_again(**store, first), expected_contents()[k + 1]);
  }
  (*store).reset();
  under.crash();
  expect_acknowledged(under, kSteps);
  return first;
}

TEST(SqliteFaults, AnErrorAtAnyOperationChangesNothing) {
  std::set<DiskOperation> reported;
  uint64_t n = 1;
  for (;; ++n) {
    SCOPED_TRACE("operation " + std::to_string(n));
    VolatileDisk under;
    FaultyDisk disk(under, {.kind = n % 2 == 0 ? FaultKind::tear : FaultKind::fail, .at = n});
    auto error = run_with_one_fault(disk, under);
    if (!disk.struck()) break;
    if (error) reported.insert(*disk.struck());
    if (HasFatalFailure() || HasNonfatalFailure()) break;
  }
  EXPECT_GT(n, 200u);
  for (auto kind : {DiskOperation::open, DiskOperation::read, DiskOperation::write, DiskOperation::sync,
                    DiskOperation::rename, DiskOperation::lock, DiskOperation::sync_folder}) {
    EXPECT_TRUE(reported.contains(kind)) << operation_name(kind);
  }
}

TEST(SqliteFaults, AFullDiskFailsACommitCleanlyAndPasses) {
  uint64_t full = 0;
  for (uint64_t n = 1;; ++n) {
    SCOPED_TRACE("write " + std::to_string(n));
    VolatileDisk under;
    FaultyDisk disk(under, {.kind = FaultKind::fail, .at = n, .only = DiskOperation::write, .code = Code::limit});
    auto error = run_with_one_fault(disk, under);
    if (!disk.struck()) break;
    if (error) {
      ++full;
      EXPECT_EQ(error->code, Code::limit);
      EXPECT_THAT(error->message, testing::StartsWith("the disk is full: cannot write /store.db"));
      EXPECT_EQ(error->next, "make room; what was committed is kept, and work goes on when there is room again");
    }
    if (HasFatalFailure() || HasNonfatalFailure()) break;
  }
  EXPECT_GT(full, 10u);
}

TEST(SqliteFaults, AFailedSyncOfACommitIsFatal) {
  VolatileDisk under;
  FaultyDisk counting(under);
  { ASSERT_TRUE(SqliteStore::open(counting, kPath, kOptions)); }

  FaultyDisk failing(under, {.kind = FaultKind::fail, .at = 2, .only = DiskOperation::sync});
  auto store = SqliteStore::open(failing, kPath, kOptions);
  ASSERT_TRUE(store) << store.error().message;
  auto first = (*store)->commit(batch_of(1));
  ASSERT_FALSE(first);
  ASSERT_TRUE((*store)->broken());
  EXPECT_EQ(first.error(), *(*store)->broken());
  EXPECT_EQ(first.error().code, Code::failed);
  EXPECT_THAT(first.error().message, testing::HasSubstr("/store.db-wal"));
  EXPECT_THAT(first.error().message,
              testing::EndsWith("; what is on the disk is not known any more, so nothing further is done"));
  EXPECT_EQ(first.error().next,
            "stop this process, look after the disk and start again: what was acknowledged is kept");
  uint64_t operations = failing.operations();
  EXPECT_FALSE((*store)->commit(batch_of(1)));
  EXPECT_FALSE((*store)->read());
  (*store).reset();
  EXPECT_EQ(failing.operations(), operations) << "a broken store touched the disk";
}

}  // namespace sqlite_faults_test
}  // namespace sluice::store
