// SquashWriter writes a SquashFS 4.0 image with zstd by libsquashfs: the archive of a bundle. The same entries give the
// same bytes, whatever the order of time, the machine's clock, its users and the number of threads: entries come
// sorted, times and owners are zero, the level is fixed and recorded in the image.
//
//   auto writer = SquashWriter::begin(file, workers);
//   (*writer)->begin_file("bin/app"); (*writer)->append(bytes); … (*writer)->end_file();
//   (*writer)->finish(tree);       // files that were written, and the folders and symlinks of the tree
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/disk.h"
#include "base/result.h"
#include "bundle/archive/tree.h"

namespace sluice::bundle {

constexpr uint32_t kSquashBlockBytes = 128 * 1024;
constexpr uint32_t kSquashZstdLevel = 3;

class SquashWriter {
 public:
  virtual ~SquashWriter() = default;

  // The file is empty and outlives the writer; it must be readable too, as blocks that occur twice are compared. Blocks
  // are compressed by so many threads beside the caller's.
  static Result<std::unique_ptr<SquashWriter>> begin(File& file, unsigned workers);

  virtual Result<void> begin_file(const std::string& path) = 0;  // each path once
  virtual Result<void> append(std::string_view bytes) = 0;
  virtual Result<void> end_file() = 0;

  // Writes the folders. Every file of the tree must have been written, and no other. Nothing may be called after it.
  virtual Result<void> finish(const Tree& tree) = 0;
};

}  // namespace sluice::bundle
