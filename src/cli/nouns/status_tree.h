// What the view `status` says, as a tree: environment, deployment, revision, replica.
#pragma once

#include <string>
#include <vector>

#include "base/json_fields.h"
#include "base/terminal.h"
#include "deploy/views/rollouts.h"
#include "host/status_view.h"

namespace sluice::cli {

// Empty where nothing is deployed. A rollout stands below its deployment, with its verdict. Where it is not served,
// `sluice serve` is the next step for all of it, so the tree names none.
std::string status_tree(const host::StatusDocument& status, const Terminal& terminal,
                        const std::vector<deploy::views::RolloutView>& rollouts = {}, bool served = true);

// For how long a certificate holds: "23 h", "ended"; empty: there is none.
std::string certificate_words(const OrNull<int64_t>& left_s);

}  // namespace sluice::cli
