// Restate beside us: the same flows of ten steps on the same disk, 64 at once, its server and SDK as npm installs them
// (bench/restate). Skipped with a line that says why where that cannot be done.
#include <array>
#include <cstdio>
#include <filesystem>

#include "bench/bench.h"
#include "bench/folder.h"

namespace sluice::bench {

void restate_bench(Report& report) {
  constexpr const char* kScript = "bench/restate/chain.mjs";
  if (!std::filesystem::exists(kScript)) {
    std::printf("Restate: skipped: run the bench in the repository's folder, which has %s\n", kScript);
    return;
  }
  DiskFolder folder;
  FILE* peer = ::popen(("node " + std::string(kScript) + " " + folder.path("restate") + " 640 64 2>&1").c_str(), "r");
  must(peer != nullptr, "cannot start a process");
  std::string said;
  std::array<char, 256> piece{};
  while (std::fgets(piece.data(), piece.size(), peer) != nullptr) said = piece.data();
  int ended = ::pclose(peer);
  std::array<char, 32> version{};
  double steps_s = 0;
  if (ended != 0 || std::sscanf(said.c_str(), "%31s %lf", version.data(), &steps_s) != 2) {
    std::printf("Restate: skipped: %s\n", said.empty() ? "there is no node" : said.c_str());
    return;
  }
  report.note("Restate " + std::string(version.data()) + ", 64 flows of 10 steps at once", steps_s, "steps/s");
}

}  // namespace sluice::bench
