// Keys that everybody has.
#include "bundle/secrets/known_keys.h"

#include <gtest/gtest.h>

namespace sluice::bundle {
namespace known_keys_test {

TEST(KnownKeys, AreAlsoThoseThatSpecificationsShow) {
  EXPECT_TRUE(is_public_test_key("sha256:01234f53d0eaa35b13763030c3926a6b58d325369c21c3eb2a4dcbcc85be8785"));
  EXPECT_TRUE(is_public_test_key("sha256:ea9f5f797d63d4278896c1533b0545113d8585a8f9fc26808d9acbf2ce1ceed8"));
}

TEST(KnownKeys, AreKnownByTheirHashAlone) {
  EXPECT_TRUE(is_public_test_key("sha256:0b4b2faf9bb90b4036494aa149751fe77f9e03801d21d4490e9006c03e925702"));
  EXPECT_TRUE(is_public_test_key("sha256:e7e94469f7150deee1e9f5ef9d4fa16634ca44cd4a4a9aff4b4e08dc50f77cd7"));
  EXPECT_FALSE(is_public_test_key("sha256:0000000000000000000000000000000000000000000000000000000000000000"));
  EXPECT_FALSE(is_public_test_key(""));
}

}  // namespace known_keys_test
}  // namespace sluice::bundle
