// What lint says of a statement: the rule that it breaks, and what to write instead. `lint.h` lists the rules.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sluice::migrate {

struct Broken {
  std::string rule;
  std::string message;
  Position place{.line = 1, .column = 1};  // within the statement

  bool operator==(const Broken&) const = default;
};

inline constexpr std::string_view kUnparsed = "unparsed";
inline constexpr std::string_view kToContract = "what the version before still has belongs into contract.sql";
inline constexpr std::string_view kRowsToContract =
    "rows are gone for the version before, too; they belong into contract.sql";
inline constexpr std::string_view kRename =
    "the version before knows the old name; add the new one beside it, and copy";
inline constexpr std::string_view kNotNull =
    "the version before writes rows without it; give it a DEFAULT, or let it be NULL";
inline constexpr std::string_view kRowsLocked =
    "its rows stay locked until all are written; say in migration.yaml how columns are copied";

// Rules, in order and each once.
class AllBroken {
 public:
  void add(std::string_view rule, std::string_view message) {
    if (std::ranges::find(all_, rule, &Broken::rule) != all_.end()) return;
    all_.push_back({.rule = std::string(rule), .message = std::string(message)});
  }
  std::vector<Broken> take() { return std::move(all_); }

 private:
  std::vector<Broken> all_;
};

}  // namespace sluice::migrate
