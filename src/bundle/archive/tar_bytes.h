// The bytes of a tar, decompressed if it is compressed. For the readers of bundle/archive/stream_reader.h only.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "bundle/archive/byte_feed.h"
#include "bundle/archive/decompress.h"

namespace sluice::bundle {

class TarBytes {
 public:
  TarBytes(std::unique_ptr<ByteSource> source, ArchiveFormat format) : feed_(std::move(source)), format_(format) {}

  ByteSource& source() { return feed_.source(); }

  Result<void> open();
  // The next ones; empty at the end. They live until the next call.
  Result<std::string_view> next();
  // At the end: how many bytes of the source these were. What lies behind them is something else.
  uint64_t used() const;

 private:
  Error broken();

  ByteFeed feed_;
  ArchiveFormat format_;
  std::unique_ptr<Decompressor> frames_;  // of gzip, zstd and xz
  ReadArchive filter_;                    // of all else
  uint64_t source_bytes_ = 0;
  bool at_end_ = false;
};

}  // namespace sluice::bundle
