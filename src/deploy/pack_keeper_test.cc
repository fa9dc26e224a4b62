// What is refused leaves nothing on the shelf.
#include "deploy/pack_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "pack/testing_packs.h"

namespace sluice::deploy {
namespace pack_keeper_test {
using testing::HasSubstr;

struct PackKeeperTest : testing::Test {
  TestingFolder folder;
  RealDisk disk;
  sluice::pack::PackShelf shelf{disk, folder.path()};
  std::string misfit;
  PackKeeper keeper{disk, shelf, [this](const sluice::pack::Pack&) {
                      return misfit.empty() ? Result<void>() : Result<void>(Error{.message = misfit});
                    }};

  size_t kept() {
    return shelf.all([](const std::string&) {}).size();
  }
};

TEST_F(PackKeeperTest, AMisfitIsTakenDownAgain) {
  const std::string source = sluice::pack::write_pack(folder.path("a"), "acme.telemetry.a@1.0.0");
  misfit = "its concept does not fit";
  EXPECT_EQ(keeper.keep(source).error().message, misfit);
  EXPECT_EQ(kept(), 0U);
  misfit.clear();
  ASSERT_TRUE(keeper.keep(source));
  misfit = "its concept does not fit";
  EXPECT_FALSE(keeper.keep(source));
  EXPECT_EQ(kept(), 1U) << "what was there before stays";
}

TEST_F(PackKeeperTest, NamesThatMakeOneConceptAreTooAlike) {
  ASSERT_TRUE(keeper.keep(sluice::pack::write_pack(folder.path("a"), "acme.a1b@1.0.0")));
  auto second = keeper.keep(sluice::pack::write_pack(folder.path("b"), "acme.a.1b@1.0.0"));
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("are too alike"));
  EXPECT_EQ(kept(), 1U);
}

}  // namespace pack_keeper_test
}  // namespace sluice::deploy
