// engine_bench [NAME…]: what the engine costs; all of it, or the parts named. Each function stands in
// engine_NAME_bench.cc.
#include <algorithm>
#include <string>

#include "bench/bench.h"

namespace sluice::bench {
void match_bench(Report& report);
void run_bench(Report& report);
void many_bench(Report& report);
void restate_bench(Report& report);
void start_bench(const std::string& path);
}  // namespace sluice::bench

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--start") {
    sluice::bench::start_bench(argv[2]);
    return 0;
  }
  sluice::bench::Report report;
  auto wanted = [&](const std::string& name) {
    return argc == 1 || std::find(argv + 1, argv + argc, name) != argv + argc;
  };
  if (wanted("run")) sluice::bench::run_bench(report);
  if (wanted("restate")) sluice::bench::restate_bench(report);
  if (wanted("many")) sluice::bench::many_bench(report);
  if (wanted("match")) sluice::bench::match_bench(report);
  return report.print();
}
