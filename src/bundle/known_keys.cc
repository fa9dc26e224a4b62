// The list, by hash: the keys themselves would be findings in our own repository.
#include "bundle/known_keys.h"

#include <algorithm>
#include <array>

namespace sluice::bundle {

namespace {

// What libgnutls (Debian 12) signs and verifies with before it is used. In order, so that it can be searched.
constexpr std::array<std::string_view, 10> kSelfTestKeys = {
    "sha256:0b4b2faf9bb90b4036494aa149751fe77f9e03801d21d4490e9006c03e925702",
    "sha256:455772da8332ba5b879a9681ea4e233297ae31fc4ab3d829b610ddfc5cc534cb",
    "sha256:5aeed2dee606667ff541c5ef882c418572e3a65727095f3c41a61a5280ddd39b",
    "sha256:5f8097b0be5b41bdb2841feaa23afbea9427a3a7d3d29400b4586ba7fb9a7826",
    "sha256:6956d57e77874fee9d37dda558c9ce0386289265c362f472bc45b86056a47883",
    "sha256:9b8301c5afac551a21ae272572b2a2aa6f21c7b8e52c5d8f1333ea7f40729938",
    "sha256:a99d57e0dd48ae581dfadb1eb9ecdc76f2181084affa5516529555ecb2908505",
    "sha256:b1db4a1af593e1bd0ae21587e8718928629f8e1c2b710f429b9d47fd58b16f5c",
    "sha256:dbaec4af4e0094e431df076fb1de54626b0dca553e9185f30b2f59a8536c8970",
    "sha256:e7e94469f7150deee1e9f5ef9d4fa16634ca44cd4a4a9aff4b4e08dc50f77cd7",
};
static_assert(std::is_sorted(kSelfTestKeys.begin(), kSelfTestKeys.end()));

}  // namespace

bool is_public_test_key(std::string_view finding_hash) {
  return std::binary_search(kSelfTestKeys.begin(), kSelfTestKeys.end(), finding_hash);
}

}  // namespace sluice::bundle
