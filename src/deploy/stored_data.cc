// The folder may change while it is looked at.
#include "deploy/stored_data.h"

#include <filesystem>

namespace sluice::deploy {

bool StoredData::has(const std::string& name) const {
  std::error_code ignored;
  return !name.empty() && std::filesystem::is_directory(folder_of(name), ignored);
}

uint64_t StoredData::bytes_of(const std::string& name) const {
  uint64_t bytes = 0;
  std::error_code failed;
  std::filesystem::recursive_directory_iterator each(folder_of(name), failed), end;
  for (; !failed && each != end; each.increment(failed)) {
    std::error_code ignored;
    if (!each->is_regular_file(ignored) || each->is_symlink(ignored)) continue;
    if (const uint64_t size = each->file_size(ignored); !ignored) bytes += size;
  }
  return bytes;
}

}  // namespace sluice::deploy
