// Kits for tests of the checker, made of texts: concepts in files 0.concept, 1.concept, …, rules in rules.sync.
#pragma once

#include <cstdlib>
#include <string>
#include <unordered_set>
#include <vector>

#include "lang/check.h"
#include "lang/concept_parser.h"
#include "lang/sync_parser.h"

namespace sluice::lang {

// An order is placed, paid (by a card) and shipped.
inline const std::string kOrder = R"(concept Order [O] {
  state {
    orders: set O
    status: O -> "open" | "paid" | "sent"
    total: O -> Int
    note: O -> option String
    address: O -> { city: String, zip: String }
    asked: O -> option Request
    secret: O -> Sealed
    lines: O -> list { item: String, count: Int }
    tags: O -> list String
  }
  actions {
    action place(customer: String, lines: list { item: String, count: Int }, note: option String) {
      -> ok(order: O, total: Int)
      -> empty(message: String)
    }
    action pay(order: O, amount: Int) {
      runs: answered
      -> ok(order: O)
      -> declined(order: O, reason: String)
    }
    action ship(order: O, priority: "slow" | "fast") {
      runs: effect
      -> ok(order: O, parcel: String)
      -> lost(order: O)
    }
    action look(order: O) {
      runs: query
      -> ok(total: Int)
    }
  }
}
)";

inline const std::string kCard = R"(concept Card [C] {
  state {
    cards: set C
    owner: C -> String
  }
  actions {
    action charge(order: String, amount: Int) {
      runs: effect
      -> ok(card: C, receipt: String)
      -> refused(reason: String)
    }
    action hold(card: C) {
      -> ok(card: C)
    }
    action unlock(key: Sealed) {
      -> ok(card: C, token: Sealed)
    }
  }
}
)";

inline Kit kit_of(const std::vector<std::string>& concepts, const std::string& rules) {
  Kit kit;
  Diagnostics found;
  for (size_t i = 0; i < concepts.size(); ++i) {
    std::string file = std::to_string(i) + ".concept";
    auto tree = parse_concept(concepts[i], file, found);
    if (!tree) continue;
    kit.sources[file] = concepts[i];
    kit.concepts.push_back({std::move(*tree), {}, "test"});
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
  kit.diagnostics = found.all();
  return kit;
}

inline std::string line_of(const Diagnostic& each) {
  std::string line = each.file + ":" + std::to_string(each.mark.line) + ":" + std::to_string(each.mark.column) + "+" +
                     std::to_string(each.length);
  line += each.severity == Diagnostic::Severity::error ? " error " : " warning ";
  return line + each.rule + ": " + each.text + (each.hint.empty() ? "" : " [" + each.hint + "]");
}

inline bool is_about_flow(const Diagnostic& each) {
  static const std::unordered_set<std::string> kRules = {
      "unhandled-variant", "leads-nowhere", "no-answer", "cycle", "never-caused", "unreachable-variant"};
  return kRules.contains(each.rule);
}

// What is told of a kit, but for what follows from what.
inline std::vector<std::string> told(Kit kit, const CheckOptions& options = {}) {
  std::vector<std::string> lines;
  for (const Diagnostic& each : check(std::move(kit), options).diagnostics) {
    if (!is_about_flow(each)) lines.push_back(line_of(each));
  }
  return lines;
}

// The rest of it.
inline std::vector<std::string> told_of_flow(Kit kit) {
  std::vector<std::string> lines;
  for (const Diagnostic& each : check(std::move(kit)).diagnostics) {
    if (is_about_flow(each)) lines.push_back(line_of(each));
  }
  return lines;
}

}  // namespace sluice::lang
