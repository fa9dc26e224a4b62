// The console in a real browser, beside an empty page of the same framework (bench/console/measure.mjs), in a home of
// 1,000 deployments (bench/console/home.py). Run from the repository's folder.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "bench/bench.h"
#include "bench/folder.h"

namespace sluice::bench {
namespace {

// "WHAT<tab>VALUE<tab>GOAL<tab>UNIT"; without a goal it is only noted.
void take(const std::string& line, Report& report) {
  std::istringstream fields(line);
  std::string what, value, goal, unit;
  std::getline(fields, what, '\t');
  std::getline(fields, value, '\t');
  std::getline(fields, goal, '\t');
  std::getline(fields, unit);
  const double measured = std::strtod(value.c_str(), nullptr);
  if (goal.empty()) return report.note(what, measured, unit);
  report.at_most(what, measured, std::strtod(goal.c_str(), nullptr), unit);
}

void console_bench(Report& report) {
  DiskFolder folder;
  const auto sluice = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "sluice";
  const std::string command =
      "/usr/bin/python3 bench/console/home.py " + sluice.string() + " " + folder.path("console");
  std::filesystem::create_directories(folder.path("console"));
  FILE* said = ::popen(command.c_str(), "r");
  must(said != nullptr, "cannot start a process");
  std::string line;
  for (int each = std::fgetc(said); each != EOF; each = std::fgetc(said)) {
    if (each != '\n') {
      line += static_cast<char>(each);
      continue;
    }
    take(line, report);
    line.clear();
  }
  must(::pclose(said) == 0, "bench/console/home.py failed");
}

}  // namespace
}  // namespace sluice::bench

int main() {
  sluice::bench::Report report;
  sluice::bench::console_bench(report);
  return report.print();
}
