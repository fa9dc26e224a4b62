// The reader of SquashFS 4.0 images, by libsquashfs, without mounting them.
#pragma once

#include <memory>

#include "base/result.h"
#include "bundle/archive/archive_reader.h"

namespace sluice::bundle {

// The limits keep what an image says of itself from deciding how much memory is taken.
Result<std::unique_ptr<RawReader>> open_squash(std::unique_ptr<ByteSource> source, const ArchiveLimits& limits);

}  // namespace sluice::bundle
