// store_bench: what a commit costs, beside SQLite without Sluice's layers and beside the disk alone, in the same run.
//
// A step is what the engine writes for one: a journal row, a state row, a look-up and a flow row. Each round of a
// measurement makes a fixed number of commits; rounds of all that are compared are interleaved. "CPU" means processor
// time, checkpoints included, in a folder in /dev/shm, where a sync costs nothing: the work of the store alone.
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "base/real_disk.h"
#include "bench/bench.h"
#include "bench/folder.h"
#include "store/sqlite_store.h"

namespace sluice::bench {
namespace {

constexpr size_t kRecordBytes = 300;
constexpr size_t kValueBytes = 200;
constexpr uint64_t kRows = 10'000;  // of state, written over and over

Ulid id_of(uint64_t n) {
  std::array<uint8_t, Ulid::kRandomBytes> random{};
  for (int i = 0; i < 8; ++i) random[static_cast<size_t>(i)] = static_cast<uint8_t>(n * 0x9e3779b97f4a7c15 >> (8 * i));
  return Ulid::from(static_cast<int64_t>(1'700'000'000'000 + n), random);
}

store::Batch batch_from(uint64_t first, uint64_t steps) {
  store::Batch batch;
  for (uint64_t n = first; n < first + steps; ++n) {
    std::string key = "rollout-" + std::to_string(n * 7919 % kRows);
    batch.journal.push_back({.seq = n, .flow = id_of(n), .record = std::string(kRecordBytes, 'r')});
    batch.state.push_back(
        {.rel = "Rollout", .key = key, .generation = n, .seq = n, .value = std::string(kValueBytes, 'v')});
    batch.lookups.push_back({"Rollout", "deployment", "\"d-" + std::to_string(n % 100) + "\"", key});
    batch.flows.push_back({.id = id_of(n),
                           .head = n,
                           .status = store::FlowStatus::settled_ok,
                           .sync_set = "3f786850e387550fdab836ed7e6dc881de23001b",
                           .settled_at_ms = 1'700'000'000'000,
                           .summary = R"({"action":"Rollout/advance","caller":"ann"})"});
  }
  return batch;
}

class StoreWork {
 public:
  explicit StoreWork(const std::string& path) {
    auto opened = store::SqliteStore::open(disk_, path);
    must(opened.has_value(), "cannot open the store");
    store_ = std::move(*opened);
  }

  void commit(uint64_t steps) {
    must(store_->commit(batch_from(next_, steps)).has_value(), "cannot commit");
    next_ += steps;
  }

  uint64_t syncs() const { return store_->counts().syncs; }

 private:
  RealDisk disk_;
  std::unique_ptr<store::SqliteStore> store_;
  uint64_t next_ = 1;
};

// The same rows in the same tables through SQLite's own file layer, checkpointed by the writer as SQLite does it.
class BareWork {
 public:
  explicit BareWork(const std::string& path) {
    must(sqlite3_open(path.c_str(), &connection_) == SQLITE_OK, "cannot open SQLite");
    run("PRAGMA journal_mode = wal; PRAGMA synchronous = full");
    run(store::current_schema().create.c_str());
    journal_ = prepared("INSERT INTO journal (seq, flow, prev, record) VALUES (?, ?, 0, ?)");
    state_ = prepared("INSERT OR REPLACE INTO state VALUES (?, ?, ?, ?, ?)");
    lookup_ = prepared("INSERT OR IGNORE INTO lookup VALUES (?, ?, ?, ?)");
    flow_ = prepared("INSERT OR REPLACE INTO flow VALUES (?, ?, ?, ?, ?, ?, 0)");
  }
  ~BareWork() {
    for (sqlite3_stmt* statement : {journal_, state_, lookup_, flow_}) sqlite3_finalize(statement);
    sqlite3_close(connection_);
  }
  BareWork(const BareWork&) = delete;
  BareWork& operator=(const BareWork&) = delete;

  void commit(uint64_t steps) {
    store::Batch batch = batch_from(next_, steps);
    next_ += steps;
    run("BEGIN IMMEDIATE");
    for (uint64_t i = 0; i < steps; ++i) {
      const auto& row = batch.journal[i];
      std::string id = to_string(row.flow).substr(0, 16);
      bind(journal_, 1, row.seq);
      bind(journal_, 2, id);
      bind(journal_, 3, row.record);
      step(journal_);
      const auto& change = batch.state[i];
      bind(state_, 1, change.rel);
      bind(state_, 2, change.key);
      bind(state_, 3, change.generation);
      bind(state_, 4, change.seq);
      bind(state_, 5, *change.value);
      step(state_);
      const auto& lookup = batch.lookups[i];
      bind(lookup_, 1, lookup.rel);
      bind(lookup_, 2, lookup.field);
      bind(lookup_, 3, lookup.value);
      bind(lookup_, 4, lookup.key);
      step(lookup_);
      const auto& flow = batch.flows[i];
      bind(flow_, 1, id);
      bind(flow_, 2, flow.head);
      bind(flow_, 3, static_cast<uint64_t>(flow.status));
      bind(flow_, 4, flow.sync_set);
      bind(flow_, 5, static_cast<uint64_t>(flow.settled_at_ms));
      bind(flow_, 6, flow.summary);
      step(flow_);
    }
    run("COMMIT");
  }

