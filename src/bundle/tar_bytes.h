// The bytes of a tar, decompressed if it is compressed. For the readers of bundle/stream_reader.h only.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "bundle/byte_feed.h"

namespace sluice::bundle {

class TarBytes {
 public:
  TarBytes(std::unique_ptr<ByteSource> source, ArchiveFormat format) : feed_(std::move(source)), format_(format) {}

  Result<void> open();
  // The next ones; empty at the end. They live until the next call.
  Result<std::string_view> next();

 private:
  Error broken();

  ByteFeed feed_;
  ArchiveFormat format_;
  ReadArchive filter_;
  bool at_end_ = false;
};

}  // namespace sluice::bundle
