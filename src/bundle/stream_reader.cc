// libarchive pulls bytes out of a ByteSource. It is given exactly the format and the filter that the first bytes told,
// so that nothing else of it is reached by hostile input.
#include "bundle/stream_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "bundle/zip_directory.h"

namespace sluice::bundle {

namespace {

constexpr size_t kBufferBytes = 256 * 1024;
constexpr size_t kTarEndBytes = 1024;  // two blocks of zeros end a tar

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

struct FreeArchive {
  void operator()(struct archive* reader) const { archive_read_free(reader); }
};

class StreamReader final : public RawReader {
 public:
  StreamReader(std::unique_ptr<ByteSource> source, ArchiveFormat format)
      : source_(std::move(source)), format_(format), archive_(archive_read_new()) {}

  Result<void> open(bool single_files) {
    Utf8Locale::Use utf8(locale_);
    struct archive* reader = archive_.get();
    if (reader == nullptr) return Error{.code = Code::limit, .message = "there is not enough memory to read it"};
    if (format_ == ArchiveFormat::tar_gz) archive_read_support_filter_gzip(reader);
    if (format_ == ArchiveFormat::tar_zst) archive_read_support_filter_zstd(reader);
    if (format_ == ArchiveFormat::zip) {
      archive_read_support_format_zip_seekable(reader);
    } else {
      archive_read_support_format_tar(reader);
      if (single_files && format_ != ArchiveFormat::tar) archive_read_support_format_raw(reader);
    }
    archive_read_set_callback_data(reader, this);
    archive_read_set_read_callback(reader, &StreamReader::on_read);
    archive_read_set_skip_callback(reader, &StreamReader::on_skip);
    archive_read_set_seek_callback(reader, &StreamReader::on_seek);
    if (auto ends = check_end(); !ends) return ends;
    if (archive_read_open1(reader) != ARCHIVE_OK) return broken();
    return {};
  }

  Result<std::optional<RawEntry>> next() override {
    Utf8Locale::Use utf8(locale_);
    zeros_left_ = 0;
    held_ = {};
    given_ = 0;
    struct archive_entry* entry = nullptr;
    int status = archive_read_next_header(archive_.get(), &entry);
    if (status == ARCHIVE_EOF) return std::optional<RawEntry>();
    if (status != ARCHIVE_OK) return broken();
    return std::optional<RawEntry>(raw_entry(entry));
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

 private:
  static constexpr std::array<char, 64 * 1024> kZeros{};

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

  // libarchive takes a tar that stops between two entries for a whole one.
  Result<void> check_end() {
    if (format_ != ArchiveFormat::tar) return {};
    std::string end(std::min<uint64_t>(kTarEndBytes, source_->size()), '\0');
    auto got = source_->read_at(source_->size() - end.size(), end);
    if (!got) return got.error();
    if (end.size() < kTarEndBytes || end.find_first_not_of('\0') != std::string::npos) {
      return Error{.code = Code::invalid,
                   .message = "the archive ends too early: a tar ends with two blocks of zeros, this one does not"};
    }
    return {};
  }

  Error broken() {
    if (source_error_) return *source_error_;
    const char* said = archive_error_string(archive_.get());
    std::string reason = said == nullptr ? "" : said;
    if (format_ == ArchiveFormat::zip && reason == "Unrecognized archive format") {
      return {.code = Code::invalid, .message = "the archive ends too early: the directory at its end is missing"};
    }
    if (reason.find("runcated") != std::string::npos) {
      return {.code = Code::invalid, .message = "the archive ends too early"};
    }
    if (reason.find("be converted") != std::string::npos) {
      return {.code = Code::invalid, .message = "a name in it is not UTF-8"};
    }
    if (reason == "Unrecognized archive format") {
      return {.code = Code::invalid, .message = "there is no tar in it"};
    }
    return {.code = Code::invalid, .message = "the archive is damaged" + (reason.empty() ? "" : ": " + reason)};
  }

  static la_ssize_t on_read(struct archive* reader, void* self, const void** bytes) {
    auto& stream = *static_cast<StreamReader*>(self);
    auto got = stream.source_->read_at(stream.at_, stream.buffer_);
    if (!got) {
      stream.source_error_ = got.error();
      archive_set_error(reader, EIO, "%s", "cannot read");
      return -1;
    }
    stream.at_ += *got;
    *bytes = stream.buffer_.data();
    return static_cast<la_ssize_t>(*got);
  }

  static la_int64_t on_skip(struct archive*, void* self, la_int64_t request) {
    auto& stream = *static_cast<StreamReader*>(self);
    uint64_t left = stream.source_->size() - std::min(stream.at_, stream.source_->size());
    auto skipped =
        static_cast<la_int64_t>(std::min<uint64_t>(static_cast<uint64_t>(std::max<la_int64_t>(request, 0)), left));
    stream.at_ += static_cast<uint64_t>(skipped);
    return skipped;
  }

  static la_int64_t on_seek(struct archive*, void* self, la_int64_t offset, int whence) {
    auto& stream = *static_cast<StreamReader*>(self);
    auto size = static_cast<la_int64_t>(stream.source_->size());
    la_int64_t base = whence == SEEK_SET ? 0 : whence == SEEK_END ? size : static_cast<la_int64_t>(stream.at_);
    if (offset < -base || offset > size - base) return ARCHIVE_FATAL;
    stream.at_ = static_cast<uint64_t>(base + offset);
    return base + offset;
  }

  std::unique_ptr<ByteSource> source_;
  ArchiveFormat format_;
  Utf8Locale locale_;
  std::unique_ptr<struct archive, FreeArchive> archive_;
  std::string buffer_ = std::string(kBufferBytes, '\0');
  uint64_t at_ = 0;
  std::optional<Error> source_error_;
  std::string_view held_;     // a piece that comes after the zeros before it
  uint64_t zeros_left_ = 0;   // of the gap before `held_`, or at the end
  uint64_t given_ = 0;        // bytes of the file that read() has given
  uint64_t sparse_size_ = 0;  // of a sparse file
};

}  // namespace

Result<std::unique_ptr<RawReader>> open_stream(std::unique_ptr<ByteSource> source, ArchiveFormat format,
                                               bool single_files, uint64_t max_entries) {
  if (format == ArchiveFormat::zip) {
    if (auto sound = check_zip_directory(*source, max_entries); !sound) return sound.error();
  }
  auto reader = std::make_unique<StreamReader>(std::move(source), format);
  if (auto opened = reader->open(single_files); !opened) return opened.error();
  return std::unique_ptr<RawReader>(std::move(reader));
}

}  // namespace sluice::bundle