 private:
  void run(const char* sql) {
    must(sqlite3_exec(connection_, sql, nullptr, nullptr, nullptr) == SQLITE_OK, sqlite3_errmsg(connection_));
  }
  sqlite3_stmt* prepared(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    must(sqlite3_prepare_v2(connection_, sql, -1, &statement, nullptr) == SQLITE_OK, sqlite3_errmsg(connection_));
    return statement;
  }
  static void bind(sqlite3_stmt* to, int at, uint64_t value) {
    sqlite3_bind_int64(to, at, static_cast<int64_t>(value));
  }
  static void bind(sqlite3_stmt* to, int at, const std::string& value) {
    sqlite3_bind_blob64(to, at, value.data(), value.size(), SQLITE_STATIC);
  }
  void step(sqlite3_stmt* statement) {
    must(sqlite3_step(statement) == SQLITE_DONE, sqlite3_errmsg(connection_));
    sqlite3_reset(statement);
  }

  sqlite3* connection_ = nullptr;
  sqlite3_stmt* journal_ = nullptr;
  sqlite3_stmt* state_ = nullptr;
  sqlite3_stmt* lookup_ = nullptr;
  sqlite3_stmt* flow_ = nullptr;
  uint64_t next_ = 1;
};

// What the disk can do: the bytes of one step written in a file that is there already, and synced.
class RawWork {
 public:
  explicit RawWork(const std::string& path) : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    must(file_ >= 0, "cannot open a file");
    std::string zeros(kFileBytes, '\0');
    must(::pwrite(file_, zeros.data(), zeros.size(), 0) == static_cast<ssize_t>(zeros.size()), "cannot write");
    must(::fsync(file_) == 0, "cannot sync");
  }
  ~RawWork() { ::close(file_); }
  RawWork(const RawWork&) = delete;
  RawWork& operator=(const RawWork&) = delete;

  void commit() {
    std::string bytes(kRecordBytes + kValueBytes + 200, 'r');
    must(::pwrite(file_, bytes.data(), bytes.size(), at_) == static_cast<ssize_t>(bytes.size()), "cannot write");
    must(::fdatasync(file_) == 0, "cannot sync");
    at_ = (at_ + static_cast<off_t>(bytes.size())) % static_cast<off_t>(kFileBytes - bytes.size());
  }

 private:
  static constexpr size_t kFileBytes = 4 << 20;
  int file_;
  off_t at_ = 0;
};

template <typename Work>
std::function<void()> repeat(uint64_t times, Work work) {
  return [times, work] {
    for (uint64_t i = 0; i < times; ++i) work();
  };
}

constexpr uint64_t kSteps = 64;
constexpr uint64_t kLargeCommits = 50;

void large_commits_by_cpu(Report& report) {
  Folder folder("/dev/shm");
  StoreWork store(folder.path("store.db"));
  BareWork bare(folder.path("bare.db"));
  auto times = medians_s(
      {repeat(kLargeCommits, [&] { store.commit(kSteps); }), repeat(kLargeCommits, [&] { bare.commit(kSteps); })},
      kRounds, cpu_s);
  double commits_per_s = kLargeCommits / times[0];
  report.at_least("CPU, commits of 64 steps", commits_per_s, 1000, "/s");
  report.note("CPU, steps in them", commits_per_s * kSteps, "/s");
  report.note("CPU, rows in them", commits_per_s * kSteps * 4, "/s");
  report.note("CPU, steps with bare SQLite", kLargeCommits * kSteps / times[1], "/s");
  report.at_least("CPU, share of bare SQLite", times[1] / times[0], 0.8, "");
}

void large_commits(Report& report, const std::string& in) {
  Folder folder(in);
  StoreWork store(folder.path("store.db"));
  BareWork bare(folder.path("bare.db"));
  auto times = medians_s(
      {repeat(kLargeCommits, [&] { store.commit(kSteps); }), repeat(kLargeCommits, [&] { bare.commit(kSteps); })});
  report.note("disk, steps in commits of 64", kLargeCommits * kSteps / times[0], "/s");
  report.note("disk, steps with bare SQLite", kLargeCommits * kSteps / times[1], "/s");
  report.at_least("disk, share of bare SQLite", times[1] / times[0], 0.8, "");
}

void small_commits(Report& report, const std::string& in) {
  constexpr uint64_t kCommits = 100;
  Folder folder(in);
  StoreWork store(folder.path("store.db"));
  BareWork bare(folder.path("bare.db"));
  RawWork raw(folder.path("raw"));
  store.commit(1);
  uint64_t before = store.syncs();
  auto times = medians_s({repeat(kCommits, [&] { store.commit(1); }), repeat(kCommits, [&] { bare.commit(1); }),
                          repeat(kCommits, [&] { raw.commit(); })});
  double syncs = static_cast<double>(store.syncs() - before) / (kCommits * (kRounds + 1));
  report.note("disk, commits of 1 step", kCommits / times[0], "/s");
  report.note("disk, the same with bare SQLite", kCommits / times[1], "/s");
  report.note("disk, raw write and fdatasync", kCommits / times[2], "/s");
  report.at_least("disk, share of bare SQLite", times[1] / times[0], 0.8, "");
  report.note("disk, share of the raw disk", times[2] / times[0], "");
  report.at_most("syncs a commit, checkpoints included", syncs, 1.05, "");
}

}  // namespace
}  // namespace sluice::bench

int main() {
  sluice::bench::Report report;
  std::string disk = std::filesystem::temp_directory_path().string();
  sluice::bench::large_commits_by_cpu(report);
  sluice::bench::large_commits(report, disk);
  sluice::bench::small_commits(report, disk);
  return report.print();
}
