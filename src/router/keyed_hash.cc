// As in Aumasson and Bernstein's paper, with one round a word and three at the end.
#include "router/keyed_hash.h"

#include <bit>
#include <cstring>

#include "base/random.h"

namespace sluice::router {
namespace {

struct SipState {
  uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
};

}  // namespace

HashKey random_hash_key(Random& random) { return {random.u64(), random.u64()}; }

uint64_t keyed_hash(const HashKey& key, std::string_view bytes) {
  SipState state{key.first ^ 0x736f6d6570736575, key.second ^ 0x646f72616e646f6d, key.first ^ 0x6c7967656e657261,
                 key.second ^ 0x7465646279746573};
  size_t whole = bytes.size() & ~size_t{7};
  for (size_t at = 0; at < whole; at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    state.v3 ^= word;
    state.round();
    state.v0 ^= word;
  }
  uint64_t last = static_cast<uint64_t>(bytes.size()) << 56;
  for (size_t at = whole; at < bytes.size(); ++at) {
    last |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[at])) << (8 * (at - whole));
  }
  state.v3 ^= last;
  state.round();
  state.v0 ^= last;
  state.v2 ^= 0xff;
  for (int i = 0; i < 3; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace sluice::router
