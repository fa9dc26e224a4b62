// Windows for the tests of the judge, and the vectors that its arithmetic must reproduce to the sixth digit.
#pragma once

#include <string>
#include <vector>

#include "judge/counts.h"
#include "judge/judge.h"

namespace sluice::judge {

// "18:100 19:120": bucket and count. All that is in a bucket has succeeded; `failed` comes on top.
Counts counts_of(double failed, const std::string& latencies);

Counts old_version();                   // 949 requests that succeed and one that fails
Counts new_version(double failed = 0);  // 50 requests of the same latencies

// Settings by which a first window counts at once.
Settings without_warm_up();

struct VectorRow {
  double against = 0;
  double for_ = 0;
};

// What a sequence of windows must lead to.
struct Vector {
  std::string name;
  Settings settings;
  std::vector<Counts> history;
  std::vector<Window> windows;
  std::vector<VectorRow> rows;
  double against = 0;
  Outcome outcome = Outcome::insufficientData;
  std::optional<double> needed;
  std::optional<double> grouping;  // of the errors
};

std::vector<Vector> vectors();

}  // namespace sluice::judge
