// ArchiveReader reads what an archive holds, entry by entry and in pieces, whatever its format: SquashFS (gzip, xz,
// lzma, lz4, zstd), tar, tar.gz, tar.zst and zip, told apart by their first bytes. Entries have passed EntryRules, so
// every user of archives refuses the same ones with the same words.
//
//   auto reader = open_archive(disk, "app.bundle");
//   for (;;) {
//     auto entry = (*reader)->next();
//     if (!entry) return entry.error();
//     if (!*entry) break;                                  // the end
//     for (;;) {                                           // of a file, if its content is wanted
//       auto piece = (*reader)->read();
//       if (!piece) return piece.error();
//       if (piece->empty()) break;
//       …
//     }
//   }
//
// An archive is known to be good only when next() has said that it ends: symlinks are judged last. Memory is bounded by
// the limits, never by what the archive says of itself. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "bundle/archive/entry_rules.h"

namespace sluice::bundle {

// Those behind zip are searched for secrets, and not used otherwise.
enum class ArchiveFormat { squashfs, tar, tar_gz, tar_zst, zip, tar_xz, tar_bz2, tar_lz4, tar_lzma };

std::string_view to_string(ArchiveFormat format);

// Where an archive's bytes come from.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Reads until `into` is full or the bytes end, and says how many that were.
  virtual Result<size_t> read_at(uint64_t offset, std::span<char> into) = 0;
  virtual uint64_t size() const = 0;
};

// Whether there is nothing but zeros there, and not more of them than padding takes.
Result<bool> only_padding(ByteSource& source, uint64_t begin, uint64_t end);

Result<std::unique_ptr<ByteSource>> source_of_file(std::unique_ptr<File> file);
// A file to be read; `invalid` if it is something that has no end, or no beginning: a folder, a device, a FIFO.
Result<std::unique_ptr<File>> open_plain_file(Disk& disk, const std::string& path);
std::unique_ptr<ByteSource> source_of_bytes(std::string bytes);
std::unique_ptr<ByteSource> source_of_view(std::string_view bytes);  // which must outlive it

class ArchiveReader {
 public:
  virtual ~ArchiveReader() = default;

  virtual ArchiveFormat format() const = 0;
  // The next entry; none after the last. What was not read of the entry before is passed over.
  virtual Result<std::optional<ArchiveEntry>> next() = 0;
  // The next piece of the content of the file at hand, valid until the next call; empty at its end.
  virtual Result<std::string_view> read() = 0;
};

// What an archive begins with tells its format: as many of its first bytes as there are, up to kSniffBytes. gzip and
// zstd may hold something else than a tar; that shows when it is read.
constexpr size_t kSniffBytes = 512;
std::optional<ArchiveFormat> sniff(std::string_view first_bytes);
std::optional<ArchiveFormat> sniff_for_search(std::string_view first_bytes);
// What kind of archive it is that Sluice knows and does not read: "7z", "RAR".
std::optional<std::string_view> sniff_unread(std::string_view first_bytes);

struct OpenOptions {
  ArchiveLimits limits = {};
  // Told how many more bytes of content were read, for those who show progress.
  std::function<void(uint64_t)> on_bytes = {};
  // Asked often; if it says true, reading ends with an error.
  std::function<bool()> stopped = {};
};

Result<std::unique_ptr<ArchiveReader>> open_archive(Disk& disk, const std::string& path,
                                                    const OpenOptions& options = {});
// `name` is how messages call it.
Result<std::unique_ptr<ArchiveReader>> open_archive(std::unique_ptr<ByteSource> source, const std::string& name,
                                                    const OpenOptions& options = {});

// Bytes of an archive that belong to nothing that its reader reads, and are not only padding.
struct ByteRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  std::string_view where;  // "behind its end"

  bool operator==(const ByteRange&) const = default;
};

// An archive of one format, as it is: open_archive puts the rules in front of it. Messages do not name the archive.
class RawReader {
 public:
  virtual ~RawReader() = default;

  virtual Result<std::optional<RawEntry>> next() = 0;
  virtual Result<std::string_view> read() = 0;
  // After the last entry. Other readers may see other entries there, so what is to be used has none.
  virtual Result<std::vector<ByteRange>> beside() = 0;
};

// An archive that is only looked into: nothing is unpacked, so that what no file system should meet does no harm, and a
// link or a name that occurs twice hides nothing of what lies behind it. Hard links have content if the archive gives
// them one. Of the limits, the number of entries holds; bytes are the caller's to count. `on_unpacked` gets the bytes
// of a tar that was compressed, of which entries are only a part.
Result<std::unique_ptr<RawReader>> open_for_search(std::unique_ptr<ByteSource> source, const ArchiveLimits& limits,
                                                   std::function<void(std::string_view)> on_unpacked = {});

}  // namespace sluice::bundle
