// What stands between two keys is passed over.
#include "cli/public_keys.h"

#include <algorithm>
#include <string_view>

#include "base/atomic_file.h"

namespace sluice::cli {
namespace public_keys {

constexpr size_t kMaxKeyFile = 64 << 10;
constexpr std::string_view kEnd = "-----END PUBLIC KEY-----";

}  // namespace public_keys

Result<std::vector<crypto::PublicKey>> public_keys_in(Disk& disk, const std::string& path) {
  auto text = read_file(disk, path, public_keys::kMaxKeyFile);
  if (!text) return text.error();
  std::vector<crypto::PublicKey> keys;
  constexpr std::string_view kEnd = public_keys::kEnd;
  std::string_view rest = *text;
  for (size_t end = rest.find(kEnd); end != std::string_view::npos; end = rest.find(kEnd)) {
    size_t begin = rest.find("-----BEGIN");
    auto key = crypto::PublicKey::from_pem(
        std::string(rest.substr(std::min(begin, end), end + kEnd.size() - std::min(begin, end))) + "\n");
    if (!key) return key.error();
    keys.push_back(*key);
    rest.remove_prefix(end + kEnd.size());
  }
  if (keys.empty()) return Error{.code = Code::invalid, .message = path + " has no public key in PEM"};
  return keys;
}

}  // namespace sluice::cli
