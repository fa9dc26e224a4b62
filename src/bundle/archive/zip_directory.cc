// The end of a zip says where its directory begins; from there on it is a row of records of 46 bytes and three texts.
#include "bundle/archive/zip_directory.h"

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
constexpr uint64_t kEncrypted = 1;       // a flag
constexpr uint64_t kHasSizesBehind = 8;  // likewise
constexpr size_t kMaxSizesBehindBytes = 24;
constexpr uint64_t kElsewhere = 0xFFFFFFFF;  // a size or offset that stands in a field behind the name
constexpr size_t kMaxGaps = 16;

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

// What the end of a zip says of it.
struct ZipEnd {
  uint64_t at = 0;            // where the records behind the directory begin
  uint64_t behind = 0;        // where its comment ends
  uint64_t directory_at = 0;  // where libarchive begins to look for the directory
  uint64_t shift = 0;         // from offsets that the zip tells to where things are, as something may stand before it
  std::optional<uint64_t> entries = {};
};

Result<std::optional<ZipEnd>> end_of(Window& window, uint64_t size) {
  const uint64_t look = std::min<uint64_t>(size, kEndBytes + kMaxCommentBytes);
  auto end = window.at(size - look, look);
  if (!end) return end.error();
  const size_t found = end->rfind("PK\x05\x06");
  if (found == std::string_view::npos || end->size() - found < kEndBytes) return std::optional<ZipEnd>();
  const uint64_t end_at = size - look + found;
  const uint64_t directory_bytes = number_at(*end, found + 12, 4);
  ZipEnd said{.at = end_at, .behind = end_at + kEndBytes + number_at(*end, found + 20, 2)};
  const uint64_t entries = number_at(*end, found + 10, 2), offset = number_at(*end, found + 16, 4);
  if (found >= kLocatorBytes && end->substr(found - kLocatorBytes).starts_with("PK\x06\x07")) {
    const uint64_t record_at = number_at(*end, found - kLocatorBytes + 8, 8);
    auto record = window.at(record_at, 56);
    if (!record) return record.error();
    if (record->size() == 56 && record->starts_with("PK\x06\x06")) {
      said.at = record_at;
      said.directory_at = number_at(*record, 48, 8);
      said.entries = number_at(*record, 32, 8);
      return std::optional(said);
    }
  }
  if (directory_bytes > end_at) return std::optional<ZipEnd>();
  said.directory_at = end_at - directory_bytes;
  said.shift = said.directory_at - offset;  // below zero it runs over, and back again when it is added
  said.entries = entries;
  return std::optional(said);
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
    auto end = end_of(window_, size_);
    if (!end) return end.error();
    if (*end) {
      end_ = **end;
      next_ = end_.directory_at;
    }
    return end->has_value();
  }
  const ZipEnd& end() const { return end_; }
  // Behind the records that next() has given.
  uint64_t at() const { return next_; }

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
  ZipEnd end_;
  uint64_t next_ = 0;
};

