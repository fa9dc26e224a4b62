// What is wrong before any registry is asked. The rest is in tests/oci, with real ones.
#include "cli/nouns/bundles/bundles_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing_objects.h"

namespace sluice::cli {
namespace bundles_registry_test {

using testing::HasSubstr;

TEST(BundlesRegistry, AReferenceThatIsNoneIsRefused) {
  ObjectsHome home;
  for (const char* verb : {"push", "pull"}) {
    std::vector<std::string> line = {"bundles", verb};
    if (std::string(verb) == "push") line.push_back("shop.bundle");
    line.push_back("oci://registry.example/Shop");
    Ran refused = home.run(line);
    EXPECT_EQ(refused.exit, 1);
    EXPECT_THAT(refused.err, HasSubstr("write it as HOST/REPOSITORY:TAG"));
  }
}

TEST(BundlesRegistry, AnArchiveThatIsNotThereIsNotPushed) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"bundles", "push", "/nowhere/shop.bundle", "oci://127.0.0.1:1/shop"}).exit, 5);
}

TEST(BundlesRegistry, ARegistryThatIsAwayIsUnavailable) {
  ObjectsHome home;
  Ran refused = home.run({"bundles", "pull", "oci://127.0.0.1:1/shop", "--out", home.folder.path("shop.bundle")});
  EXPECT_EQ(refused.exit, 1);
  EXPECT_THAT(refused.err, HasSubstr("Connection refused"));
}

}  // namespace bundles_registry_test
}  // namespace sluice::cli
