// Durable steps: 64 flows of ten effects at once on PostgreSQL and on SQLite on the same disk, and on DBOS on the same
// server (bench/dbos; skipped with a line that says why where npm cannot install it). And one flow alone of one step,
// beside the rows that it commits, sent bare.
#include <array>
#include <cstdio>
#include <mutex>

#include "bench/bench.h"
#include "bench/engine_chain.h"
#include "bench/scale_server.h"
#include "store/postgres_connection.h"
#include "store/postgres_snapshot.h"
#include "store/postgres_store.h"

namespace sluice::bench {
namespace {

using namespace store;
using postgres::bytes_of;
using postgres::parameter;
using postgres::PostgresConnection;
using postgres::PostgresStore;

constexpr int64_t kFlows = 640;
constexpr int kAtOnce = 64;
constexpr int kStepRounds = 11;

// Keeps what was committed last.
class Seen final : public Store {
 public:
  explicit Seen(std::unique_ptr<Store> below) : below_(std::move(below)) {}

  Result<void> commit(const Batch& batch) override {
    {
      const std::lock_guard guard(mutex_);
      batches_.push_back(batch);
    }
    return below_->commit(batch);
  }
  Result<std::unique_ptr<Snapshot>> read() override { return below_->read(); }
  Result<void> pack(const std::vector<PackedFlow>& flows) override { return below_->pack(flows); }
  Result<void> forget(int64_t before_ms, const std::vector<std::string>& sets) override {
    return below_->forget(before_ms, sets);
  }
  Result<void> back_up(const std::string& path) override { return below_->back_up(path); }
  std::optional<Error> broken() const override { return below_->broken(); }

  std::vector<Batch> taken() {
    const std::lock_guard guard(mutex_);
    return std::exchange(batches_, {});
  }

