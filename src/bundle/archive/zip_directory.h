// A look at the directory of a zip before libarchive reads it. libarchive keeps all of the directory in memory, however
// many entries that are, gives FIFOs as empty files, composes accents in names, stops names at a NUL, and believes the
// name that stands before an entry where others believe the directory's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bundle/archive/archive_reader.h"

namespace sluice::bundle {

// An entry as the directory has it.
struct ZipListing {
  std::string name;
  uint64_t offset = 0;                // where the entry begins
  uint64_t size = 0;                  // of its content
  std::optional<std::string> target;  // of a symlink that is not compressed
};

// What is listed, in the order of the entries, which is libarchive's; nothing if there is no directory, for libarchive
// to refuse. Refused: more entries or longer names than the limits allow, another number of them than the end says,
// FIFOs, two entries at one place, and what is compressed, encrypted, summed up or sized otherwise than stands before
// or behind it. Memory is bounded by the limits.
Result<std::optional<std::vector<ZipListing>>> read_zip_directory(ByteSource& source, const ArchiveLimits& limits);

// How many entries are listed, at most `most` + 1; 0 if there is no directory.
Result<uint64_t> count_zip_entries(ByteSource& source, uint64_t most);

// What lies between the entries, the directory and the end: an entry that is not listed, which others may read. More
// than a few are given as one with all that is between them.
Result<std::vector<ByteRange>> zip_gaps(ByteSource& source, uint64_t max_entries);

// Where the zip's own bytes end and its comment begins, if it ends as a zip does.
std::optional<size_t> zip_comment_at(std::string_view bytes);

// Whether the bytes end as a zip does, with a directory where their end says that it is: true of a zip with something
// before it, a program or a script, and hardly of anything else.
bool ends_as_zip(std::string_view bytes);

// Where the last zip in these bytes ends, whatever stands before and behind it; 0 if there is none.
size_t end_of_last_zip(std::string_view bytes);

}  // namespace sluice::bundle
