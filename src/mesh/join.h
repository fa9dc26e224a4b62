// The five rules between what the operator allows (mgmt) and what a control plane chose within it (ctrl). A set whose
// rules do not all hold is never obeyed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "mesh/artifact.h"

namespace sluice::mesh {

struct JoinRule {
  uint32_t rule = 0;    // 1 to 5
  std::string demands;  // what it asks for
  bool holds = true;
  std::vector<std::string> breaches;  // what breaks it, each by name
};
BOOST_DESCRIBE_STRUCT(JoinRule, (), (rule, demands, holds, breaches))

// All five, in order. `mgmt_version` is the version of the mgmt artifact that is held.
std::vector<JoinRule> judge_join(const Vertex& mgmt, uint64_t mgmt_version, const Ctrl& ctrl, uint64_t obeys);

// `gate_rejected` with the first breach, or nothing. Both artifacts must be of one node and one vertex, which is of
// kind mesh.
Result<void> check_join(const Artifact& mgmt, const Artifact& ctrl);

}  // namespace sluice::mesh
