// A GuardSet is the active guards of the newest kit, compiled. All that bind an action run, by name; the first failing
// row of the first failing guard decides, the others are named. A guard that cannot be judged (its where has too many
// rows) refuses.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/state_reader.h"
#include "lang/check/check.h"

namespace sluice::engine {

// What a guard's refusal says.
struct Refusal {
  std::string guard;
  std::optional<size_t> variant;  // of the invoked action; none: engine.refused
  json::object fields;            // `message` in engine.refused
  std::vector<std::string> also;  // further guards that failed
  json::array next;               // what to do about it, as in engine/rules/next_steps.h

  bool operator==(const Refusal&) const = default;
};

// A row that the step inserted or changed, as it is now.
struct ChangedRow {
  std::string relation;
  std::string key;  // of a child row: of its owner
  json::object value;
};

class GuardSet {
 public:
  static Result<std::shared_ptr<const GuardSet>> compile(std::shared_ptr<const lang::CheckedKit> kit);
  ~GuardSet();

  std::optional<Refusal> before(lang::ActionRef action, const json::object& input, const StateReader& state) const;
  // `action` is the one that wrote the rows. If it does not declare the guard's variant, it is refused by the engine.
  std::optional<Refusal> over(lang::ActionRef action, const std::vector<ChangedRow>& rows,
                              const StateReader& state) const;

 private:
  struct Compiled;
  explicit GuardSet(std::unique_ptr<const Compiled> compiled);

  std::unique_ptr<const Compiled> compiled_;
};

}  // namespace sluice::engine
