// Bytes go in as they are asked for; an error is kept, as libarchive passes on only that there was one.
#include "bundle/archive/byte_feed.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace sluice::bundle {

namespace {

constexpr size_t kBufferBytes = 256 * 1024;

}  // namespace

Error ends_early(const std::string& why) {
  return {.code = Code::invalid, .message = "the archive ends too early" + why};
}

Error explain(struct archive* reader, ArchiveFormat format) {
  const char* said = archive_error_string(reader);
  std::string reason = said == nullptr ? "" : said;
  reason.resize(std::min(reason.find('\n'), reason.size()));  // some of its texts end with one
  if (format == ArchiveFormat::zip && reason == "Unrecognized archive format") {
    return ends_early(": the directory at its end is missing");
  }
  if (reason.find("runcated") != std::string::npos) return ends_early();
  if (reason.find("be converted") != std::string::npos) {
    return {.code = Code::invalid, .message = "a name in it is not UTF-8"};
  }
  if (reason == "Unrecognized archive format") return {.code = Code::invalid, .message = "there is no tar in it"};
  if (reason.find("assphrase") != std::string::npos || reason.find("ncrypt") != std::string::npos) {
    return {.code = Code::invalid, .message = "it is encrypted"};
  }
  if (reason.find("nsupported ZIP compression") != std::string::npos) {
    return {.code = Code::invalid, .message = "it is compressed in a way that Sluice does not read"};
  }
  return {.code = Code::invalid, .message = "the archive is damaged" + (reason.empty() ? "" : ": " + reason)};
}

ByteFeed::ByteFeed(std::unique_ptr<ByteSource> source)
    : source_(std::move(source)), buffer_(std::string(kBufferBytes, '\0')) {}

std::string_view ByteFeed::next() {
  auto got = source_->read_at(at_, buffer_);
  if (!got) {
    failed_ = got.error();
    return {};
  }
  at_ += *got;
  return std::string_view(buffer_).substr(0, *got);
}

la_ssize_t ByteFeed::on_read(struct archive* reader, void* self, const void** bytes) {
  auto& feed = *static_cast<ByteFeed*>(self);
  std::string_view piece = feed.next();
  if (feed.failed_) {
    archive_set_error(reader, EIO, "%s", "cannot read");
    return -1;
  }
  *bytes = piece.data();
  return static_cast<la_ssize_t>(piece.size());
}

la_int64_t ByteFeed::on_skip(struct archive*, void* self, la_int64_t request) {
  auto& feed = *static_cast<ByteFeed*>(self);
  uint64_t left = feed.source_->size() - std::min(feed.at_, feed.source_->size());
  auto skipped =
      static_cast<la_int64_t>(std::min<uint64_t>(static_cast<uint64_t>(std::max<la_int64_t>(request, 0)), left));
  feed.at_ += static_cast<uint64_t>(skipped);
  return skipped;
}

la_int64_t ByteFeed::on_seek(struct archive*, void* self, la_int64_t offset, int whence) {
  auto& feed = *static_cast<ByteFeed*>(self);
  auto size = static_cast<la_int64_t>(feed.source_->size());
  la_int64_t base = whence == SEEK_SET ? 0 : whence == SEEK_END ? size : static_cast<la_int64_t>(feed.at_);
  if (offset < -base || offset > size - base) return ARCHIVE_FATAL;
  feed.at_ = static_cast<uint64_t>(base + offset);
  return base + offset;
}

}  // namespace sluice::bundle
