// Which format it is, and the rules in front of every format's reader.
#include "bundle/archive/archive_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "base/json_text.h"
#include "bundle/archive/squash_reader.h"
#include "bundle/archive/stream_reader.h"

namespace sluice::bundle {

namespace {

class FileSource final : public ByteSource {
 public:
  FileSource(std::unique_ptr<File> file, uint64_t size) : file_(std::move(file)), size_(size) {}

  Result<size_t> read_at(uint64_t offset, std::span<char> into) override { return file_->read_at(offset, into); }
  uint64_t size() const override { return size_; }

 private:
  std::unique_ptr<File> file_;
  uint64_t size_;
};

class ViewSource : public ByteSource {
 public:
  explicit ViewSource(std::string_view bytes) : bytes_(bytes) {}

  Result<size_t> read_at(uint64_t offset, std::span<char> into) final {
    if (offset >= bytes_.size()) return size_t{0};
    size_t size = std::min(into.size(), bytes_.size() - offset);
    std::memcpy(into.data(), bytes_.data() + offset, size);
    return size;
  }
  uint64_t size() const final { return bytes_.size(); }

 protected:
  std::string_view bytes_;
};

class BytesSource final : public ViewSource {
 public:
  explicit BytesSource(std::string bytes) : ViewSource({}), owned_(std::move(bytes)) { bytes_ = owned_; }

 private:
  std::string owned_;
};

// Puts the rules between an archive and those who use it. After an error it says the same error again.
class CheckedReader final : public ArchiveReader {
 public:
  CheckedReader(std::unique_ptr<RawReader> raw, ArchiveFormat format, EntryRules rules, const OpenOptions& options)
      : raw_(std::move(raw)),
        format_(format),
        rules_(std::move(rules)),
        on_bytes_(options.on_bytes),
        stopped_(options.stopped) {}

  ArchiveFormat format() const override { return format_; }

  Result<std::optional<ArchiveEntry>> next() override {
    if (failed_) return *failed_;
    if (stopped_ && stopped_()) return fail(stopped_reading());
    for (;;) {
      auto raw = raw_->next();
      if (!raw) return fail(rules_.refuse_all(raw.error().message, raw.error().code));
      if (!*raw) {
        entry_.reset();
        if (auto sound = rules_.finish(); !sound) return fail(sound.error());
        auto beside = raw_->beside();
        if (!beside) return fail(rules_.refuse_all(beside.error().message, beside.error().code));
        if (!beside->empty()) {
          return fail(rules_.refuse_all("there is something " + std::string(beside->front().where)));
        }
        return std::optional<ArchiveEntry>();
      }
      auto entry = rules_.admit(**raw);
      if (!entry) return fail(entry.error());
      if (!*entry) continue;
      entry_ = **entry;
      read_bytes_ = 0;
      return *std::move(entry);
    }
  }

  Result<std::string_view> read() override {
    if (failed_) return *failed_;
    if (stopped_ && stopped_()) return fail(stopped_reading());
    if (!entry_ || entry_->kind != EntryKind::file) return std::string_view();
    auto piece = raw_->read();
    if (!piece) return fail(rules_.refuse(entry_->path, piece.error().message, piece.error().code));
    read_bytes_ += piece->size();
    if (entry_->size && (piece->empty() ? read_bytes_ < *entry_->size : read_bytes_ > *entry_->size)) {
      return fail(rules_.refuse(
          entry_->path, "the archive says that it has " + std::to_string(*entry_->size) + " bytes, but it has " +
                            (piece->empty() ? std::to_string(read_bytes_) : std::string("more"))));
    }
    if (auto counted = rules_.count_bytes(entry_->path, piece->size()); !counted) return fail(counted.error());
    if (on_bytes_) on_bytes_(piece->size());
    return piece;
  }

 private:
  static Error stopped_reading() { return {.code = Code::failed, .message = "stopped; nothing was left behind"}; }

  Error fail(Error error) {
    failed_ = error;
    return error;
  }

