// A file in memory that all who map it share, and that outlives them: what is stored in it survives a kill -9 at once,
// though not a power cut.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace sluice::router {

class MappedFile {
 public:
  // Maps the file at exactly that size, with mode 0600; it is made, filled with zeros and not taking room on disk, if
  // it is not there. `made` says so. Another size is `conflict`.
  static Result<MappedFile> open(const std::string& path, size_t size);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  char* bytes() { return bytes_; }
  size_t size() const { return size_; }
  bool made() const { return made_; }

 private:
  MappedFile(char* bytes, size_t size, bool made) : bytes_(bytes), size_(size), made_(made) {}

  char* bytes_;
  size_t size_;
  bool made_;
};

}  // namespace sluice::router
