// A store with many settled flows: how soon the engine is there, and how much memory it takes. The start is measured in
// a process of its own, which has done nothing else.
#include <array>
#include <cstdio>
#include <fstream>

#include "bench/bench.h"
#include "bench/engine_chain.h"

namespace sluice::bench {
namespace {

constexpr int64_t kSettled = 100'000;

double resident_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

}  // namespace

// `engine_bench --start PATH`: prints milliseconds and megabytes.
void start_bench(const std::string& path) {
  double began_s = wall_s();
  Bench bench(path);
  double took_ms = (wall_s() - began_s) * 1000;
  bench.invoke("Chain/drop", 1);
  std::printf("%f %f\n", took_ms, resident_mb());
}

void many_bench(Report& report) {
  DiskFolder folder;
  std::string path = folder.path("store.db");
  {
    Bench bench(path);
    bench.flows("Chain/drop", kSettled, 256);
  }
  std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  FILE* child = ::popen((self + " --start " + path).c_str(), "r");
  must(child != nullptr, "cannot start a process");
  double ms = 0;
  double mb = 0;
  int read = std::fscanf(child, "%lf %lf", &ms, &mb);
  must(::pclose(child) == 0 && read == 2, "the start failed");
  report.at_most("start with 100,000 settled flows", ms, 1000, "ms");
  report.at_most("  memory at its highest", mb, 60, "MB");
}

}  // namespace sluice::bench
