// With whose key commands sign.
#include "cli/signing_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_door.h"
#include "cli/home_trust.h"
#include "cli/testing_context.h"
#include "crypto/key_file.h"
#include "deploy/deploy_kit.h"

namespace sluice::cli {
namespace signing_key_test {

TEST(SigningKey, OfANewHomeIsTrustedForLocalAndStaysTheSame) {
  TestingContext testing(deploy::concepts(), "bundles sign");
  auto key = signing_key(testing.context);
  ASSERT_TRUE(key) << to_string(key.error());
  EXPECT_THAT(testing.err.str(), ::testing::HasSubstr("made the operator's key " + key->public_key().key_id() +
                                                      ", trusted for all bundles in local\n"));
  auto root = trust_root_of_home(testing.context);
  ASSERT_TRUE(root) << to_string(root.error());
  ASSERT_EQ(root->keys.size(), 1U);
  EXPECT_EQ(root->keys[0].key, key->public_key());
  EXPECT_EQ(root->keys[0].environments, std::vector<std::string>{"local"});
  testing.err.str("");
  EXPECT_EQ(signing_key(testing.context)->public_key(), key->public_key());
  EXPECT_EQ(testing.err.str(), "");
}

TEST(SigningKey, ThatIsLostIsMadeAnewAndSaysHowItIsTrusted) {
  TestingContext testing(deploy::concepts(), "bundles sign");
  auto lost = signing_key(testing.context);
  ASSERT_TRUE(lost) << to_string(lost.error());
  ASSERT_TRUE(testing.disk.remove(testing.folder.path("home/keys/operator.pem")));
  testing.err.str("");
  auto made = signing_key(testing.context);
  ASSERT_TRUE(made) << to_string(made.error());
  const std::string id = made->public_key().key_id();
  EXPECT_NE(id, lost->public_key().key_id());
  EXPECT_THAT(testing.err.str(), ::testing::HasSubstr("is gone: a new one is made, which nobody trusts yet"));
  const std::string advice = "warning: the operator's key " + id +
                             " is not trusted here, so what it signs is not either\n"
                             "next:  sluice trust bootstrap --env local trusts it\n";
  EXPECT_THAT(testing.err.str(), ::testing::HasSubstr(advice));
  testing.err.str("");
  ASSERT_TRUE(signing_key(testing.context));
  EXPECT_EQ(testing.err.str(), advice) << "as long as it is so";
}

TEST(SigningKey, NeedsNoLockOnceSomebodyIsTrusted) {
  TestingContext testing(deploy::concepts(), "bundles sign");
  testing.given.set("lock-timeout", "0s");
  {
    auto holder = CommandDoor::open(testing.context);
    ASSERT_TRUE((*holder)->call("Env/open", {}));
    EXPECT_EQ(signing_key(testing.context).error().code, Code::conflict) << "who is trusted must be written down";
  }
  auto key = signing_key(testing.context);
  ASSERT_TRUE(key) << to_string(key.error());
  auto holder = CommandDoor::open(testing.context);
  ASSERT_TRUE((*holder)->call("Env/open", {}));
  auto again = signing_key(testing.context);
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(again->public_key(), key->public_key());
}

TEST(SigningKey, CanBeAFileAndThenNeedsNoHome) {
  TestingContext testing(deploy::concepts(), "bundles sign");
  auto key = crypto::PrivateKey::generate();
  ASSERT_TRUE(crypto::store_private_key(testing.disk, testing.folder.path("ann.pem"), key));
  testing.given.set("key", testing.folder.path("ann.pem"));
  EXPECT_EQ(signing_key(testing.context)->public_key(), key.public_key());
  EXPECT_FALSE(*testing.disk.exists(testing.folder.path("home")));
}

}  // namespace signing_key_test
}  // namespace sluice::cli
