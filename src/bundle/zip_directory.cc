// The end of a zip says where its directory begins; from there on it is a row of records of 46 bytes and three texts.
#include "bundle/zip_directory.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_text.h"

namespace sluice::bundle {

namespace {

constexpr size_t kEndBytes = 22;
constexpr size_t kMaxCommentBytes = 65535;
constexpr size_t kLocatorBytes = 20;  // stands before the end, if the zip is a large one
constexpr size_t kRecordBytes = 46;
constexpr uint8_t kUnix = 3;
constexpr uint32_t kTypeBits = 0170000;
constexpr uint32_t kFifo = 0010000;
constexpr uint32_t kSymlink = 0120000;
constexpr size_t kWindowBytes = 256 * 1024;

uint64_t number_at(std::string_view bytes, size_t at, int size) {
  uint64_t value = 0;
  for (int i = size - 1; i >= 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[at + static_cast<size_t>(i)]);
  }
  return value;
}

// Reads ahead, so that a row of small records is not a row of small reads.
class Window {
 public:
  explicit Window(ByteSource& source) : source_(source), buffer_(kWindowBytes, '\0') {}

  // So many bytes from there, or as many as there are.
  Result<std::string_view> at(uint64_t offset, size_t size) {
    // An offset is what the archive says; beyond its end there is nothing, and sums would run over.
    if (offset >= source_.size()) return std::string_view();
    if (offset < begin_ || offset + size > begin_ + held_) {
      auto got = source_.read_at(offset, buffer_);
      if (!got) return got.error();
      begin_ = offset;
      held_ = *got;
    }
    return std::string_view(buffer_).substr(offset - begin_, std::min<uint64_t>(size, begin_ + held_ - offset));
  }

 private:
  ByteSource& source_;
  std::string buffer_;
  uint64_t begin_ = 0;
  uint64_t held_ = 0;
};

// Where libarchive begins to look for the directory.
Result<std::optional<uint64_t>> directory_of(Window& window, uint64_t size) {
  const uint64_t look = std::min<uint64_t>(size, kEndBytes + kMaxCommentBytes);
  auto end = window.at(size - look, look);
  if (!end) return end.error();
  const size_t found = end->rfind("PK\x05\x06");
  if (found == std::string_view::npos || end->size() - found < kEndBytes) return std::optional<uint64_t>();
  const uint64_t end_at = size - look + found;
  const uint64_t directory_bytes = number_at(*end, found + 12, 4);
  if (found >= kLocatorBytes && end->substr(found - kLocatorBytes).starts_with("PK\x06\x07")) {
    auto record = window.at(number_at(*end, found - kLocatorBytes + 8, 8), 56);
    if (!record) return record.error();
    if (record->size() == 56 && record->starts_with("PK\x06\x06")) return std::optional(number_at(*record, 48, 8));
  }
  if (directory_bytes > end_at) return std::optional<uint64_t>();
  return std::optional(end_at - directory_bytes);
}

// The records of the directory, one by one.
class Directory {
 public:
  struct Record {
    uint64_t at = 0;
    std::string bytes;  // the 46 that all have
    size_t name_bytes = 0;
    size_t extra_bytes = 0;
  };

  explicit Directory(ByteSource& source) : window_(source), size_(source.size()) {}

  // Whether there is one.
  Result<bool> find() {
    auto begin = directory_of(window_, size_);
    if (!begin) return begin.error();
    if (*begin) next_ = **begin;
    return begin->has_value();
  }

  Result<std::optional<Record>> next() {
    auto bytes = window_.at(next_, kRecordBytes);
    if (!bytes) return bytes.error();
    if (bytes->size() < kRecordBytes || !bytes->starts_with("PK\x01\x02")) return std::optional<Record>();
    Record record{.at = next_, .bytes = std::string(*bytes)};
    record.name_bytes = number_at(*bytes, 28, 2);
    record.extra_bytes = number_at(*bytes, 30, 2);
    next_ += kRecordBytes + record.name_bytes + record.extra_bytes + number_at(*bytes, 32, 2);
    return std::optional(std::move(record));
  }

  Result<std::string> text(uint64_t at, size_t size) {
    auto bytes = window_.at(at, size);
    if (!bytes) return bytes.error();
    return std::string(*bytes);
  }

