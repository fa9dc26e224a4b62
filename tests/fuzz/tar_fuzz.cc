// Tar archives: read or refused, never believed.
// covers: src/bundle/archive/stream_reader.cc src/bundle/archive/tar_bytes.cc src/bundle/archive/byte_feed.cc
#include "archive_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using sluice::bundle::ArchiveFormat;
  return sluice::bundle::check_archive(bytes, size,
                                       {ArchiveFormat::tar, ArchiveFormat::tar_gz, ArchiveFormat::tar_zst});
}
