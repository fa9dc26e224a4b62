// What is no gzip, zstd or xz libarchive decompresses, by the one filter that the first bytes told.
#include "bundle/archive/tar_bytes.h"

#include <archive_entry.h>

#include <algorithm>

namespace sluice::bundle {

Result<void> TarBytes::open() {
  source_bytes_ = feed_.source().size();
  if (format_ == ArchiveFormat::tar) return {};
  if (format_ == ArchiveFormat::tar_gz) frames_ = decompress_gzip(feed_.source());
  if (format_ == ArchiveFormat::tar_zst) frames_ = decompress_zstd(feed_.source());
  if (format_ == ArchiveFormat::tar_xz) frames_ = decompress_xz(feed_.source());
  if (frames_) return {};
  filter_.reset(archive_read_new());
  struct archive* reader = filter_.get();
  if (reader == nullptr) return Error{.code = Code::limit, .message = "there is not enough memory to read it"};
  if (format_ == ArchiveFormat::tar_bz2) archive_read_support_filter_bzip2(reader);
  if (format_ == ArchiveFormat::tar_lz4) archive_read_support_filter_lz4(reader);
  if (format_ == ArchiveFormat::tar_lzma) archive_read_support_filter_lzma(reader);
  archive_read_support_format_raw(reader);
  archive_read_support_format_empty(reader);
  archive_read_set_callback_data(reader, &feed_);
  archive_read_set_read_callback(reader, &ByteFeed::on_read);
  if (archive_read_open1(reader) != ARCHIVE_OK) return broken();
  struct archive_entry* entry = nullptr;
  int status = archive_read_next_header(reader, &entry);
  if (status == ARCHIVE_EOF) at_end_ = true;
  if (status != ARCHIVE_OK && status != ARCHIVE_EOF) return broken();
  // A filter that does not fit what it is given steps aside, and the bytes pass as they are.
  if (!at_end_ && archive_filter_count(reader) < 2) {
    return Error{.code = Code::invalid, .message = "there is no tar in it"};
  }
  return {};
}

Result<std::string_view> TarBytes::next() {
  if (at_end_) return std::string_view();
  if (frames_) return frames_->next();
  if (!filter_) {
    std::string_view piece = feed_.next();
    if (feed_.failed()) return *feed_.failed();
    at_end_ = piece.empty();
    return piece;
  }
  const void* bytes = nullptr;
  size_t size = 0;
  la_int64_t offset = 0;
  do {
    int status = archive_read_data_block(filter_.get(), &bytes, &size, &offset);
    at_end_ = status == ARCHIVE_EOF;
    if (at_end_) return std::string_view();
    if (status != ARCHIVE_OK) return broken();
  } while (size == 0);
  return std::string_view(static_cast<const char*>(bytes), size);
}

uint64_t TarBytes::used() const {
  if (frames_) return frames_->used();
  if (!filter_) return feed_.used();
  const auto used = static_cast<uint64_t>(std::max<la_int64_t>(archive_filter_bytes(filter_.get(), -1), 0));
  // Whether another frame of lz4 follows is told by four bytes, which count as used though they begin something else.
  constexpr uint64_t kLz4LookBytes = 4;
  return format_ == ArchiveFormat::tar_lz4 && used < source_bytes_ ? used - std::min(used, kLz4LookBytes) : used;
}

Error TarBytes::broken() {
  if (feed_.failed()) return *feed_.failed();
  // Where the sum behind what is compressed is missing, libarchive has no words.
  if (archive_error_string(filter_.get()) == nullptr && feed_.at_end()) return ends_early();
  return explain(filter_.get(), format_);
}

}  // namespace sluice::bundle