  std::unique_ptr<RawReader> raw_;
  ArchiveFormat format_;
  EntryRules rules_;
  std::function<void(uint64_t)> on_bytes_;
  std::function<bool()> stopped_;
  std::optional<ArchiveEntry> entry_;
  uint64_t read_bytes_ = 0;
  std::optional<Error> failed_;
};

// A tar has no magic number, but its first header carries the sum of its bytes, in octal.
bool is_tar(std::string_view header) {
  if (header.size() < 512) return false;
  if (header.find_first_not_of('\0') >= 512) return true;  // a tar of nothing
  uint64_t said = 0;
  for (char c : header.substr(148, 8)) {
    if (c >= '0' && c <= '7') said = said * 8 + static_cast<uint64_t>(c - '0');
  }
  uint64_t sum = 0;
  for (size_t i = 0; i < 512; ++i) sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(header[i]);
  return said == sum;
}

// What stands behind the frames that zstd and lz4 both pass over: tools put what they need to know into them.
std::string_view behind_passed_over(std::string_view bytes) {
  auto byte = [&](size_t at) { return static_cast<uint32_t>(static_cast<unsigned char>(bytes[at])); };
  while (bytes.size() >= 8 && (byte(0) & 0xf0) == 0x50 && bytes.substr(1).starts_with("\x2a\x4d\x18")) {
    const uint64_t size = byte(4) | byte(5) << 8 | byte(6) << 16 | byte(7) << 24;
    bytes.remove_prefix(std::min<uint64_t>(8 + size, bytes.size()));
  }
  return bytes;
}

bool is_lz4(std::string_view bytes) {
  return bytes.starts_with("\x04\x22\x4d\x18") || bytes.starts_with("\x02\x21\x4c\x18");
}

// The old format of xz's tools has no magic number. Its header has the usual settings, a size of its dictionary that
// they write (2^n or 2^n + 2^(n-1)), and a size of its content, which may be unknown.
bool is_lzma(std::string_view bytes) {
  if (bytes.size() < 13 || bytes[0] != '\x5d') return false;
  auto number = [&](size_t at, size_t size) {
    uint64_t value = 0;
    for (size_t i = size; i > 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[at + i - 1]);
    return value;
  };
  const uint64_t dictionary = number(1, 4), content = number(5, 8);
  const bool is_written =
      std::has_single_bit(dictionary) || (dictionary % 3 == 0 && std::has_single_bit(dictionary / 3));
  return dictionary >= 4096 && is_written && (content == ~uint64_t{0} || content < uint64_t{1} << 40);
}

}  // namespace

std::string_view to_string(ArchiveFormat format) {
  switch (format) {
    case ArchiveFormat::squashfs:
      return "squashfs";
    case ArchiveFormat::tar:
      return "tar";
    case ArchiveFormat::tar_gz:
      return "tar.gz";
    case ArchiveFormat::tar_zst:
      return "tar.zst";
    case ArchiveFormat::zip:
      return "zip";
    case ArchiveFormat::tar_xz:
      return "tar.xz";
    case ArchiveFormat::tar_bz2:
      return "tar.bz2";
    case ArchiveFormat::tar_lz4:
      return "tar.lz4";
    case ArchiveFormat::tar_lzma:
      return "tar.lzma";
  }
  return "";
}

Result<bool> only_padding(ByteSource& source, uint64_t begin, uint64_t end) {
  constexpr uint64_t kMaxPaddingBytes = 64 << 20;
  constexpr size_t kPieceBytes = 64 * 1024;
  if (begin < end && end - begin > kMaxPaddingBytes) return false;
  std::string buffer(std::min<uint64_t>(kPieceBytes, end - std::min(begin, end)), '\0');
  while (begin < end) {
    auto got = source.read_at(begin, std::span(buffer).first(std::min<uint64_t>(buffer.size(), end - begin)));
    if (!got) return got.error();
    if (*got == 0) break;
    if (std::string_view(buffer).substr(0, *got).find_first_not_of('\0') != std::string_view::npos) return false;
    begin += *got;
  }
  return true;
}

Result<std::unique_ptr<ByteSource>> source_of_file(std::unique_ptr<File> file) {
  auto size = file->size();
  if (!size) return size.error();
  return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(std::move(file), *size));
}

Result<std::unique_ptr<File>> open_plain_file(Disk& disk, const std::string& path) {
  auto stat = disk.stat(path, FollowLinks::yes);
  if (!stat) return stat.error();
  if (stat->kind != FileKind::file) {
    return Error{.code = Code::invalid,
                 .message = path +
                            (stat->kind == FileKind::folder ? " is a folder" : " is a device, a FIFO or a socket") +
                            ", not an archive"};
  }
  return disk.open(path, {});
}

std::unique_ptr<ByteSource> source_of_bytes(std::string bytes) {
  return std::make_unique<BytesSource>(std::move(bytes));
}

std::unique_ptr<ByteSource> source_of_view(std::string_view bytes) { return std::make_unique<ViewSource>(bytes); }

