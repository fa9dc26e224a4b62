// libarchive is given exactly the format that the first bytes told, so that nothing else of it is reached by hostile
// input. Of a tar one of it decompresses (bundle/archive/tar_bytes.h) and another one reads; a TarWatch stands between
// them.
#include "bundle/archive/stream_reader.h"

#include <archive_entry.h>
#include <locale.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "bundle/archive/byte_feed.h"
#include "bundle/archive/entry_rules.h"
#include "bundle/archive/tar_bytes.h"
#include "bundle/archive/tar_watch.h"
#include "bundle/archive/zip_directory.h"

namespace sluice::bundle {

namespace {

constexpr uint64_t kMaxPaddingBytes = 64 << 20;  // behind the end of a tar

// libarchive turns names into the character set of the thread's locale. Making one reads files, so a reader makes it
// once and uses it for each name.
class Utf8Locale {
 public:
  Utf8Locale() : ours_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {}
  ~Utf8Locale() {
    if (ours_ != nullptr) ::freelocale(ours_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

  // This thread's, while it lives.
  class Use {
   public:
    explicit Use(const Utf8Locale& locale) : before_(locale.ours_ == nullptr ? nullptr : ::uselocale(locale.ours_)) {}
    ~Use() {
      if (before_ != nullptr) ::uselocale(before_);
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    locale_t before_;
  };

 private:
  locale_t ours_;
};

bool same_name(const std::string& ours, const std::string& theirs) {
  auto bare = [](std::string_view name) {
    while (name.size() > 1 && name.ends_with('/')) name.remove_suffix(1);
    return name;
  };
  return bare(ours) == bare(theirs) || folded(bare(ours)) == folded(bare(theirs));
}

// What all formats of libarchive share: entries, and contents with the gaps of sparse files filled.
class StreamReader : public RawReader {
 public:
  explicit StreamReader(ArchiveFormat format) : format_(format), archive_(archive_read_new()) {}

  Result<std::optional<RawEntry>> next() override {
    Utf8Locale::Use utf8(locale_);
    zeros_left_ = 0;
    held_ = {};
    given_ = 0;
    struct archive_entry* entry = nullptr;
    int status = archive_read_next_header(archive_.get(), &entry);
    if (status == ARCHIVE_EOF) {
      if (auto whole = finish(); !whole) return whole.error();
      return std::optional<RawEntry>();
    }
    if (status != ARCHIVE_OK) return broken();
    RawEntry raw = raw_entry(entry);
    if (auto corrected = correct(raw); !corrected) return corrected.error();
    return std::optional<RawEntry>(std::move(raw));
  }

  // A sparse file comes in pieces with gaps between them, which are zeros.
  Result<std::string_view> read() override {
    if (zeros_left_ > 0) {
      size_t size = std::min<uint64_t>(zeros_left_, kZeros.size());
      zeros_left_ -= size;
      given_ += size;
      return std::string_view(kZeros.data(), size);
    }
    if (!held_.empty()) {
      given_ += held_.size();
      return std::exchange(held_, {});
    }
    const void* bytes = nullptr;
    size_t size = 0;
    la_int64_t offset = 0;
    do {
      int status = archive_read_data_block(archive_.get(), &bytes, &size, &offset);
      if (status == ARCHIVE_EOF) {
        // The gap at the end of a sparse file: where it ends is said by its size alone.
        if (sparse_size_ > given_) {
          zeros_left_ = sparse_size_ - given_;
          sparse_size_ = 0;
          return read();
        }
        return std::string_view();
      }
      if (status != ARCHIVE_OK) return broken();
    } while (size == 0);
    if (offset < 0 || static_cast<uint64_t>(offset) < given_) return Error{.message = "the archive is damaged"};
    held_ = {static_cast<const char*>(bytes), size};
    zeros_left_ = static_cast<uint64_t>(offset) - given_;
    return read();
  }

 protected:
  Result<void> open_with(void* self, archive_read_callback* on_read) {
    Utf8Locale::Use utf8(locale_);
    archive_read_set_callback_data(archive_.get(), self);
    archive_read_set_read_callback(archive_.get(), on_read);
    if (archive_read_open1(archive_.get()) != ARCHIVE_OK) return broken();
    return {};
  }
  struct archive* archive() { return archive_.get(); }
  Error broken() { return source_error() ? *source_error() : explain(archive_.get(), format_); }

  virtual std::optional<Error> source_error() const = 0;
  // Puts names in place as the archive has them.
  virtual Result<void> correct(RawEntry& raw) = 0;
  // After the last entry.
  virtual Result<void> finish() = 0;

 private:
  static constexpr std::array<char, 4096> kZeros{};

  RawEntry raw_entry(struct archive_entry* entry) {
    RawEntry raw;
    const char* path = archive_entry_pathname(entry);
    if (path == nullptr) path = archive_entry_pathname_utf8(entry);
    if (path != nullptr) raw.path = path;
    if (archive_format(archive_.get()) == ARCHIVE_FORMAT_RAW) raw.path = "content";
    if (archive_entry_size_is_set(entry) && archive_entry_size(entry) >= 0) {
      raw.size = static_cast<uint64_t>(archive_entry_size(entry));
    }
    raw.executable = (archive_entry_perm(entry) & S_IXUSR) != 0;
    sparse_size_ = archive_entry_sparse_count(entry) > 0 ? raw.size.value_or(0) : 0;
    if (const char* target = archive_entry_hardlink(entry); target != nullptr) {
      raw.kind = RawEntry::Kind::hard_link;
      raw.target = target;
      return raw;
    }
    switch (archive_entry_filetype(entry)) {
      case AE_IFDIR:
        raw.kind = RawEntry::Kind::dir;
        break;
      case AE_IFLNK:
        raw.kind = RawEntry::Kind::symlink;
        if (const char* target = archive_entry_symlink(entry); target != nullptr) raw.target = target;
        break;
      case AE_IFCHR:
      case AE_IFBLK:
        raw.kind = RawEntry::Kind::device;
        break;
      case AE_IFIFO:
        raw.kind = RawEntry::Kind::fifo;
        break;
      case AE_IFSOCK:
        raw.kind = RawEntry::Kind::socket;
        break;
      case AE_IFREG:
        raw.kind = RawEntry::Kind::file;
        break;
      default:
        raw.kind = RawEntry::Kind::device;  // a type of its own, which nobody here knows
    }
    return raw;
  }

  ArchiveFormat format_;
  Utf8Locale locale_;
  ReadArchive archive_;
  std::string_view held_;     // a piece that comes after the zeros before it
  uint64_t zeros_left_ = 0;   // of the gap before `held_`, or at the end
  uint64_t given_ = 0;        // bytes of the file that read() has given
  uint64_t sparse_size_ = 0;  // of a sparse file
};

class TarReader final : public StreamReader {
 public:
  TarReader(std::unique_ptr<ByteSource> source, ArchiveFormat format, ReadFor why,
            std::function<void(std::string_view)> on_unpacked)
      : StreamReader(format),
        bytes_(std::move(source), format),
        why_(why),
        on_unpacked_(format == ArchiveFormat::tar ? nullptr : std::move(on_unpacked)) {}

  Result<void> open() {
    struct archive* reader = archive();
    if (reader == nullptr) return Error{.code = Code::limit, .message = "there is not enough memory to read it"};
    archive_read_support_format_tar(reader);
    if (why_ == ReadFor::search) {
      archive_read_support_format_raw(reader);
      archive_read_support_format_empty(reader);
      archive_read_set_format_option(reader, "tar", "read_concatenated_archives", "1");
    }
    if (auto opened = bytes_.open(); !opened) return opened;
    return open_with(this, &TarReader::on_read);
  }

  Result<std::vector<ByteRange>> beside() override {
    auto padded = only_padding(bytes_.source(), bytes_.used(), bytes_.source().size());
    if (!padded) return padded.error();
    if (*padded) return std::vector<ByteRange>();
    return std::vector<ByteRange>{{bytes_.used(), bytes_.source().size(), "behind what is compressed"}};
  }

 private:
  std::optional<Error> source_error() const override { return failed_; }

  Result<void> correct(RawEntry& raw) override {
    if (why_ == ReadFor::search) return {};
    auto names = watch_.take();
    if (!names || !same_name(names->path.substr(0, names->path.find('\0')), raw.path)) {
      return Error{.code = Code::invalid, .message = "the archive is damaged: a header cannot be read in one way only"};
    }
    raw.path = std::move(names->path);
    const bool links = raw.kind == RawEntry::Kind::symlink || raw.kind == RawEntry::Kind::hard_link;
    if (links) raw.target = std::move(names->link);
    return {};
  }

  // What is left is padding, and the end of what is compressed, which must be there.
  Result<void> finish() override {
    bool at_end = false;
    for (uint64_t read = 0; !at_end && read < kMaxPaddingBytes;) {
      auto piece = bytes_.next();
      if (!piece) return piece.error();
      at_end = piece->empty();
      passes(*piece);
      read += piece->size();
    }
    const bool is_used = why_ == ReadFor::use;
    if (is_used && !watch_.ended()) return ends_early(": a tar ends with two blocks of zeros, this one does not");
    if ((is_used && watch_.has_more()) || !at_end) {
      return Error{.code = Code::invalid, .message = "there is something behind the end of its tar"};
    }
    return {};
  }

  void passes(std::string_view piece) {
    if (why_ == ReadFor::use) watch_.feed(piece);
    if (on_unpacked_) on_unpacked_(piece);
  }

  static la_ssize_t on_read(struct archive* reader, void* self, const void** bytes) {
    auto& tar = *static_cast<TarReader*>(self);
    auto piece = tar.bytes_.next();
    if (!piece) {
      tar.failed_ = piece.error();
      archive_set_error(reader, EIO, "%s", "cannot read");
      return -1;
    }
    tar.passes(*piece);
    *bytes = piece->data();
    return static_cast<la_ssize_t>(piece->size());
  }

  TarBytes bytes_;
  ReadFor why_;
  std::function<void(std::string_view)> on_unpacked_;
  TarWatch watch_;
  std::optional<Error> failed_;
};

class ZipReader final : public StreamReader {
 public:
  ZipReader(std::unique_ptr<ByteSource> source, ReadFor why)
      : StreamReader(ArchiveFormat::zip), feed_(std::move(source)), why_(why) {}

  Result<void> open(const ArchiveLimits& limits) {
    max_entries_ = limits.max_entries;
    struct archive* reader = archive();
    if (reader == nullptr) return Error{.code = Code::limit, .message = "there is not enough memory to read it"};
    if (why_ == ReadFor::use) {
      auto listed = read_zip_directory(feed_.source(), limits);
      if (!listed) return listed.error();
      if (*listed) listed_ = *std::move(*listed);
    } else {
      auto entries = count_zip_entries(feed_.source(), limits.max_entries);
      if (!entries) return entries.error();
      if (*entries > limits.max_entries) {
        return Error{.code = Code::limit,
                     .message = "it has more than " + std::to_string(limits.max_entries) + " entries"};
      }
    }
    archive_read_support_format_zip_seekable(reader);
    archive_read_set_skip_callback(reader, &ByteFeed::on_skip);
    archive_read_set_seek_callback(reader, &ByteFeed::on_seek);
    return open_with(&feed_, &ByteFeed::on_read);
  }

  Result<std::vector<ByteRange>> beside() override { return zip_gaps(feed_.source(), max_entries_); }

 private:
  std::optional<Error> source_error() const override { return feed_.failed(); }

  // The name that libarchive tells stands before the entry; the directory must have the same.
  Result<void> correct(RawEntry& raw) override {
    if (why_ == ReadFor::search) return {};
    if (next_ == listed_.size()) return Error{.code = Code::invalid, .message = "an entry is not in its directory"};
    ZipListing& listed = listed_[next_++];
    const std::string name = listed.name.substr(0, listed.name.find('\0'));
    std::string with_slashes = name;
    std::ranges::replace(with_slashes, '\\', '/');  // as some have written them; libarchive turns them
    if (!same_name(name, raw.path) && !same_name(with_slashes, raw.path)) {
      return Error{.code = Code::invalid,
                   .message = json_quoted(raw.path) + ": its directory calls it " + json_quoted(listed.name)};
    }
    if (same_name(name, raw.path)) raw.path = std::move(listed.name);
    if (raw.kind != RawEntry::Kind::symlink) return {};
    if (listed.target && folded(listed.target->substr(0, listed.target->find('\0'))) == folded(raw.target)) {
      raw.target = *std::move(listed.target);
    } else if (listed.size != raw.target.size()) {
      return Error{.code = Code::invalid,
                   .message = json_quoted(raw.path) + ": the symlink's target has another length than it says"};
    }
    return {};
  }
  Result<void> finish() override { return {}; }

  ByteFeed feed_;
  ReadFor why_;
  uint64_t max_entries_ = 0;
  std::vector<ZipListing> listed_;
  size_t next_ = 0;
};

}  // namespace

Result<std::unique_ptr<RawReader>> open_stream(std::unique_ptr<ByteSource> source, ArchiveFormat format, ReadFor why,
                                               const ArchiveLimits& limits,
                                               std::function<void(std::string_view)> on_unpacked) {
  if (format == ArchiveFormat::zip) {
    auto reader = std::make_unique<ZipReader>(std::move(source), why);
    if (auto opened = reader->open(limits); !opened) return opened.error();
    return std::unique_ptr<RawReader>(std::move(reader));
  }
  auto reader = std::make_unique<TarReader>(std::move(source), format, why, std::move(on_unpacked));
  if (auto opened = reader->open(); !opened) return opened.error();
  return std::unique_ptr<RawReader>(std::move(reader));
}

}  // namespace sluice::bundle
