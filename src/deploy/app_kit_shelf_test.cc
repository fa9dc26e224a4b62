// What the shelf keeps is what the engine loads.
#include "deploy/app_kit_shelf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::deploy {
namespace app_kit_shelf_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct AppKitShelves : testing::Test {
  TestingFolder folder;
  RealDisk disk;
  AppKitShelf shelf{disk, folder.path()};
  std::vector<std::string> told;
  const AppRule rule{.name = "Again",
                     .text = "sync Again [eager]\n  when { Cart/put: [] => ok[] }\n  then { Cart/put: [] }\n",
                     .concepts = {{"Cart", "concept Cart [C] { actions { action put() { -> ok } } }"}}};

  Result<std::string> put(const std::string& environment, const std::optional<AppRule>& what) {
    return shelf.put({.environment = environment, .app = "shop", .kit = "shop", .rule = "Again"}, what);
  }
  std::vector<KeptRule> all() {
    return shelf.all([&](const std::string& text) { told.push_back(text); });
  }
};

TEST_F(AppKitShelves, KeepNothingBeforeAnEngineRuns) {
  EXPECT_EQ(put("local", rule).error().code, Code::unavailable);
  EXPECT_TRUE(shelf.load()) << "the engine that is started next has all of it";
  EXPECT_THAT(all(), IsEmpty());
}

TEST_F(AppKitShelves, HaveWhatTheEngineLoadsWhenItLoadsIt) {
  std::vector<std::string> seen;
  shelf.load_with([&]() -> Result<void> {
    for (const KeptRule& each : all()) seen.push_back(each.name + (each.text.empty() ? " out" : " in"));
    return {};
  });
  EXPECT_EQ(put("local", rule).value(), "Local_Shop_Again");
  EXPECT_EQ(put("prod-eu", std::nullopt).value(), "ProdEu_Shop_Again") << "what is not there is out already";
  EXPECT_EQ(put("local", std::nullopt).value(), "Local_Shop_Again");
  EXPECT_THAT(seen, ElementsAre("Local_Shop_Again in", "Local_Shop_Again out"));
  EXPECT_TRUE(shelf.load());
  EXPECT_EQ(seen.size(), 3U);
}

TEST_F(AppKitShelves, LeaveOutWhatCannotBeRead) {
  shelf.load_with([]() -> Result<void> { return {}; });
  ASSERT_TRUE(put("local", rule));
  ASSERT_TRUE(write_atomically(disk, folder.path() + "/app-kits/Broken.json", "{", 0600));
  EXPECT_EQ(all().size(), 1U);
  EXPECT_THAT(told, ElementsAre(HasSubstr("Broken.json")));
}

}  // namespace app_kit_shelf_test
}  // namespace sluice::deploy
