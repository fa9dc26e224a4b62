// A backup of a store with 1 GB of rows on PostgreSQL and the way back, beside pg_dump and pg_restore, neither of which
// compresses. Each round writes and reads some gigabytes, so there are few.
#include "base/real_disk.h"
#include "bench/bench.h"
#include "bench/scale_server.h"
#include "crypto/recipient.h"
#include "store/backup/backup.h"
#include "store/postgres_store.h"

namespace sluice::bench {
namespace {

using namespace store;
using postgres::PostgresStore;

constexpr int kBackupRounds = 3;
constexpr uint64_t kRecords = 1'000'000;
constexpr uint64_t kRecordsABatch = 2'000;
constexpr size_t kRecordBytes = 1'000;

// A record as a journal has them: JSON with names that repeat, ids and digests that do not.
std::string record_of(uint64_t seq, Random& random) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text =
      R"({"seq":)" + std::to_string(seq) + R"(,"action":"Env/update","caller":{"name":"service:ci"},"input":)";
  text +=
      R"({"environment":"prod","name":"a name that somebody has given"},"end":{"variant":"ok","fields":{"digest":")";
  std::array<uint8_t, 64> bytes;
  while (text.size() < kRecordBytes) {
    random.fill(bytes);
    for (const uint8_t each : bytes) {
      text += kDigits[each >> 4];
      text += kDigits[each & 0xf];
    }
    text += R"(","generation":12,"environment_id":"production","digest":")";
  }
  return text + "\"}}}";
}

void fill(PostgresStore& store) {
  RealRandom random;
  RealClock clock;
  UlidSource ids(clock, random);
  for (uint64_t seq = 0; seq < kRecords;) {
    Batch batch;
    while (batch.journal.size() < kRecordsABatch) {
      ++seq;
      const Ulid flow = ids.next();
      const std::string number = std::to_string(seq);
      batch.journal.push_back({.seq = seq, .flow = flow, .prev = 0, .record = record_of(seq, random)});
      batch.state.push_back(
          {.rel = "Env", .key = number, .generation = 1, .seq = seq, .value = R"({"name":")" + number + "\"}"});
      batch.flows.push_back({.id = flow, .head = seq, .status = FlowStatus::settled_ok, .sync_set = "s"});
    }
    must(store.commit(batch).has_value(), "cannot fill the store");
  }
}

}  // namespace

void backup_bench(Report& report, const PostgresServer& server) {
  RealClock clock;
  RealDisk disk;
  RealRandom random;
  DiskFolder folder;
  const auto signer = crypto::PrivateKey::generate();
  const auto pair = crypto::RecipientKey::generate();
  auto store = must(PostgresStore::open(clock, server.fresh("large")));
  fill(*store);
  const BackupMaker maker{disk, random, folder.path("home"), signer, pair.recipient()};
  for (const char* each : {"home", "backups"}) must(disk.make_folder(folder.path(each), 0700).has_value(), "no folder");
  int made = 0;
  BackupManifest manifest;
  const auto newest = [&] { return folder.path("backups/" + std::to_string(made)); };
  const auto back_up = [&] {
    std::filesystem::remove_all(newest());
    ++made;
    auto snapshot = must(store->read());
    manifest = must(write_backup(maker, *snapshot, newest(), {.id = std::to_string(made), .at_ms = clock.wall_ms()}));
  };
  const auto dump = [&] {
    server.run("pg_dump", "-n sluice -Fc -Z0 -f " + folder.path("dump") + " large");
    shell("sync " + folder.path("dump"));
  };
  auto times = medians_s({back_up, dump}, kBackupRounds);
  report.note("backup of 1 GB on PostgreSQL", times[0], "s");
  report.note("  its size", static_cast<double>(manifest.rows.bytes) / 1e6, "MB");
  report.at_most("  beside pg_dump -Fc -Z0", times[0] / times[1], 1.2, "×");
  // An empty database each time, which takes a tenth of a second on both sides.
  const auto restore = [&] {
    auto empty = must(PostgresStore::open(clock, server.fresh("restored")));
    must(check_backup(disk, newest(), manifest, &pair));
    must(load_rows(disk, newest(), manifest, *empty).has_value(), "cannot restore");
  };
  const auto restore_dump = [&] {
    (void)server.fresh("dumped");
    server.run("pg_restore", "-d dumped " + folder.path("dump"));
  };
  times = medians_s({restore, restore_dump}, kBackupRounds);
  report.note("restore of it into PostgreSQL, verified", times[0], "s");
  report.at_most("  beside pg_restore", times[0] / times[1], 1.2, "×");
}

}  // namespace sluice::bench
