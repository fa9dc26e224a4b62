// The file that keeps the id.
#include "deploy/migrate_means.h"

#include <array>

#include "base/atomic_file.h"
#include "crypto/hex.h"

namespace sluice::deploy {

Result<std::string> MigrateMeans::sluice() {
  std::lock_guard lock(making_);
  auto there = disk_.exists(file_);
  if (!there) return there.error();
  if (*there) {
    auto text = read_file(disk_, file_, 1024);
    if (!text) return text.error();
    return text->substr(0, text->find('\n'));
  }
  std::array<uint8_t, 16> bytes{};
  random_.fill(bytes);
  const std::string id = crypto::to_hex(bytes);
  auto written = write_atomically(disk_, file_, id + "\n", 0600);
  if (!written) return written.error();
  return id;
}

}  // namespace sluice::deploy
