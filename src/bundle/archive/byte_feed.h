// What stands between a ByteSource and libarchive: bytes for its callbacks, and its complaints in our words. For the
// readers of bundle/archive/stream_reader.h only.
#pragma once

#include <archive.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "bundle/archive/archive_reader.h"

namespace sluice::bundle {

struct FreeArchive {
  void operator()(struct archive* reader) const { archive_read_free(reader); }
};
using ReadArchive = std::unique_ptr<struct archive, FreeArchive>;

Error ends_early(const std::string& why = "");
// What libarchive says.
Error explain(struct archive* reader, ArchiveFormat format);

// A ByteSource, for libarchive: read from its beginning, skipped and sought in.
class ByteFeed {
 public:
  explicit ByteFeed(std::unique_ptr<ByteSource> source);

  ByteSource& source() { return *source_; }
  const std::optional<Error>& failed() const { return failed_; }
  bool at_end() const { return at_ >= source_->size(); }
  uint64_t used() const { return at_; }

  // The next bytes; empty at the end, and after an error.
  std::string_view next();

  // `self` is the feed.
  static la_ssize_t on_read(struct archive* reader, void* self, const void** bytes);
  static la_int64_t on_skip(struct archive* reader, void* self, la_int64_t request);
  static la_int64_t on_seek(struct archive* reader, void* self, la_int64_t offset, int whence);

 private:
  std::unique_ptr<ByteSource> source_;
  std::string buffer_;
  uint64_t at_ = 0;
  std::optional<Error> failed_;
};

}  // namespace sluice::bundle
