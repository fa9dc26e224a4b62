// The sync sets that the store keeps by hash, for the flows that began under them.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "engine/sync_set.h"
#include "store/store.h"

namespace sluice::engine {

// A kept set, checked against the concepts of a kit that is loaded now. Fails with `not_found` if the store has no such
// set, with `invalid` if it does not fit the concepts any more.
Result<std::shared_ptr<const SyncSet>> kept_set(store::Snapshot& snapshot, const std::string& hash, lang::Kit kit);

}  // namespace sluice::engine
