// One lock for all threads: it is taken when a connection begins and when it ends, never for a request.
#include "router/address_counts.h"

#include <algorithm>
#include <array>

namespace sluice::router {
namespace {

constexpr size_t kV6Network = 8;
constexpr std::array<uint8_t, 12> kV4Prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

// Four bytes or eight, so that neither takes memory of its own.
std::string key_of(const IpBytes& ip) {
  bool is_v4 = std::equal(kV4Prefix.begin(), kV4Prefix.end(), ip.begin());
  const char* bytes = reinterpret_cast<const char*>(ip.data());
  return is_v4 ? std::string(bytes + kV4Prefix.size(), 4) : std::string(bytes, kV6Network);
}

}  // namespace

bool AddressCounts::enter(const IpBytes& ip, uint64_t limit) {
  std::lock_guard lock(mutex_);
  uint64_t& count = counts_[key_of(ip)];
  if (count >= limit) return false;
  ++count;
  return true;
}

void AddressCounts::leave(const IpBytes& ip) {
  std::lock_guard lock(mutex_);
  auto found = counts_.find(key_of(ip));
  if (found != counts_.end() && --found->second == 0) counts_.erase(found);
}

size_t AddressCounts::addresses() {
  std::lock_guard lock(mutex_);
  return counts_.size();
}

}  // namespace sluice::router
