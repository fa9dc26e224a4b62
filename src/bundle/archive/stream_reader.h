// Readers of tar, plain or compressed, and zip, by libarchive.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "bundle/archive/archive_reader.h"

namespace sluice::bundle {

// Why an archive is read: to be used, when every byte of its names counts and it must be whole; or to be searched, when
// all that can be found in it is wanted, whatever its form: several tars one behind the other, and what is no tar at
// all, as one entry named "content".
enum class ReadFor { use, search };

// Anything but squashfs. A zip with more entries than the limits allow is refused before its directory is read.
// `on_unpacked` gets the bytes of a tar that was compressed, if it is searched.
Result<std::unique_ptr<RawReader>> open_stream(std::unique_ptr<ByteSource> source, ArchiveFormat format, ReadFor why,
                                               const ArchiveLimits& limits,
                                               std::function<void(std::string_view)> on_unpacked = {});

}  // namespace sluice::bundle
