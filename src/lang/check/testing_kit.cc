// How the checker's tests make kits of texts and diagnostics into lines.
#include "lang/check/testing_kit.h"

#include <unordered_set>

#include "lang/syntax/concept_parser.h"
#include "lang/syntax/sync_parser.h"

namespace sluice::lang {

Kit kit_of(const std::vector<std::string>& concepts, const std::string& rules) {
  Kit kit;
  Diagnostics found;
  for (size_t i = 0; i < concepts.size(); ++i) {
    std::string file = std::to_string(i) + ".concept";
    auto tree = parse_concept(concepts[i], file, found);
    if (!tree) continue;
    kit.sources[file] = concepts[i];
    kit.concepts.push_back({std::move(*tree), {}, "test", "suite.yaml"});
  }
  kit.sources["rules.sync"] = rules;
  if (auto tree = parse_sync(rules, "rules.sync", found)) {
    for (const auto& rule : tree->rules) {
      if (const auto* sync = std::get_if<Sync>(&rule)) {
        kit.syncs.push_back({*sync, Tier::recommended, sync->name.text, "test", {}});
      } else {
        kit.guards.push_back({std::get<Guard>(rule), "test", {}});
      }
    }
  }
  kit.found = found;
  return kit;
}

std::string line_of(const Diagnostic& each) {
  std::string line = each.file + ":" + std::to_string(each.mark.line) + ":" + std::to_string(each.mark.column) + "+" +
                     std::to_string(each.length);
  line += each.severity == Diagnostic::Severity::error ? " error " : " warning ";
  return line + each.rule + ": " + each.text + (each.hint.empty() ? "" : " [" + each.hint + "]");
}

bool is_about_flow(const Diagnostic& each) {
  static const std::unordered_set<std::string> kRules = {
      "unhandled-variant", "leads-nowhere", "no-answer", "cycle", "never-caused", "unreachable-variant"};
  return kRules.contains(each.rule);
}

bool is_unused(const Diagnostic& each) { return each.rule == "unused-variable"; }

std::vector<std::string> told(Kit kit, const CheckOptions& options) {
  std::vector<std::string> lines;
  for (const Diagnostic& each : check(std::move(kit), options).diagnostics) {
    if (!is_about_flow(each) && !is_unused(each)) lines.push_back(line_of(each));
  }
  return lines;
}

std::vector<std::string> told_of_unused(Kit kit) {
  std::vector<std::string> lines;
  for (const Diagnostic& each : check(std::move(kit)).diagnostics) {
    if (is_unused(each)) lines.push_back(line_of(each));
  }
  return lines;
}

std::vector<std::string> told_of_flow(Kit kit) {
  std::vector<std::string> lines;
  for (const Diagnostic& each : check(std::move(kit)).diagnostics) {
    if (is_about_flow(each)) lines.push_back(line_of(each));
  }
  return lines;
}

std::vector<std::string> told_of_thing(const std::string& fixture, const std::string& invariant) {
  return told(
      kit_of({"concept A [T] {\n  state { things: set T\n size: T -> Int }\n  actions {\n    action make(name: String, "
              "size: Int) {\n"
              "      -> ok(thing: T)\n      -> bad(message: String)\n      fixture first { name: \"a\", size: 1 }\n" +
              fixture + "\n    }\n    action get(thing: T) { -> ok(name: String, size: Int) -> gone }\n  }\n" +
              invariant + "\n}"},
             ""));
}

}  // namespace sluice::lang
