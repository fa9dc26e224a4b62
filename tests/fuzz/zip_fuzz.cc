// Zip archives: read or refused, never believed.
// covers: src/bundle/archive/entry_rules.cc
#include "archive_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  return sluice::bundle::check_archive(bytes, size, {sluice::bundle::ArchiveFormat::zip});
}
