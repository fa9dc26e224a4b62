// The file that keeps the id.
#include "deploy/migrate_means.h"

#include <array>

#include "base/atomic_file.h"
#include "crypto/hex.h"

namespace sluice::deploy {

MigrateMeans::MigrateMeans(Disk& disk, Random& random, process::Runner& runner, Keys keys, Place place)
    : disk_(disk),
      random_(random),
      runner_(runner),
      keys_(std::move(keys)),
      place_(std::move(place)),
      process_(make_id()) {}

Result<std::string> MigrateMeans::backup_file(const std::string& name) {
  std::lock_guard lock(making_);
  auto there = disk_.exists(place_.backups);
  if (!there) return there.error();
  if (!*there) {
    auto made = disk_.make_folder(place_.backups, 0700);
    if (!made) return made.error();
  }
  return place_.backups + "/" + name + ".backup";
}

std::string MigrateMeans::make_id() {
  std::array<uint8_t, 16> bytes{};
  random_.fill(bytes);
  return crypto::to_hex(bytes);
}

Result<std::string> MigrateMeans::sluice() {
  std::lock_guard lock(making_);
  auto there = disk_.exists(place_.id);
  if (!there) return there.error();
  if (*there) {
    auto text = read_file(disk_, place_.id, 1024);
    if (!text) return text.error();
    return text->substr(0, text->find('\n'));
  }
  const std::string id = make_id();
  auto written = write_atomically(disk_, place_.id, id + "\n", 0600);
  if (!written) return written.error();
  return id;
}

}  // namespace sluice::deploy