// Fields that stand behind the name: sizes and offsets above 4 GiB, and a name in UTF-8 beside one that is not.
void read_extra(std::string_view extra, ZipListing& listing, uint64_t& packed_size) {
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

// What a record of the directory says.
struct Listed {
  ZipListing listing;
  uint64_t packed_size = 0;
  uint64_t flags = 0;
  uint64_t method = 0;
  uint64_t sum = 0;
  uint32_t type = 0;  // of a file, as Unix has it
};

Result<Listed> listed_by(Directory& directory, const Directory::Record& record) {
  const std::string& bytes = record.bytes;
  auto texts = directory.text(record.at + kRecordBytes, record.name_bytes + record.extra_bytes);
  if (!texts) return texts.error();
  Listed listed{.listing = {.name = texts->substr(0, record.name_bytes),
                            .offset = number_at(bytes, 42, 4),
                            .size = number_at(bytes, 24, 4)},
                .packed_size = number_at(bytes, 20, 4),
                .flags = number_at(bytes, 8, 2),
                .method = number_at(bytes, 10, 2),
                .sum = number_at(bytes, 16, 4)};
  if (texts->size() > record.name_bytes) {
    read_extra(std::string_view(*texts).substr(record.name_bytes), listed.listing, listed.packed_size);
  }
  if (static_cast<uint8_t>(bytes[5]) == kUnix) {
    listed.type = static_cast<uint32_t>(number_at(bytes, 40, 2)) & kTypeBits;
  }
  return listed;
}

// What stands before an entry's content; nothing if it is not there.
struct LocalHeader {
  uint64_t flags = 0;
  uint64_t method = 0;
  uint64_t sum = 0;
  uint64_t packed_size = 0;
  uint64_t size = 0;
  uint64_t content_at = 0;
};
Result<std::optional<LocalHeader>> local_header(ByteSource& source, uint64_t at) {
  constexpr size_t kLocalBytes = 30;
  std::string header(kLocalBytes, '\0');
  auto got = source.read_at(at, header);
  if (!got) return got.error();
  if (*got < kLocalBytes || !header.starts_with("PK\x03\x04")) return std::optional<LocalHeader>();
  return std::optional(
      LocalHeader{.flags = number_at(header, 6, 2),
                  .method = number_at(header, 8, 2),
                  .sum = number_at(header, 14, 4),
                  .packed_size = number_at(header, 18, 4),
                  .size = number_at(header, 22, 4),
                  .content_at = at + kLocalBytes + number_at(header, 26, 2) + number_at(header, 28, 2)});
}

// Whether what stands behind an entry's content, its sum and sizes, is what the directory says. It begins with a
// signature or not, and sizes above 4 GiB have eight bytes.
Result<bool> same_behind(ByteSource& source, const Listed& listed, uint64_t at) {
  std::string bytes(kMaxSizesBehindBytes, '\0');
  auto got = source.read_at(at, bytes);
  if (!got) return got.error();
  bytes.resize(*got);
  auto says = [&](std::string_view behind, int size_bytes) {
    const auto step = static_cast<size_t>(size_bytes);
    return behind.size() >= 4 + 2 * step && number_at(behind, 0, 4) == listed.sum &&
           number_at(behind, 4, size_bytes) == listed.packed_size &&
           number_at(behind, 4 + step, size_bytes) == listed.listing.size;
  };
  std::string_view behind = bytes;
  if (behind.starts_with("PK\x07\x08")) behind.remove_prefix(4);
  return says(behind, 4) || says(behind, 8) || says(bytes, 4) || says(bytes, 8);
}

// Whether the directory tells the same of an entry as stands before and behind it: others believe the one or the other.
Result<void> same_before(ByteSource& source, const Listed& listed, uint64_t at) {
  auto local = local_header(source, at);
  if (!local) return local.error();
  auto differs = [&](const std::string& what) {
    return Error{.code = Code::invalid,
                 .message = json_quoted(listed.listing.name) + ": its directory says otherwise " + what};
  };
  if (!*local) return {};  // for libarchive to refuse
  if ((*local)->method != listed.method) return differs("how it is compressed");
  if (((*local)->flags & kEncrypted) != (listed.flags & kEncrypted)) return differs("whether it is encrypted");
  const bool has_sizes_behind = ((*local)->flags & kHasSizesBehind) != 0;
  if (has_sizes_behind != ((listed.flags & kHasSizesBehind) != 0)) return differs("whether its sizes stand behind it");
  // Where they stand behind it, zeros stand before it.
  auto same = [&](uint64_t before, uint64_t said) {
    return before == said || before == kElsewhere || (has_sizes_behind && before == 0);
  };
  constexpr const char* kSizes = "how large it is, or what its sum is";
  if (!same((*local)->sum, listed.sum) || !same((*local)->packed_size, listed.packed_size) ||
      !same((*local)->size, listed.listing.size)) {
    return differs(kSizes);
  }
  // What is larger than the archive is for libarchive to refuse.
  if (!has_sizes_behind || listed.packed_size > source.size()) return {};
  auto behind = same_behind(source, listed, (*local)->content_at + listed.packed_size);
  if (!behind) return behind.error();
  return *behind ? Result<void>() : differs(kSizes);
}

// The content of an entry that is not compressed; nothing if it is not there.
Result<std::optional<std::string>> stored_content(ByteSource& source, const ZipListing& listing) {
  auto local = local_header(source, listing.offset);
  if (!local) return local.error();
  if (!*local) return std::optional<std::string>();
  std::string content(listing.size, '\0');
  auto read = source.read_at((*local)->content_at, content);
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
    auto listed = listed_by(directory, **record);
    if (!listed) return listed.error();
    if (auto same = same_before(source, *listed, listed->listing.offset + directory.end().shift); !same) {
      return same.error();
    }
    ZipListing& listing = listed->listing;
    name_bytes += listing.name.size();
    if (name_bytes > limits.max_name_bytes) {
      return Error{.code = Code::limit,
                   .message = "its names take more than " + std::to_string(limits.max_name_bytes) + " bytes"};
    }
    if (listed->type == kFifo) {
      return Error{.code = Code::invalid, .message = json_quoted(listing.name) + ": it is a FIFO"};
    }
    const bool is_stored = listed->method == 0;
    if (listed->type == kSymlink && is_stored && listing.size <= limits.max_path_bytes)
      links.push_back(listings.size());
    listings.push_back(std::move(listing));
  }
  // Some write only the last sixteen bits of a number that does not fit.
  const uint64_t said = directory.end().entries.value_or(listings.size());
  if (said != listings.size() && said != listings.size() % 0x10000) {
    return Error{.code = Code::invalid,
                 .message = "its end says that it has " + std::to_string(said) + " entries, its directory has " +
                            std::to_string(listings.size())};
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

Result<std::vector<ByteRange>> zip_gaps(ByteSource& source, uint64_t max_entries) {
  struct Span {
    uint64_t begin, end, slack;
  };
  Directory directory(source);
  auto there = directory.find();
  if (!there) return there.error();
  if (!*there) return std::vector<ByteRange>();
  std::vector<Span> spans;
  for (;;) {
    auto record = directory.next();
    if (!record) return record.error();
    if (!*record) break;
    if (spans.size() >= max_entries) return too_many(max_entries);
    auto listed = listed_by(directory, **record);
    if (!listed) return listed.error();
    const uint64_t begin = listed->listing.offset + directory.end().shift;
    auto local = local_header(source, begin);
    if (!local) return local.error();
    if (!*local) continue;
    const uint64_t left = source.size() - std::min((*local)->content_at, source.size());
    const bool has_more = ((*local)->flags & kHasSizesBehind) != 0;
    spans.push_back(
        {begin, (*local)->content_at + std::min(listed->packed_size, left), has_more ? kMaxSizesBehindBytes : 0});
  }
  std::ranges::sort(spans, {}, &Span::begin);
  // The directory and what ends the zip belong to it as its entries do.
  spans.push_back({directory.end().directory_at, directory.at(), 0});
  spans.push_back({directory.end().at, std::max(directory.end().at, directory.end().behind), 0});
  spans.push_back({source.size(), source.size(), 0});
  std::vector<ByteRange> gaps;
  Span last{0, 0, 0};
  for (Span span : spans) {
    span.begin = std::min(span.begin, source.size());
    span.end = std::min(span.end, source.size());
    if (span.begin > last.end + last.slack) {
      auto padded = only_padding(source, last.end, span.begin);
      if (!padded) return padded.error();
      if (!*padded && gaps.size() < kMaxGaps) gaps.push_back({last.end, span.begin, "between its entries"});
      if (!*padded) gaps.back().end = span.begin;
    }
    if (span.end > last.end) last = span;
  }
  return gaps;
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

size_t end_of_last_zip(std::string_view bytes) {
  constexpr std::string_view kEnd = "PK\x05\x06";
  for (size_t at = bytes.rfind(kEnd); at != std::string_view::npos; at = bytes.substr(0, at).rfind(kEnd)) {
    if (bytes.size() - at < kEndBytes) continue;
    const size_t end = at + kEndBytes + number_at(bytes, at + 20, 2);
    if (end <= bytes.size() && ends_as_zip(bytes.substr(0, end))) return end;
  }
  return 0;
}

}  // namespace sluice::bundle
