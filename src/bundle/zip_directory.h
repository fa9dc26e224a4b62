// A look at the directory of a zip before libarchive reads it. libarchive keeps all of the directory in memory, however
// many entries that are, and gives FIFOs as empty files.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "bundle/archive_reader.h"

namespace sluice::bundle {

// Refuses more than so many entries, and FIFOs. What is no directory is left for libarchive to refuse. Memory does not
// depend on the archive.
Result<void> check_zip_directory(ByteSource& source, uint64_t max_entries);

}  // namespace sluice::bundle
