// The sync sets that the store keeps by hash, for the flows that began under them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "engine/rules/sync_set.h"
#include "store/store.h"

namespace sluice::engine {

// A kept set, checked against the concepts of a kit that is loaded now. Fails with `not_found` if the store has no such
// set, with `invalid` if it does not fit the concepts any more.
Result<std::shared_ptr<const SyncSet>> kept_set(store::Snapshot& snapshot, const std::string& hash, lang::Kit kit);

// Where the kit was that this set came from, as the store's meta data tell; empty if they do not.
Result<std::string> kit_of_set(store::Snapshot& snapshot, const std::string& hash);

// The meta row with which the store remembers that; none if it does already. Sets that are not kept any more are left
// out of it.
Result<std::optional<std::pair<std::string, std::string>>> remember_kit(store::Snapshot& snapshot,
                                                                        const std::string& hash,
                                                                        const std::string& folder);

}  // namespace sluice::engine
