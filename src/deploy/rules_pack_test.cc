// What an administrator finds in the folder of rules.
#include "deploy/rules_pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "crypto/dsse.h"

namespace sluice::deploy {
namespace rules_pack_test {

class RulesPackTest : public testing::Test {
 protected:
  std::string text(const std::string& name) {
    return read_file(disk, folder.path("rules/prod/" + name), 1 << 20).value();
  }

  RealDisk disk;
  TestingFolder folder;
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  RulesPacks packs{disk, folder.path("rules"), [this] { return crypto::PrivateKey::from_pem(key.to_pem().reveal()); }};
  RulesIndex index{.env_id = "prod", .deployer_kind = "acme.deployer.x@1.0.0", .made_at = "2026-01-01T00:00:00Z"};
};

TEST_F(RulesPackTest, FilesAreNamedByTheirDigestsInASignedIndex) {
  EXPECT_EQ(packs.write(index, {{"roles.json", "{}\n"}}).value(), "rules/prod/rules.json");
  EXPECT_EQ(packs.write(index, {{"roles.json", "{}\n"}}).value(), "rules/prod/rules.json") << "again is harmless";
  EXPECT_EQ(text("roles.json"), "{}\n");
  EXPECT_THAT(text("rules.json"),
              testing::HasSubstr("ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356"));
  auto envelope = crypto::parse_envelope(text("rules.json.sig")).value();
  EXPECT_EQ(envelope.payload, text("rules.json"));
  EXPECT_EQ(envelope.payload_type, kRulesType);
  EXPECT_EQ(crypto::verified_key_ids(envelope, {&key.public_key(), 1}).size(), 1U);
}

TEST_F(RulesPackTest, NamesStayInTheFolder) {
  for (const char* name : {"../x", "a/b", ".hidden", "", "rules.json", "rules.json.sig"}) {
    EXPECT_FALSE(packs.write(index, {{name, "x"}})) << name;
  }
}

}  // namespace rules_pack_test
}  // namespace sluice::deploy
