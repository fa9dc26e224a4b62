// KeptFiles keeps files outside the folder where they are used, so that another machine can have them: a store in
// PostgreSQL has them as rows. What their bytes mean, and whether they are sealed, is the business of MirroredDisk.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace sluice::store {

struct KeptFile {
  std::string name;
  uint64_t version = 0;  // grows with each change of any file
  uint32_t mode = 0;
  uint64_t size = 0;
  std::vector<std::string> parts;  // the digest of each, in order
  bool gone = false;               // it was removed
};

class KeptFiles {
 public:
  virtual ~KeptFiles() = default;

  // Keeps the file in place of the one with its name. `bytes_of` is asked for those parts that are not there yet.
  virtual Result<void> keep(const KeptFile& file, const std::function<Result<std::string>(size_t part)>& bytes_of) = 0;
  // Removes it, and remembers that.
  virtual Result<void> drop(const std::string& name) = 0;
  // Those that changed after this version, the oldest change first.
  virtual Result<std::vector<KeptFile>> changed_after(uint64_t version) = 0;
  virtual Result<std::string> part(const std::string& name, size_t part, const std::string& digest) = 0;
};

}  // namespace sluice::store
