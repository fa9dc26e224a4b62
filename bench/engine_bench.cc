// engine_bench: what the engine costs. Each function stands in engine_NAME_bench.cc.
#include <string>

#include "bench/bench.h"

namespace sluice::bench {
void match_bench(Report& report);
void run_bench(Report& report);
void many_bench(Report& report);
void start_bench(const std::string& path);
}  // namespace sluice::bench

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--start") {
    sluice::bench::start_bench(argv[2]);
    return 0;
  }
  sluice::bench::Report report;
  sluice::bench::run_bench(report);
  sluice::bench::many_bench(report);
  sluice::bench::match_bench(report);
  return report.print();
}
