// A command's door where no server runs: what is opened, and when.
#include "host/home_door.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/testing_source.h"
#include "host/testing_opening.h"
#include "orders/orders_kit.h"

namespace sluice::host {
namespace home_door_test {

struct HomeDoors : testing::Test, TestingOpening {
  HomeDoors() : TestingOpening(orders::concepts()) {}
  DoorKit kit() {
    return {.folder = kKit, .check = [this]() -> Result<std::shared_ptr<const lang::CheckedKit>> {
              ++checked;
              lang::Checked found = lang::check(lang::load_kit(
                  kKit, [this](const std::string& path) { return read_file(disk, path, size_t{1} << 20U); }));
              return std::make_shared<const lang::CheckedKit>(*std::move(found.kit));
            }};
  }

  const std::string kKit = std::string(kSourceDir) + "/examples/kits/orders";
  int checked = 0;
};

TEST_F(HomeDoors, AViewOfAHomeWithoutAStoreMakesNothing) {
  HomeDoor door(opening, kit());
  auto answer = door.view("environments");
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(write(answer->document), "[]");
  EXPECT_FALSE(std::filesystem::exists(folder.path("home")));
  EXPECT_EQ(checked, 0);
}

TEST_F(HomeDoors, ACallRunsTheEngineHereAndViewsThenShowIt) {
  {
    HomeDoor door(opening, kit());
    auto answer = door.call({.action = "Stock/add", .input = {{"item", "tea"}, {"count", 5}}});
    ASSERT_TRUE(answer) << to_string(answer.error());
    EXPECT_EQ(answer->variant, "ok");
    EXPECT_TRUE(door.runs_here());
    EXPECT_EQ(door.view("environments")->position, answer->position);
  }
  HomeDoor again(opening, kit());
  EXPECT_EQ(again.view("environments")->position, 1);
  EXPECT_FALSE(again.runs_here());
  EXPECT_EQ(again.call({.action = "Stock/look", .input = {{"item", "tea"}}})->fields.at("onShelf"), 5);
  EXPECT_EQ(checked, 2);
}

}  // namespace home_door_test
}  // namespace sluice::host
