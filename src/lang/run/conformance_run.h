// What the parts of conformance share, and nobody else includes: one run of a concept, and what may happen in it next.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "lang/run/conformance.h"

namespace sluice::lang {

// A value of the type for a test that does not care which; the same on every run.
json::value any_value(const Type& type, const std::string& name);

struct Conformance::Run {
  struct Past {
    json::object ask;
    json::object fields;
  };
  std::unique_ptr<Harness> harness;
  std::map<std::string, Past, std::less<>> fixtures;  // those that have run, and those of a scenario
  std::set<std::string, std::less<>> under_way;
  Variables variables;
  const Invariant* watched = nullptr;  // always, never or contract
  size_t* watched_times = nullptr;
};

struct Conformance::Move {
  const Action* action = nullptr;  // none: a day passes
  json::object ask;
  std::string answer;  // answered actions: the variant

  bool operator==(const Move&) const = default;
};

}  // namespace sluice::lang
