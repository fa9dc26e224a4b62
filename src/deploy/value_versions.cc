// One file, of 32 bytes.
#include "deploy/value_versions.h"

#include <array>

#include "base/atomic_file.h"
#include "crypto/hex.h"
#include "crypto/hmac.h"

namespace sluice::deploy {

Result<std::string> ValueVersions::of(const std::string& environment, const std::string& name, std::string_view value) {
  constexpr size_t kBytes = 32, kShown = 16;
  std::lock_guard lock(mutex_);
  auto key = read_file(disk_, path_, kBytes);
  if (!key && key.error().code != Code::not_found) return key.error();
  if (!key) {
    std::array<uint8_t, kBytes> bytes{};
    random_.fill(bytes);
    key = std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    auto made = disk_.make_folder(folder_of(path_), 0700);
    if (!made && made.error().code != Code::conflict) return made.error();
    if (auto kept = write_atomically(disk_, path_, *key, 0600); !kept) return kept.error();
  }
  const crypto::Mac mac = crypto::Hmac(*key).mac(environment + "\n" + name + "\n" + std::string(value));
  return crypto::to_hex(mac).substr(0, 2 * kShown);
}

}  // namespace sluice::deploy
