// Plans: a manifest of 33,334 components to a graph of 100,002 nodes, a tenth of it to show that it is linear, one of
// 1,000 components of which nothing changes, and what `ninja -n` takes for the same graph; then plans in the engine
// (plan_run_bench.cc).
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "bench/bench.h"
#include "bench/plan_run_bench.h"
#include "plan/planner.h"

namespace sluice::plan {
namespace {

struct Case {
  AppManifest manifest;
  Document document;
  Situation situation;
};

// Each component needs up to two before it.
Case made(size_t components, bool unchanged) {
  Case one;
  one.manifest.app = {"bench", "1"};
  one.situation = {.environment = "local", .packs = {{"deployer", "sluice.deployer.local-process@1.0.0"}}};
  for (size_t i = 0; i < components; ++i) {
    const std::string name = "c" + std::to_string(i);
    Component& component = one.manifest.components[name];
    component.folder = "./" + name;
    component.routes = {{.host = std::nullopt, .path = "/" + name}};
    for (size_t back : {size_t{7}, size_t{31}}) {
      if (i >= back) component.needs.push_back("c" + std::to_string(i - back));
    }
    one.situation.offered[name] = {.bundle = name, .version = "1", .tree = "sha256:" + name};
    if (!unchanged) continue;
    one.situation.running[name] = {
        .deployment = name, .revision = name, .version = "1", .tree = "sha256:" + name, .path_prefixes = {"/" + name}};
  }
  return one;
}

Graph planned(const Case& one) { return make_plan(one.manifest, one.document, one.situation).graph; }

double ninja_s(const Graph& graph) {
  const auto folder = std::filesystem::temp_directory_path() / ("plan-bench-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  {
    std::ofstream file(folder / "build.ninja");
    file << "rule r\n  command = true\n";
    for (uint32_t i = 0; i < graph.size(); ++i) {
      file << "build n" << i << ": r";
      for (uint32_t each : graph.before_of(i)) file << " n" << each;
      file << "\n";
    }
  }
  const std::string command = "ninja -n --quiet -C " + folder.string() + " > /dev/null 2>&1";
  const double took = bench::median_s([&] { bench::keep(std::system(command.c_str())); }, 3);  // NOLINT
  std::filesystem::remove_all(folder);
  return took;
}

}  // namespace
}  // namespace sluice::plan

int main() {
  using namespace sluice;
  const plan::Case large = plan::made(33'334, false), small = plan::made(3'334, false), same = plan::made(1'000, true);
  const auto times =
      bench::medians_s({[&] { bench::keep(plan::planned(large)); }, [&] { bench::keep(plan::planned(small)); },
                        [&] { bench::keep(plan::planned(same)); }},
                       bench::kRounds, bench::cpu_s);
  const plan::Graph graph = plan::planned(large);
  const double bytes = static_cast<double>(graph.nodes.capacity() * sizeof(plan::Graph::Node) +
                                           (graph.after.capacity() + graph.before.capacity() +
                                            graph.first_after.capacity() + graph.first_before.capacity()) *
                                               sizeof(uint32_t) +
                                           graph.targets.capacity() * sizeof(std::string));
  const double text =
      bench::median_s([&] { bench::keep(plan::read_graph(plan::to_json(graph))); }, bench::kRounds, bench::cpu_s);
  bench::Report report;
  report.at_most(
      std::to_string(graph.size()) + " nodes, " + std::to_string(graph.edges()) + " edges, planned and checked",
      times[0] * 1e3, 1'000, "ms");
  report.at_most("the same by a tenth of it (linear: 10)", times[0] / times[1], 15, "");
  report.note("the graph as JSON, and back", text * 1e3, "ms");
  report.note("ninja -n of the same graph", plan::ninja_s(graph) * 1e3, "ms");
  report.at_most("100,000 nodes stored", deploy::run_plan(deploy::nodes_of_nothing(100'000), false).stored_s * 1e3,
                 1'000, "ms");
  report.at_most("10,000 nodes that do nothing executed",
                 deploy::run_plan(deploy::nodes_of_nothing(10'000), true).executed_s * 1e3, 2'000, "ms");
  report.at_most("memory of a node and edge", bytes / static_cast<double>(graph.size() + graph.edges()), 200, "bytes");
  report.note("1,000 components of which nothing changes, the graph alone", times[2] * 1e3, "ms");
  report.at_most("1,000 components of which nothing changes, planned and stored", deploy::plan_unchanged_s(1'000) * 1e3,
                 100, "ms");
  return report.print();
}
