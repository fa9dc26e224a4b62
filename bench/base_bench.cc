// base_bench: what reading and writing documents costs. Each function stands in base_NAME_bench.cc.
#include "bench/bench.h"

namespace sluice::bench {
void json_bench(Report& report);
void yaml_bench(Report& report);
}  // namespace sluice::bench

int main() {
  sluice::bench::Report report;
  sluice::bench::json_bench(report);
  sluice::bench::yaml_bench(report);
  return report.print();
}
