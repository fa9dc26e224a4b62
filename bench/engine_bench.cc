// engine_bench: what the engine costs. Each function stands in engine_NAME_bench.cc.
#include "bench/bench.h"

namespace sluice::bench {
void match_bench(Report& report);
void run_bench(Report& report);
}  // namespace sluice::bench

int main() {
  sluice::bench::Report report;
  sluice::bench::run_bench(report);
  sluice::bench::match_bench(report);
  return report.print();
}
