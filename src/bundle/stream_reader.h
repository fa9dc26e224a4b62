// Readers of tar, tar.gz, tar.zst and zip, by libarchive.
#pragma once

#include <memory>

#include "base/result.h"
#include "bundle/archive_reader.h"

namespace sluice::bundle {

// Anything but squashfs. With single_files, gzip and zstd may hold anything: then there is one entry, "content".
Result<std::unique_ptr<RawReader>> open_stream(std::unique_ptr<ByteSource> source, ArchiveFormat format,
                                               bool single_files);

}  // namespace sluice::bundle
