// SipHash-1-3: a fast hash that a stranger cannot steer as long as its key is secret. For the routing table, for
// cookies that were seen before, and, with a key that all routers share, for the bucket of a session key.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice {
class Random;
}

namespace sluice::router {

struct HashKey {
  uint64_t first = 0;
  uint64_t second = 0;
};

HashKey random_hash_key(Random& random);

uint64_t keyed_hash(const HashKey& key, std::string_view bytes);

// A hash in two halves of independent keys: as good as the bytes themselves to those who do not know the keys.
struct WideHash {
  uint64_t first = 0;
  uint64_t second = 0;

  bool operator==(const WideHash&) const = default;
};

}  // namespace sluice::router
