// What gzip, zstd and xz hold, in pieces. zlib, libzstd and liblzma are asked themselves, as libarchive checks neither
// the sum nor the length behind what gzip has compressed, and does not tell where what is compressed ends.
//
// Several frames one behind the other are one content; frames that say to be passed over are. Memory is bounded
// whatever a frame says of itself. For bundle/archive/tar_bytes.h only.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "bundle/archive/archive_reader.h"

namespace sluice::bundle {

class Decompressor {
 public:
  virtual ~Decompressor() = default;

  // The next bytes; empty at the end. They live until the next call.
  virtual Result<std::string_view> next() = 0;
  // At the end: how many bytes of the source were compressed ones. What lies behind them is something else.
  virtual uint64_t used() const = 0;
};

// The source must outlive them.
std::unique_ptr<Decompressor> decompress_gzip(ByteSource& source);
std::unique_ptr<Decompressor> decompress_zstd(ByteSource& source);
std::unique_ptr<Decompressor> decompress_xz(ByteSource& source);

}  // namespace sluice::bundle