 private:
  std::unique_ptr<Store> below_;
  std::mutex mutex_;
  std::vector<Batch> batches_;
};

// The rows of a batch as whoever knows nothing of fences and leases would write them: a pipeline of plain statements.
void send_bare(PostgresConnection& to, const Batch& batch, uint64_t& seq) {
  const auto number = [](uint64_t value) { return parameter(static_cast<int64_t>(value)); };
  to.send("BEGIN");
  for (const JournalRow& row : batch.journal) {
    to.send("INSERT INTO sluice.journal (seq, flow, prev, record) VALUES ($1, $2, $3, $4)",
            {number(++seq), parameter(bytes_of(row.flow)), number(row.prev), parameter(row.record)});
  }
  for (const StateChange& row : batch.state) {
    to.send(
        "INSERT INTO sluice.state (rel, key, generation, seq, value) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (rel, "
        "key) "
        "DO UPDATE SET generation = excluded.generation, seq = excluded.seq, value = excluded.value",
        {parameter(row.rel), parameter(row.key), number(row.generation), number(seq),
         parameter(row.value.value_or(""))});
  }
  for (const FlowRow& row : batch.flows) {
    to.send(
        "INSERT INTO sluice.flow (id, head, status, sync_set, settled_at_ms, summary) VALUES ($1, $2, $3, $4, $5, $6) "
        "ON "
        "CONFLICT (id) DO UPDATE SET head = excluded.head",
        {parameter(bytes_of(row.id) + std::to_string(seq)), number(seq), number(static_cast<uint64_t>(row.status)),
         parameter(row.sync_set), parameter(row.settled_at_ms), parameter(row.summary)});
  }
  for (const auto& [name, value] : batch.meta) {
    to.send(
        "INSERT INTO sluice.meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = "
        "excluded.value",
        {parameter(name), parameter(value)});
  }
  to.send("COMMIT");
  must(to.run().has_value(), "a bare transaction failed");
}

void dbos_bench(Report& report, const PostgresServer& server, double steps_s) {
  constexpr const char* kScript = "bench/dbos/chain.mjs";
  if (!std::filesystem::exists(kScript)) {
    std::printf("DBOS: skipped: run the bench in the repository's folder, which has %s\n", kScript);
    return;
  }
  DiskFolder folder;
  FILE* peer = ::popen(("node " + std::string(kScript) + " " + folder.path("dbos") + " " + server.fresh("dbos") + " " +
                        std::to_string(kFlows) + " " + std::to_string(kAtOnce) + " 2>/dev/null")
                           .c_str(),
                       "r");
  must(peer != nullptr, "cannot start a process");
  std::array<char, 256> said{};
  std::array<char, 32> version{};
  double theirs = 0;
  const bool read = std::fgets(said.data(), said.size(), peer) != nullptr &&
                    std::sscanf(said.data(), "%31s %lf", version.data(), &theirs) == 2;
  if (::pclose(peer) != 0 || !read) {
    std::printf("DBOS: skipped: there is no node, npm cannot install it, or it does not reach the server\n");
    return;
  }
  report.note("  DBOS " + std::string(version.data()) + ", 64 flows of 10 steps at once", theirs, "steps/s");
  report.at_least("  steps on PostgreSQL beside DBOS's", steps_s / theirs, 8, "×");
}

}  // namespace

void steps_bench(Report& report, const PostgresServer& server) {
  RealClock clock;
  DiskFolder folder;
  Bench on_postgres(must(PostgresStore::open(clock, server.fresh("steps"))));
  Bench on_sqlite(folder.path("store.db"));
  const auto run = [](Bench& bench) { return [&bench] { bench.flows("Chain/run", kFlows, kAtOnce); }; };
  const auto medians = medians_s({run(on_postgres), run(on_sqlite)}, kStepRounds);
  const double steps = static_cast<double>(kFlows * kChain);
  report.note("durable steps on PostgreSQL, 64 flows of 10 at once", steps / medians[0], "steps/s");
  report.note("  on SQLite", steps / medians[1], "steps/s");
  report.at_least("  PostgreSQL beside SQLite", medians[1] / medians[0], 0.3, "×");
  dbos_bench(report, server, steps / medians[0]);
}

void step_bench(Report& report, const PostgresServer& server) {
  constexpr int kTogether = 100;
  constexpr int64_t kKeys = 10;
  RealClock clock;
  auto seen = std::make_unique<Seen>(must(PostgresStore::open(clock, server.fresh("step"))));
  Seen& commits = *seen;
  Bench bench(std::move(seen));
  // Falls of a chain's end: one flow, one step.
  const auto alone = [&bench](int64_t n) {
    auto outcome = bench.engine->invoke(
        {.action = "Chain/fall", .input = {{"chain", "c" + std::to_string(n % kKeys)}, {"n", kChain}}});
    must(outcome && outcome->end.variant == "ok", "a flow failed");
  };
  for (int64_t n = 0; n < kKeys; ++n) alone(n);
  (void)commits.taken();
  alone(0);
  const std::vector<Batch> rows = commits.taken();
  const std::string bare_address = server.fresh("bare");
  must(PostgresStore::open(clock, bare_address));
  auto bare = must(PostgresConnection::open(bare_address));
  must(bare->execute("SET synchronous_commit = on").has_value(), "the server refuses a setting");
  uint64_t seq = 0;
  const auto medians = medians_s({[&] {
                                    for (int64_t n = 0; n < kTogether; ++n) alone(n);
                                    (void)commits.taken();
                                  },
                                  [&] {
                                    for (int n = 0; n < kTogether; ++n) {
                                      for (const Batch& each : rows) send_bare(*bare, each, seq);
                                    }
                                  }},
                                 kStepRounds);
  report.note("one flow alone of one step", medians[0] / kTogether * 1e3, "ms");
  size_t statements = 0;
  for (const Batch& each : rows) {
    statements += 2 + each.journal.size() + each.state.size() + each.flows.size() + each.meta.size();
  }
  report.note("  statements of its rows, one each", static_cast<double>(statements), "");
  report.note("  its rows in bare pipelined transactions", medians[1] / kTogether * 1e3, "ms");
  report.at_most("  one step beside its rows", medians[0] / medians[1], 1.3, "×");
}

}  // namespace sluice::bench
