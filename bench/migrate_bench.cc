// Copying rows under triggers, beside the loop that somebody would write by hand, on PostgreSQL (Debian's, with fsync,
// started here) and on SQLite, and what the application gets done meanwhile; what lint takes, beside another linter;
// and what 1,000 migrations take, beside another migrator.
//
//   migrate_bench [many|postgres|sqlite|lints]   all of it, or a part
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/real_disk.h"
#include "bench/bench.h"
#include "bench/folder.h"
#include "migrate/ledger.h"
#include "migrate/lint.h"
#include "migrate/runner.h"

namespace sluice::bench {
namespace {

using namespace migrate;

constexpr int kRows = 1'000'000;
constexpr int kCopies = 3;  // rounds
constexpr int kBusy_s = 8;  // which is less than copying takes
constexpr const char* kLinter = "tests/migrate/node_modules/@squawk-cli/linux-x64/bin/squawk";
constexpr const char* kMigrator = "tests/migrate/node_modules/@dbmate/linux-x64/bin/dbmate";
constexpr int kMany = 1'000;  // migrations
constexpr int kByHand = 2'000;
constexpr const char* kBins = "export PATH=\"$PATH:$(echo /usr/lib/postgresql/*/bin)\"; ";

void shell(const std::string& command) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread
  must(std::system((kBins + command + " >/dev/null 2>&1").c_str()) == 0, "failed: " + command);
}

class Server {
 public:
  Server() : as_(geteuid() == 0 ? "runuser -u postgres -- env " : "env ") {
    if (geteuid() == 0) shell("chown postgres " + folder_.path(""));
    shell(as_ + "PATH=$PATH initdb -D " + data() + " -U postgres -A trust --locale=C.UTF-8");
    shell(as_ + "PATH=$PATH pg_ctl -w -D " + data() + " -l " + folder_.path("log") +
          " -o \"-c listen_addresses='' -c unix_socket_directories=" + folder_.path("") + "\" start");
  }
  ~Server() {
    // NOLINTNEXTLINE(concurrency-mt-unsafe)
    (void)std::system((kBins + as_ + "PATH=$PATH pg_ctl -m immediate -D " + data() + " stop >/dev/null 2>&1").c_str());
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::string address(const std::string& database) const {
    return "host=" + folder_.path("") + " user=postgres dbname=" + database;
  }

 private:
  std::string data() const { return folder_.path("data"); }

  Folder folder_{"/tmp"};
  std::string as_;
};

Migrations migrations_of(Engine engine) {
  return must(read_migrations(
      engine,
      {{"0001_init.sql", "CREATE TABLE users (id integer PRIMARY KEY, first text, last text);"},
       {"0002_name/expand.sql", "ALTER TABLE users ADD COLUMN name text;"},
       {"0002_name/migration.yaml",
        "copy: [{table: users, key: [id], forward: {name: \"first || ' ' || last\"}, back: {first: \"substr(name, "
        "1, 4)\", last: \"substr(name, 6)\"}}]"}}));
}

Runner runner_on(Database& database, const Migrations& migrations, Clock& clock) {
  const Caller caller{.sluice = "bench", .process = "1", .who = "bench", .flow = "bench"};
  return must(Runner::open(database, migrations, caller, clock));
}

void to_end(Database& database, const Migrations& migrations, int64_t number, bool copies) {
  RealClock clock;
  Runner runner = runner_on(database, migrations, clock);
  for (bool done = false; !done;) {
    auto progress = copies ? runner.migrate(number, 5'000) : runner.expand(number);
    if (!progress && progress.error().code == Code::conflict) continue;  // the application holds it
    done = must(std::move(progress)).done;
  }
}

// Old rows, the new column and its triggers; nothing is copied.
void prepare(Database& database, const Migrations& migrations) {
  to_end(database, migrations, 1, false);
  to_end(database, migrations, 1, true);
  must(database
           .run("INSERT INTO users (id, first, last) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                "WHERE i < " +
                std::to_string(kRows) + ") SELECT i, 'Mary', 'Lee ' || i FROM n")
           .has_value(),
       "there are no rows");
  to_end(database, migrations, 2, false);
}

void copy_by_hand(Database& database) {
  for (int at = 0; at < kRows; at += kByHand) {
    const std::string batch = "UPDATE users SET name = first || ' ' || last WHERE id > " + std::to_string(at) +
                              " AND id <= " + std::to_string(at + kByHand) + " AND name IS NULL";
    auto done = database.run(batch);
    while (!done && done.error().code == Code::conflict) done = database.run(batch);  // the application holds it
    must(done.has_value(), "the loop failed");
  }
}

// How many times as fast as by hand. `fresh` makes a database that is prepared.
template <class Fresh>
double times_as_fast(const Migrations& migrations, Fresh fresh) {
  std::unique_ptr<Database> by_hand, copied;
  std::vector<double> ratios;
  for (int round = 0; round < kCopies; ++round) {
    by_hand = fresh(round * 2);
    copied = fresh(round * 2 + 1);
    double start = wall_s();
    copy_by_hand(*by_hand);
    const double hand_s = wall_s() - start;
    start = wall_s();
    to_end(*copied, migrations, 2, true);
    ratios.push_back(hand_s / (wall_s() - start));
  }
  std::ranges::sort(ratios);
  return ratios[kCopies / 2];
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Transactions a second that pgbench gets done while rows are copied. It writes old rows.
double rate_of_pgbench(const Server& server, const std::string& database, const std::function<void()>& copy) {
  const Folder folder("/tmp");
  std::ofstream(folder.path("writes.sql"))
      << "\\set id random(1, " << kRows << ")\nUPDATE users SET last = 'Fox' WHERE id = :id;\n";
  std::thread application([&] {
    shell("(pgbench -n -c 4 -T " + std::to_string(kBusy_s) + " -f " + folder.path("writes.sql") + " '" +
          server.address(database) + "' > " + folder.path("said") + ")");
  });
  copy();
  application.join();
  std::string line;
  for (std::ifstream said(folder.path("said")); std::getline(said, line);) {
    if (line.starts_with("tps = ")) return std::stod(line.substr(6));
  }
  throw std::runtime_error("pgbench has said nothing");
}

// The same on SQLite, by one writer, for as long as copying takes.
double rate_of_writer(const std::string& path, const std::function<void()>& copy) {
  std::atomic<bool> over = false;
  int64_t done = 0;
  std::thread application([&] {
    auto database = must(open_sqlite(path));
    for (uint64_t at = 1; !over; at = at * 48'271 % 2'147'483'647) {
      done += database->run("UPDATE users SET last = 'Fox' WHERE id = " + std::to_string(at % kRows + 1)) ? 1 : 0;
    }
  });
  const double start = wall_s();
  copy();
  over = true;
  application.join();
  return static_cast<double>(done) / (wall_s() - start);
}

void copies_on_postgres(Report& report) {
  const Server server;
  const Migrations on_postgres = migrations_of(Engine::postgres);
  auto main = must(open_postgres(server.address("postgres")));
  must(main->run("CREATE DATABASE base").has_value(), "there is no database");
  prepare(*must(open_postgres(server.address("base"))), on_postgres);
  report.at_least("PostgreSQL: copying, beside a loop by hand",
                  times_as_fast(on_postgres,
                                [&](int number) {
                                  const std::string name = "round" + std::to_string(number);
                                  must(main->run("CREATE DATABASE " + name + " TEMPLATE base").has_value(),
                                       "there is no copy");
                                  must(main->run("CHECKPOINT").has_value(), "there is no checkpoint");
                                  return must(open_postgres(server.address(name)));
                                }),
                  0.8, "×");

  std::vector<double> beside;
  for (int round = 0; round < kCopies; ++round) {
    auto fresh = [&](const std::string& name) {
      must(main->run("CREATE DATABASE " + name + " TEMPLATE base").has_value(), "there is no copy");
      must(main->run("CHECKPOINT").has_value(), "there is no checkpoint");
      return must(open_postgres(server.address(name)));
    };
    const std::string hand = "hand" + std::to_string(round), ours = "ours" + std::to_string(round);
    auto by_hand = fresh(hand), copied = fresh(ours);
    const double beside_hand = rate_of_pgbench(server, hand, [&] { copy_by_hand(*by_hand); });
    beside.push_back(rate_of_pgbench(server, ours, [&] { to_end(*copied, on_postgres, 2, true); }) / beside_hand);
  }
  report.at_least("PostgreSQL: the application's transactions, beside those beside the loop", median(beside), 1.0, "×");
}

void copies_on_sqlite(Report& report) {
  const Migrations on_sqlite = migrations_of(Engine::sqlite);
  const DiskFolder folder;
  prepare(*must(open_sqlite(folder.path("base.db"), true)), on_sqlite);
  report.at_least("SQLite: copying, beside a loop by hand",
                  times_as_fast(on_sqlite,
                                [&](int number) {
                                  const std::string path = folder.path("round" + std::to_string(number) + ".db");
                                  std::filesystem::copy_file(folder.path("base.db"), path);
                                  return must(open_sqlite(path));
                                }),
                  0.8, "×");
  std::vector<double> beside;
  for (int round = 0; round < kCopies; ++round) {
    const std::string hand = folder.path("hand.db"), ours = folder.path("ours.db");
    for (const std::string& path : {hand, ours}) {
      std::filesystem::copy_file(folder.path("base.db"), path, std::filesystem::copy_options::overwrite_existing);
    }
    auto by_hand = must(open_sqlite(hand)), copied = must(open_sqlite(ours));
    const double beside_hand = rate_of_writer(hand, [&] { copy_by_hand(*by_hand); });
    beside.push_back(rate_of_writer(ours, [&] { to_end(*copied, on_sqlite, 2, true); }) / beside_hand);
  }
  report.at_least("SQLite: the application's transactions, beside those beside the loop", median(beside), 1.0, "×");
}

double child_cpu_s() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

void lints(Report& report) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) {
    text += "ALTER TABLE users ADD COLUMN c" + std::to_string(i) + " numeric(10, 2) NOT NULL DEFAULT (1);\n";
  }
  const double ours_s = median_s(
      [&] {
        auto read = must(read_migrations(Engine::postgres, {{"0001_a.sql", text}}));
        must(check(Linter(Engine::postgres).look(read.front())).has_value(), "it found something");
      },
      kRounds, cpu_s);
  report.note("lint of 10,000 statements, CPU", ours_s * 1000, "ms");
  const Folder folder("/tmp");
  std::ofstream(folder.path("0001_a.sql")) << text;
  const double before_s = child_cpu_s();
  shell(std::string(kLinter) + " " + folder.path("0001_a.sql") + " > /dev/null 2>&1; test -x " + kLinter);
  report.at_most("lint, beside squawk (CPU)", ours_s / (child_cpu_s() - before_s), 1.0, "×");
}

// ---- many migrations

Migrations migrations_below(const std::string& folder) {
  RealDisk disk;
  return must(read_migrations(Engine::sqlite, must(read_texts(disk, folder))));
}

// A home in which a bundle has brought all of them: its folder, for the command of somebody who asks how far they are.
std::string home_with(const Folder& folder, const std::string& migrations) {
  const std::string home = folder.path("home"), app = folder.path("app");
  std::filesystem::create_directory(app);
  std::filesystem::copy(migrations, app + "/migrations");
  std::ofstream(app + "/bundle.yaml")
      << "name: many\nversion: \"1\"\nrun: [sh, -c, 'exec python3 -m http.server $PORT --bind 127.0.0.1']\n"
      << "health: {path: /}\nstorage: [{name: data}]\nmigrations: {file: data/app.db}\n";
  shell("SLUICE_HOME=" + home + " build/release/sluice up " + app + " --detach");
  return home;
}

void many(Report& report) {
  const Folder folder("/tmp");
  std::filesystem::create_directory(folder.path("ours"));
  std::filesystem::create_directory(folder.path("theirs"));
  for (int i = 1; i <= kMany; ++i) {
    const std::string number = std::string(4 - std::to_string(i).size(), '0') + std::to_string(i);
    const std::string sql = "CREATE TABLE t" + number + " (id integer PRIMARY KEY, name text);\n";
    std::ofstream(folder.path("ours/" + number + "_t.sql")) << sql;
    std::ofstream(folder.path("theirs/" + number + "_t.sql")) << "-- migrate:up\n" << sql << "-- migrate:down\n";
  }
  const std::string ours = folder.path("ours.db"), theirs = folder.path("theirs.db");
  const std::string dbmate = std::string(kMigrator) + " --url sqlite:" + theirs + " --migrations-dir " +
                             folder.path("theirs") + " --no-dump-schema ";
  double start = wall_s();
  shell(dbmate + "up");
  report.note("1,000 migrations at once: dbmate", wall_s() - start, "s");
  start = wall_s();
  {
    const Migrations migrations = migrations_below(folder.path("ours"));
    auto database = must(open_sqlite(ours, true));
    RealClock clock;
    Runner runner = runner_on(*database, migrations, clock);
    for (int64_t number = 1; number <= kMany; ++number) {
      while (!must(runner.expand(number)).done) {
      }
      while (!must(runner.migrate(number, 5'000)).done) {
      }
    }
  }
  report.note("1,000 migrations at once: ours, each expanded and proven", wall_s() - start, "s");
  const Folder quick("/dev/shm");
  const std::string sluice = "SLUICE_HOME=" + home_with(quick, folder.path("ours")) + " build/release/sluice ";
  const std::vector<double> status_s =
      medians_s({[&] { shell(sluice + "migrate status local many@1"); }, [&] { shell(dbmate + "status"); }});
  shell(sluice + "stop");
  report.note("status of 1,000 migrations", status_s[0] * 1000, "ms");
  report.at_most("status of 1,000 migrations, beside dbmate", status_s[0] / status_s[1], 1.0, "×");
}

}  // namespace
}  // namespace sluice::bench

int main(int argc, char** argv) {
  const std::string part = argc > 1 ? argv[1] : "";
  try {
    sluice::bench::Report report;
    if (part.empty() || part == "many") sluice::bench::many(report);
    if (part.empty() || part == "postgres") sluice::bench::copies_on_postgres(report);
    if (part.empty() || part == "sqlite") sluice::bench::copies_on_sqlite(report);
    if (part.empty() || part == "lints") sluice::bench::lints(report);
    return report.print();
  } catch (const std::exception& failure) {  // by now the server is stopped
    std::fprintf(stderr, "%s\n", failure.what());
    return 2;
  }
}
