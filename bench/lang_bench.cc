// The language: checking a kit of 2,000 syncs over 100 concepts, parsed already.
#include <string>

#include "bench/bench.h"
#include "lang/check.h"
#include "lang/concept_parser.h"
#include "lang/sync_parser.h"

namespace sluice::lang {
namespace {

Kit generated(size_t concepts, size_t syncs) {
  Kit kit;
  Diagnostics found;
  for (size_t c = 0; c < concepts; ++c) {
    std::string n = std::to_string(c);
    std::string text =
        "concept C" + n + " [T] { state { rows: set T\n size: T -> Int\n name: T -> String } actions {\n";
    for (int a = 0; a < 5; ++a) {
      text += "action a" + std::to_string(a) +
              "(row: T, size: Int) { -> ok(row: T, size: Int) -> failed(reason: String) }\n";
    }
    auto tree = parse_concept(text + "} }", "c" + n + ".concept", found);
    kit.concepts.push_back({std::move(*tree), {}, "bench"});
  }
  std::string rules;
  for (size_t s = 0; s < syncs; ++s) {
    // Each leads to the next concept's action, so the graph is deep and has no cycle but the one through all.
    std::string from = "C" + std::to_string(s % concepts), to = "C" + std::to_string((s + 1) % concepts);
    std::string action = "a" + std::to_string(s % 5), next = "a" + std::to_string((s + 1) % 5);
    rules += "sync S" + std::to_string(s) + " when { " + from + "/" + action + ": [ row: ?r ] => ok[ size: ?n ] }\n" +
             "where { " + from + ": { ?r name: ?m; size: ?k } filter(?n > 3 and ?m != \"x\") }\n" + "then { " + to +
             "/" + next + ": [ row: ?r; size: ?k ] }\n";
  }
  auto tree = parse_sync(rules, "rules.sync", found);
  for (const auto& rule : tree->rules) {
    const Sync& sync = std::get<Sync>(rule);
    kit.syncs.push_back({sync, Tier::recommended, sync.name.text, "bench", {}});
  }
  kit.sources["rules.sync"] = rules;
  return kit;
}

}  // namespace
}  // namespace sluice::lang

int main() {
  using namespace sluice;
  lang::Kit kit = lang::generated(100, 2000);
  bench::Report report;
  double seconds = bench::median_s([&] { bench::keep(lang::check(kit)); }, 5);
  report.at_most("check 2,000 syncs", seconds * 1000, 1000, "ms");
  return report.print();
}
