// Kits for tests of the checker, made of texts: concepts in files 0.concept, 1.concept, …, rules in rules.sync.
#pragma once

#include <string>
#include <vector>

#include "lang/check/check.h"

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

Kit kit_of(const std::vector<std::string>& concepts, const std::string& rules);

std::string line_of(const Diagnostic& each);

bool is_about_flow(const Diagnostic& each);

// What is told of a kit, but for what follows from what.
std::vector<std::string> told(Kit kit, const CheckOptions& options = {});

// The same of a concept A of things, with one more line (the ninth) in its action `make(name, size)`, and one (the
// thirteenth) beside its actions.
std::vector<std::string> told_of_thing(const std::string& fixture, const std::string& invariant);

// The rest of it.
std::vector<std::string> told_of_flow(Kit kit);
std::vector<std::string> told_of_unused(Kit kit);

}  // namespace sluice::lang
