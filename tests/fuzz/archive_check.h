// What the fuzz targets of archives share: whatever the bytes, an archive is read or refused in one line, within the
// limits, and what is unpacked has the tree that was read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>

#include "base/testing_volatile_disk.h"
#include "bundle/archive/extract.h"
#include "bundle/trust/verify.h"

namespace sluice::bundle {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

inline int check_archive(const uint8_t* bytes, size_t size, std::initializer_list<ArchiveFormat> formats) {
  std::string text(reinterpret_cast<const char*>(bytes), size);
  // Other formats are other targets' work.
  auto format = sniff(text.substr(0, kSniffBytes));
  if (!format || std::find(formats.begin(), formats.end(), *format) == formats.end()) return 0;
  const OpenOptions options{.limits = {.max_total_bytes = 1 << 20, .max_entries = 200, .max_depth = 16}};
  auto open = [&] { return open_archive(source_of_bytes(text), "fuzz", options); };
  auto reader = open();
  auto tree = reader ? tree_of(**reader) : Result<Tree>(reader.error());
  if (!tree) {
    require(tree.error().message.starts_with("fuzz: "), "a refusal names the archive");
    require(tree.error().message.find('\n') == std::string::npos, "a refusal is one line");
  } else {
    require(tree->total_bytes() <= options.limits.max_total_bytes, "the limit of bytes holds");
    require(tree->entries().size() <= options.limits.max_entries, "the limit of entries holds");
  }
  VolatileDisk disk;
  auto again = open();
  auto unpacked = again ? extract(disk, **again, "/out") : Result<Tree>(again.error());
  require(unpacked.has_value() == tree.has_value(), "what is read can be unpacked, and nothing else");
  require(disk.list("/")->size() == (tree ? 1u : 0u), "all or nothing is there");
  if (tree) require(unpacked->digest() == tree->digest(), "what is unpacked is what was read");
  return 0;
}

}  // namespace sluice::bundle
