// Writes down that somebody may not do something, for those who have the store but no engine: commands that only read.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "engine/engine_time.h"
#include "store/store.h"

namespace sluice::engine {

// Appends a record `denied` to the journal. Nobody else may be writing to the store.
Result<void> record_denial(store::Store& store, const std::string& caller, const std::string& action,
                           const Clock& clock, Boot boot);

}  // namespace sluice::engine
