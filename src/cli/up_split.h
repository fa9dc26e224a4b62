// Who gets which share after `sluice up`, and which of the revisions before stay warm for the way back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deploy/views/states.h"
#include "revision.gen.h"

namespace sluice::cli {

using Weights = std::vector<std::pair<std::string, int64_t>>;  // basis points by revision

// Those that get something of a deployment now.
Weights split_of(const deploy::views::States& states, const std::string& deployment);

// Whether each gets the same, in whichever order they are named.
bool is_same_split(Weights one, Weights other);

// Everything to the revision, or a share of it: then the others keep what is left in their proportion.
Weights wanted_split(const Weights& now, const std::string& revision, std::optional<int64_t> canary_bps);

// The ready revisions of a deployment that get nothing, and that a rollback does not lead to: all but `newest`, those
// that had a share before the last change, and, if none of these is ready any more, the newest of the rest.
std::vector<deploy::revision::RevisionFound> left_behind(const deploy::views::States& states,
                                                         const std::string& deployment, const std::string& newest);

}  // namespace sluice::cli
