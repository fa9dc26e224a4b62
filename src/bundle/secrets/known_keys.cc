// The list, by hash: the keys themselves would be findings in our own repository.
#include "bundle/secrets/known_keys.h"

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

// What the specifications of OAuth (RFC 5849, RFC 6749) and of JSON Web Tokens show, as their libraries quote them in
// oauthlib, PyJWT and lazr.restfulclient (Debian 12): whoever ships those ships no secret. In order, too.
constexpr std::array<std::string_view, 14> kShownInSpecifications = {
    "sha256:01234f53d0eaa35b13763030c3926a6b58d325369c21c3eb2a4dcbcc85be8785",
    "sha256:288e905314b9c01b6ca188d74cacb9d51a7745025250b03610a14030ce450650",
    "sha256:59e25d8d29f60041dbdbf2f7b89690d2d92d3bfb9c42a5540cb0d8b8b98dbe8b",
    "sha256:5bc682008de234085a249f22635e4307893d0616d7f927ba1a4a9df4358d87e2",
    "sha256:69260433c53abe84b442aed245dd5fd9519b37a6ca812a4a3fe13071e06ad88d",
    "sha256:6a953b1d84579c9998f5d9e71cbe2393467804fe48405fd7efc3c305cd5d59f6",
    "sha256:6cebee23d03113b95b4785f87b4355c6ac2c1d31a8d9f2d9ab8bf66f2b77aed5",
    "sha256:70a10fdbbba0889b9511b09d907b607fbf5156c98e32fe5db9e377eca93a9dc4",
    "sha256:9e04c1c4d95e77646b9f7dd6fbe36ff962e562ab8742c04f943ac854efb55b88",
    "sha256:ac8010456a2db12b213a4937f98edf2e0692bffb2c786109cb9f6ea63790bf69",
    "sha256:ac96b03b2f01696fc70f1a16986bcb51739bbe4c45725212d4eb67fc06ef3f76",
    "sha256:bad0f5609a8e7ff6709993fb6c7658fc26944edf0fb257a2c93535f678d59f76",
    "sha256:dc0c41818cc014ad98aaf3b5e3b0d56439e74b3baa899a0c6ad2094370f71f1f",
    "sha256:ea9f5f797d63d4278896c1533b0545113d8585a8f9fc26808d9acbf2ce1ceed8",
};
static_assert(std::is_sorted(kShownInSpecifications.begin(), kShownInSpecifications.end()));

}  // namespace

bool is_public_test_key(std::string_view finding_hash) {
  return std::ranges::binary_search(kSelfTestKeys, finding_hash) ||
         std::ranges::binary_search(kShownInSpecifications, finding_hash);
}

}  // namespace sluice::bundle
