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

}  // namespace

Result<void> check_zip_directory(ByteSource& source, uint64_t max_entries) {
  Window window(source);
  auto begin = directory_of(window, source.size());
  if (!begin) return begin.error();
  if (!*begin) return {};
  uint64_t at = **begin;
  for (uint64_t entries = 1;; ++entries) {
    auto record = window.at(at, kRecordBytes);
    if (!record) return record.error();
    if (record->size() < kRecordBytes || !record->starts_with("PK\x01\x02")) return {};
    if (entries > max_entries) {
      return Error{.code = Code::limit, .message = "it has more than " + std::to_string(max_entries) + " entries"};
    }
    const size_t name_bytes = number_at(*record, 28, 2);
    const bool is_fifo =
        static_cast<uint8_t>((*record)[5]) == kUnix && (number_at(*record, 40, 2) & kTypeBits) == kFifo;
    const uint64_t next = at + kRecordBytes + name_bytes + number_at(*record, 30, 2) + number_at(*record, 32, 2);
    if (is_fifo) {
      auto name = window.at(at + kRecordBytes, name_bytes);
      if (!name) return name.error();
      return Error{.code = Code::invalid, .message = json_quoted(*name) + ": it is a FIFO"};
    }
    at = next;
  }
}

}  // namespace sluice::bundle
