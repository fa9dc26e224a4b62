// What a pack.yaml and a credentials.yaml may say.
#include "pack/pack_manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::pack {
namespace pack_manifest_test {
using testing::HasSubstr;

std::string refused(const std::string& kind, const std::string& slot, const std::string& more = "") {
  auto pack = parse_pack("schema: sluice.pack.v1\nkind: " + kind + "\nslot: " + slot +
                         "\nconcept: a.concept\nrun: [./a]\n" + more);
  return pack ? "" : to_string(pack.error());
}

TEST(PackManifest, IsReadStrictly) {
  EXPECT_EQ(refused("acme.telemetry.a@1.0.0", "telemetry"), "");
  EXPECT_THAT(refused("acme.telemetry.a", "telemetry"), HasSubstr("it has no @ and version"));
  EXPECT_THAT(refused("sluice.telemetry.a@1.0.0", "telemetry"), HasSubstr("are part of Sluice"));
  EXPECT_THAT(refused("acme.telemetry.a@1.0.0", "kitchen"), HasSubstr("there is no slot \"kitchen\""));
  EXPECT_THAT(refused("acme.telemetry.a@1.0.0", "telemetry", "colour: red\n"), HasSubstr("colour"));
  EXPECT_THAT(refused("acme.telemetry.a@1.0.0", "telemetry", "proofs: [{ fixture: a, query: b }]\n"),
              HasSubstr("by what it \"answers\""));
}

TEST(PackCredentials, AreReadStrictly) {
  const std::string head = "schema: sluice.deployer-credentials.v1\ndeployer_kind: acme.deployer.d@1.0.0\n";
  auto good = parse_credentials(head + "requirements: [{ capability: a, description: b, fix: c }]\n", "c.yaml");
  ASSERT_TRUE(good) << to_string(good.error());
  EXPECT_EQ(good->requirements.size(), 1U);
  auto twice = parse_credentials(head +
                                     "requirements: [{ capability: a, description: b, fix: c }, "
                                     "{ capability: a, description: b, fix: c }]\n",
                                 "c.yaml");
  EXPECT_THAT(to_string(twice.error()), HasSubstr("\"a\" is there twice"));
}

}  // namespace pack_manifest_test
}  // namespace sluice::pack