std::optional<ArchiveFormat> sniff(std::string_view first_bytes) {
  if (first_bytes.starts_with("hsqs")) return ArchiveFormat::squashfs;
  if (first_bytes.starts_with("PK\x03\x04")) return ArchiveFormat::zip;
  if (first_bytes.starts_with("\x1f\x8b")) return ArchiveFormat::tar_gz;
  if (first_bytes.starts_with("\x28\xb5\x2f\xfd")) return ArchiveFormat::tar_zst;
  if (auto behind = behind_passed_over(first_bytes); behind.size() < first_bytes.size()) {
    return is_lz4(behind) ? std::nullopt : std::optional(ArchiveFormat::tar_zst);
  }
  if (is_tar(first_bytes)) return ArchiveFormat::tar;
  return std::nullopt;
}

std::optional<ArchiveFormat> sniff_for_search(std::string_view first_bytes) {
  // Two letters alone are no gzip: its method is always 8, and three of its flags are never set.
  if (first_bytes.starts_with("\x1f\x8b")) {
    const bool is_gzip = first_bytes.size() > 3 && first_bytes[2] == 8 && (first_bytes[3] & 0xe0) == 0;
    return is_gzip ? std::optional(ArchiveFormat::tar_gz) : std::nullopt;
  }
  if (first_bytes.starts_with(std::string_view("\xfd"
                                               "7zXZ\0",
                                               6)))
    return ArchiveFormat::tar_xz;
  if (first_bytes.starts_with("BZh") && first_bytes.substr(4).starts_with("1AY&SY")) return ArchiveFormat::tar_bz2;
  if (is_lz4(behind_passed_over(first_bytes))) return ArchiveFormat::tar_lz4;
  if (is_lzma(first_bytes)) return ArchiveFormat::tar_lzma;
  // A file of zeros begins as an empty tar does.
  if (first_bytes.find_first_not_of('\0') == std::string_view::npos) return std::nullopt;
  return sniff(first_bytes);
}

std::optional<std::string_view> sniff_unread(std::string_view first_bytes) {
  struct Kind {
    std::string_view letters, name;
  };
  static constexpr std::array kKinds = {Kind{"7z\xbc\xaf\x27\x1c", "7z"},
                                        Kind{"Rar!\x1a\x07", "RAR"},
                                        Kind{{"MSCF\0\0\0\0", 8}, "cabinet"},
                                        Kind{"LZIP\x01", "lzip"},
                                        Kind{"\x1f\x9d", "compress"},
                                        Kind{"!<arch>\ndebian-binary", "Debian package"},
                                        Kind{"070701", "cpio"},
                                        Kind{"070702", "cpio"},
                                        Kind{"xar!", "xar"},
                                        Kind{"sqsh", "SquashFS of another byte order"}};
  for (const Kind& kind : kKinds) {
    if (first_bytes.starts_with(kind.letters)) return kind.name;
  }
  return std::nullopt;
}

Result<std::unique_ptr<RawReader>> open_for_search(std::unique_ptr<ByteSource> source, const ArchiveLimits& limits,
                                                   std::function<void(std::string_view)> on_unpacked) {
  std::string first(kSniffBytes, '\0');
  auto got = source->read_at(0, first);
  if (!got) return got.error();
  first.resize(*got);
  auto format = sniff_for_search(first);
  if (!format) return Error{.code = Code::invalid, .message = "it is not an archive that Sluice can read"};
  if (*format == ArchiveFormat::squashfs) return open_squash(std::move(source), limits);
  return open_stream(std::move(source), *format, ReadFor::search, limits, std::move(on_unpacked));
}

Result<std::unique_ptr<ArchiveReader>> open_archive(Disk& disk, const std::string& path, const OpenOptions& options) {
  auto file = open_plain_file(disk, path);
  if (!file) return file.error();
  auto source = source_of_file(*std::move(file));
  if (!source) return source.error();
  return open_archive(*std::move(source), path, options);
}

Result<std::unique_ptr<ArchiveReader>> open_archive(std::unique_ptr<ByteSource> source, const std::string& name,
                                                    const OpenOptions& options) {
  std::string first(kSniffBytes, '\0');
  auto got = source->read_at(0, first);
  if (!got) return got.error();
  first.resize(*got);
  EntryRules rules(name, source->size(), options.limits);
  auto format = sniff(first);
  if (!format) {
    return rules.refuse_all(first.empty() ? "it is empty" : "it is no bundle, tar, tar.gz, tar.zst or zip");
  }
  auto raw = *format == ArchiveFormat::squashfs ? open_squash(std::move(source), options.limits)
                                                : open_stream(std::move(source), *format, ReadFor::use, options.limits);
  if (!raw) return rules.refuse_all(raw.error().message, raw.error().code);
  return std::unique_ptr<ArchiveReader>(
      std::make_unique<CheckedReader>(*std::move(raw), *format, std::move(rules), options));
}

}  // namespace sluice::bundle
