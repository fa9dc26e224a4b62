// sluice up, from nothing to the first answer: the real program beside this one, in a home that does not exist yet,
// with examples/hello, beside the same program started bare. What is left is what Sluice adds: its control plane, its
// router, a key, a signed bundle, an environment, a deployment, a revision that is healthy, and a split that the router
// obeys. Run from the repository's folder. `up_bench 3` makes three rounds.
#include <cstdlib>

#include "bench/bench.h"
#include "bench/folder.h"
#include "bench/programs.h"

namespace sluice::bench {
namespace {

constexpr const char* kExample = "examples/hello";

// The example by itself, from its start to its first answer.
double bare_s() {
  const uint16_t port = free_port();
  double began_s = wall_s();
  Started app =
      start({"python3", std::string(kExample) + "/app.py"}, {"PORT=" + std::to_string(port), "HELLO_VERSION=1.0.0"});
  said_after(app, "listens on port");
  await_200(port);
  double took_s = wall_s() - began_s;
  ::kill(app.pid, SIGKILL);
  ended(app);
  return took_s;
}

double up_s(const std::string& sluice, const std::string& home) {
  const std::string place = "SLUICE_HOME=" + home;
  double began_s = wall_s();
  Started up = start({sluice, "up", kExample, "--detach"}, {place});
  await_200(static_cast<uint16_t>(std::atoi(said_after(up, "http://127.0.0.1:").c_str())));
  double took_s = wall_s() - began_s;
  must(ended(up) == 0, "sluice up failed");
  must(ended(start({sluice, "stop"}, {place})) == 0, "sluice stop failed");
  return took_s;
}

void up_bench(Report& report, int rounds) {
  DiskFolder folder;
  const std::string sluice = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "sluice";
  std::vector<double> bare, up, beyond;
  for (int round = 0; round <= rounds; ++round) {
    double alone_s = bare_s();
    double whole_s = up_s(sluice, folder.path("h" + std::to_string(round)));
    if (round == 0) continue;  // it warms up
    bare.push_back(alone_s);
    up.push_back(whole_s);
    beyond.push_back(whole_s - alone_s);
  }
  report.note("examples/hello by itself, to its first 200", median_ms(bare), "ms");
  report.note("sluice up in an empty home, to the first 200", median_ms(up), "ms");
  report.at_most("sluice up beyond the app's own start", median_ms(beyond), 300, "ms");
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** words) {
  sluice::bench::Report report;
  sluice::bench::up_bench(report, count > 1 ? std::max(std::atoi(words[1]), 1) : sluice::bench::kRounds);
  return report.print();
}
