// Readers of tar, tar.gz, tar.zst and zip, by libarchive.
#pragma once

#include <memory>

#include "base/result.h"
#include "bundle/archive_reader.h"

namespace sluice::bundle {

// Anything but squashfs. With single_files, gzip and zstd may hold anything: then there is one entry, "content". A zip
// with more than max_entries is refused before its directory is read.
Result<std::unique_ptr<RawReader>> open_stream(std::unique_ptr<ByteSource> source, ArchiveFormat format,
                                               bool single_files, uint64_t max_entries);

}  // namespace sluice::bundle
