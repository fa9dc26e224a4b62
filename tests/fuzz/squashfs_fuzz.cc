// SquashFS images: read or refused, never believed.
// covers: src/bundle/archive/squash_reader.cc src/bundle/archive/squash_io.cc
#include "archive_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  return sluice::bundle::check_archive(bytes, size, {sluice::bundle::ArchiveFormat::squashfs});
}
