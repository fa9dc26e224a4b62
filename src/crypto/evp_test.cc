// A call that cannot fail throws when it does, and leaves no stale error behind.
#include "crypto/evp.h"

#include <gtest/gtest.h>

namespace sluice::crypto {
namespace evp_test {

TEST(Evp, MustThrowsAndEmptiesTheErrorQueue) {
  ERR_raise(ERR_LIB_USER, 1);
  EXPECT_NO_THROW(must(true, "EVP_Call"));
  EXPECT_EQ(ERR_peek_error(), 0U);
  ERR_raise(ERR_LIB_USER, 1);
  try {
    must(false, "EVP_Call");
    FAIL() << "must did not throw";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "OpenSSL failed in EVP_Call");
  }
  EXPECT_EQ(ERR_peek_error(), 0U);
}

}  // namespace evp_test
}  // namespace sluice::crypto
