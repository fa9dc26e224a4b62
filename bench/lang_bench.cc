// The language: checking a kit of 2,000 syncs over 100 concepts, parsed already; and loading and checking what nobody
// writes by hand, so that no part of it costs the square of its length.
#include <functional>
#include <map>
#include <string>

#include "bench/bench.h"
#include "lang/check/check.h"
#include "lang/syntax/concept_parser.h"
#include "lang/syntax/sync_parser.h"

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

using Files = std::map<std::string, std::string>;

// A kit of files in memory, loaded and checked.
Checked checked(const Files& files) {
  return check(load_kit("k", [&](const std::string& path) -> Result<std::string> {
    auto found = files.find(path);
    if (found == files.end()) return Error{.code = Code::not_found, .message = "cannot open " + path};
    return found->second;
  }));
}

Files kit_with(const std::string& state, const std::string& where, const std::string& text, size_t entries) {
  Files files = {{"k/a.concept", "concept A [P] { state { ps: set P\n" + state +
                                     "} actions { action a(n: Int, t: String) { -> ok(n: Int, t: String) } } }\n"},
                 {"k/a.sync", "sync S when { A/a: [] => ok[ n: ?n; t: ?t ] } where { " + where +
                                  " } then { A/a: [ n: ?n; t: " + text + " ] }\n"}};
  std::string& suite = files["k/suite.yaml"];
  suite = "kit: { name: k }\nconcepts: { A: { spec: ./a.concept } }\nsyncs:\n  recommended:\n";
  for (size_t i = 0; i < entries; ++i) suite += "    - { path: ./a.sync }\n";
  return files;
}

std::string repeated(size_t times, const std::function<std::string(size_t)>& piece) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += piece(i);
  return text;
}

}  // namespace
}  // namespace sluice::lang

int main() {
  using namespace sluice;
  lang::Kit kit = lang::generated(100, 2000);
  bench::Report report;
  double seconds = bench::median_s([&] { bench::keep(lang::check(kit)); }, 5);
  report.at_most("check 2,000 syncs", seconds * 1000, 1000, "ms");
  auto measure = [&](const std::string& what, const lang::Files& files) {
    report.at_most(what, bench::median_s([&] { bench::keep(lang::checked(files)); }, 1, bench::cpu_s) * 1000, 4000,
                   "ms");
  };
  auto number = [](size_t i) { return std::to_string(i); };
  measure("50,000 binds in a where",
          lang::kit_with("", lang::repeated(50'000, [&](size_t i) { return "bind(?n as ?b" + number(i) + ") "; }), "?t",
                         1));
  measure("a template with 1,000,000 holes",
          lang::kit_with("", "", "\"" + lang::repeated(1'000'000, [](size_t) { return "{{t}}"; }) + "\"", 1));
  measure("50,000 fields that are lists",
          lang::kit_with(lang::repeated(50'000, [&](size_t i) { return "f" + number(i) + ": P -> list Int\n"; }), "",
                         "?t", 1));
  measure("a sync that is listed 200,000 times", lang::kit_with("", "", "?t", 200'000));
  return report.print();
}
