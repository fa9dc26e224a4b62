// The log is read before the file and once more behind it. If it is the same to the byte, nothing was committed and it
// was not begun anew meanwhile; then all that a checkpoint can have written into the file are pages that the log has,
// and those are taken from the log. So both together are the store as it was at that moment.
#include "store/store_copy.h"

#include <utility>

namespace sluice::store {
namespace {

constexpr int kAttempts = 20;

// Empty if there is none.
Result<std::string> bytes_of(Disk& disk, const std::string& path, uint64_t most_bytes) {
  auto file = disk.open(path, {});
  if (!file && file.error().code == Code::not_found) return std::string();
  if (!file) return file.error();
  auto size = (*file)->size();
  if (!size) return size.error();
  if (*size > most_bytes) {
    return Error{.code = Code::limit, .message = path + " has more than " + std::to_string(most_bytes) + " bytes"};
  }
  std::string bytes(*size, '\0');
  auto got = (*file)->read_at(0, bytes);
  if (!got) return got.error();
  bytes.resize(*got);
  return bytes;
}

Result<void> put(OverlayDisk& overlay, const std::string& path, const std::string& bytes) {
  auto file = overlay.open(path, {.write = true, .create = true, .truncate = true});
  if (!file) return file.error();
  return (*file)->write_at(0, bytes);
}

}  // namespace

Result<std::unique_ptr<OverlayDisk>> copy_store(Disk& disk, const std::string& path, uint64_t most_bytes) {
  const std::string log_path = path + "-wal";
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto log = bytes_of(disk, log_path, most_bytes);
    if (!log) return log.error();
    auto file = bytes_of(disk, path, most_bytes);
    if (!file) return file.error();
    auto again = bytes_of(disk, log_path, most_bytes);
    if (!again) return again.error();
    if (*log != *again) continue;
    auto copy = std::make_unique<OverlayDisk>(disk);
    if (auto kept = put(*copy, path, *file); !kept) return kept.error();
    if (auto kept = put(*copy, log_path, *log); !kept) return kept.error();
    return copy;
  }
  return Error{.code = Code::conflict, .message = path + " is written to all the time"};
}

}  // namespace sluice::store