 private:
  Window window_;
  uint64_t size_;
  uint64_t next_ = 0;
};

// Fields that stand behind the name: sizes and offsets above 4 GiB, and a name in UTF-8 beside one that is not.
void read_extra(std::string_view extra, ZipListing& listing, uint64_t packed_size) {
  constexpr uint64_t kElsewhere = 0xFFFFFFFF;
  while (extra.size() >= 4) {
    const uint64_t id = number_at(extra, 0, 2);
    const size_t size = number_at(extra, 2, 2);
    std::string_view body = extra.substr(4, size);
    extra.remove_prefix(std::min<size_t>(4 + size, extra.size()));
    if (id == 0x0001) {
      auto take = [&](uint64_t& value) {
        if (value != kElsewhere || body.size() < 8) return;
        value = number_at(body, 0, 8);
        body.remove_prefix(8);
      };
      take(listing.size);
      take(packed_size);
      take(listing.offset);
    }
    if (id == 0x7075 && body.size() > 5 && body[0] == 1) listing.name = body.substr(5);
  }
}

Error too_many(uint64_t most) {
  return {.code = Code::limit, .message = "it has more than " + std::to_string(most) + " entries"};
}

// The content of an entry that is not compressed; nothing if it is not there.
Result<std::optional<std::string>> stored_content(ByteSource& source, const ZipListing& listing) {
  constexpr size_t kLocalBytes = 30;
  std::string header(kLocalBytes, '\0');
  auto got = source.read_at(listing.offset, header);
  if (!got) return got.error();
  if (*got < kLocalBytes || !header.starts_with("PK\x03\x04")) return std::optional<std::string>();
  std::string content(listing.size, '\0');
  const uint64_t at = listing.offset + kLocalBytes + number_at(header, 26, 2) + number_at(header, 28, 2);
  auto read = source.read_at(at, content);
  if (!read) return read.error();
  return *read == content.size() ? std::optional(std::move(content)) : std::nullopt;
}

}  // namespace

Result<uint64_t> count_zip_entries(ByteSource& source, uint64_t most) {
  Directory directory(source);
  auto there = directory.find();
  if (!there) return there.error();
  for (uint64_t entries = 0;; ++entries) {
    if (!*there || entries > most) return entries;
    auto record = directory.next();
    if (!record) return record.error();
    if (!*record) return entries;
  }
}

Result<std::optional<std::vector<ZipListing>>> read_zip_directory(ByteSource& source, const ArchiveLimits& limits) {
  using Listings = std::optional<std::vector<ZipListing>>;
  Directory directory(source);
  auto there = directory.find();
  if (!there) return there.error();
  if (!*there) return Listings();
  std::vector<ZipListing> listings;
  std::vector<size_t> links;
  uint64_t name_bytes = 0;
  for (;;) {
    auto record = directory.next();
    if (!record) return record.error();
    if (!*record) break;
    if (listings.size() >= limits.max_entries) return too_many(limits.max_entries);
    const std::string& bytes = (*record)->bytes;
    auto texts = directory.text((*record)->at + kRecordBytes, (*record)->name_bytes + (*record)->extra_bytes);
    if (!texts) return texts.error();
    ZipListing listing{.name = texts->substr(0, (*record)->name_bytes),
                       .offset = number_at(bytes, 42, 4),
                       .size = number_at(bytes, 24, 4)};
    if (texts->size() > (*record)->name_bytes) {
      read_extra(std::string_view(*texts).substr((*record)->name_bytes), listing, number_at(bytes, 20, 4));
    }
    name_bytes += listing.name.size();
    if (name_bytes > limits.max_name_bytes) {
      return Error{.code = Code::limit,
                   .message = "its names take more than " + std::to_string(limits.max_name_bytes) + " bytes"};
    }
    const uint32_t type =
        static_cast<uint8_t>(bytes[5]) == kUnix ? static_cast<uint32_t>(number_at(bytes, 40, 2)) & kTypeBits : 0;
    if (type == kFifo) return Error{.code = Code::invalid, .message = json_quoted(listing.name) + ": it is a FIFO"};
    const bool is_stored = number_at(bytes, 10, 2) == 0;
    if (type == kSymlink && is_stored && listing.size <= limits.max_path_bytes) links.push_back(listings.size());
    listings.push_back(std::move(listing));
  }
  // Offsets count from the zip's own beginning, which need not be the file's; then no target is found, and libarchive's
  // is taken.
  for (size_t link : links) {
    auto target = stored_content(source, listings[link]);
    if (!target) return target.error();
    listings[link].target = *std::move(target);
  }
  std::ranges::stable_sort(listings, {}, &ZipListing::offset);
  auto same = std::ranges::adjacent_find(listings, {}, &ZipListing::offset);
  if (same != listings.end()) {
    return Error{
        .code = Code::invalid,
        .message = json_quoted((same + 1)->name) + ": it lies in the same place as " + json_quoted(same->name)};
  }
  return Listings(std::move(listings));
}

std::optional<size_t> zip_comment_at(std::string_view bytes) {
  const size_t look = std::min(bytes.size(), kEndBytes + kMaxCommentBytes);
  const size_t end = bytes.rfind("PK\x05\x06");
  if (end == std::string_view::npos || end < bytes.size() - look || bytes.size() - end < kEndBytes) return std::nullopt;
  return end + kEndBytes;
}

bool ends_as_zip(std::string_view bytes) {
  auto comment = zip_comment_at(bytes);
  if (!comment) return false;
  const size_t end = *comment - kEndBytes;
  if (number_at(bytes, end + 20, 2) != bytes.size() - *comment) return false;
  if (end >= kLocatorBytes && bytes.substr(end - kLocatorBytes).starts_with("PK\x06\x07")) return true;
  const uint64_t directory_bytes = number_at(bytes, end + 12, 4);
  return directory_bytes >= kRecordBytes && directory_bytes <= end &&
         bytes.substr(end - directory_bytes).starts_with("PK\x01\x02");
}

}  // namespace sluice::bundle
