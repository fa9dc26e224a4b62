// What a pin's history has of the secrets of the revision that it leads to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deploy/concepts/pin/testing_pin.h"
#include "revision.gen.h"

namespace sluice::deploy::pin {
namespace pin_secrets_test {

using testing::HasSubstr;
using PinSecrets = PinFixture;

TEST_F(PinSecrets, OthersAreAnEntryOfTheHistory) {
  const PinId id = pinned("dev", "shop-2");
  EXPECT_EQ(harness.invoke(Witness{.pin = PinId("none")}).as<Witness::Ok>().facts, "");
  state().locks(id).push({.number = 1, .release = "shop-2", .target = "[]", .revision = "r1"});
  const auto version = [&](const std::string& number) {
    revision::State(harness.rows())
        .secret_versions(revision::RevisionId("r1"))
        .assign({{"TOKEN", "shop/TOKEN", number}});
    revision::State(harness.rows()).put(revision::RevisionId("r1"), {.bundleDigest = "sha256:1"});
    EXPECT_THAT(harness.invoke(Witness{.pin = id}).as<Witness::Ok>().facts, HasSubstr("shop/TOKEN"));
    return state().locks(id).values();
  };
  EXPECT_EQ(version("1").size(), 1U);
  EXPECT_EQ(version("1").size(), 1U);
  const auto locks = version("2");
  ASSERT_EQ(locks.size(), 2U);
  EXPECT_THAT(locks[0].facts, HasSubstr(R"("version":"1")"));
  EXPECT_THAT(locks[1].facts, HasSubstr(R"("version":"2")"));
  EXPECT_EQ(locks[1].release, "shop-2");
}

}  // namespace pin_secrets_test
}  // namespace sluice::deploy::pin
