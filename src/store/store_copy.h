// A copy of a store in memory, for who must not wait for the process that has it open. That one keeps the index of its
// log to itself, so nobody can read along; but its files are there to be read.
//
//   auto copy = copy_store(disk, path, 256 << 20);
//   if (!copy) …                                       // `conflict`: it was written to all the time; `limit`: too
//   large auto store = SqliteStore::open(**copy, path);      // as it was at one moment; what is written to it is
//   forgotten
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/disk.h"
#include "base/result.h"
#include "store/overlay_disk.h"

namespace sluice::store {

// `disk` must outlive it.
Result<std::unique_ptr<OverlayDisk>> copy_store(Disk& disk, const std::string& path, uint64_t most_bytes);

}  // namespace sluice::store
