// What it costs that the control plane survives the loss of its machine: durable steps on PostgreSQL beside those on
// SQLite and beside DBOS on the same server, one step beside a bare transaction of its rows, the time from the death of
// a leader to the next commit, and backups beside pg_dump.
#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include "bench/bench.h"
#include "bench/scale_server.h"

namespace sluice::bench {

void steps_bench(Report& report, const PostgresServer& server);
void step_bench(Report& report, const PostgresServer& server);
void leader_bench(Report& report, const PostgresServer& server, const std::string& program);
void backup_bench(Report& report, const PostgresServer& server);

}  // namespace sluice::bench

// `scale_bench [PART…]`: steps, step, leader, backup; all of them if none is named.
int main(int argc, char** argv) {
  using namespace sluice::bench;
  const auto asked = [&](std::string_view part) {
    for (int at = 1; at < argc; ++at) {
      if (part == argv[at]) return true;
    }
    return argc == 1;
  };
  Report report;
  try {
    const PostgresServer server;
    if (asked("step")) step_bench(report, server);
    if (asked("steps")) steps_bench(report, server);
    if (asked("leader")) {
      leader_bench(report, server, (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "sluice").string());
    }
    if (asked("backup")) backup_bench(report, server);
  } catch (const std::exception& why) {
    std::fprintf(stderr, "scale: %s\n", why.what());
    return 1;
  }
  return report.print();
}
