// A kit is edited while it runs: badly, and well.
#include "host/kit_reload.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/testing_source.h"
#include "host/home_engine.h"
#include "host/testing_opening.h"
#include "orders/orders_kit.h"

namespace sluice::host {
namespace kit_reload_test {

struct Reload : testing::Test, TestingOpening {
  Reload() : TestingOpening(orders::concepts()) {
    std::filesystem::create_directory(kit);
    for (const auto& entry : std::filesystem::directory_iterator(std::string(kSourceDir) + "/examples/kits/orders")) {
      std::string name = entry.path().filename().string();
      if (name.ends_with(".concept") || name.ends_with(".sync") || name.ends_with(".yaml")) {
        std::filesystem::copy_file(entry.path(), kit + "/" + name);
      }
    }
    place = *place_of_kit(kit, home, narrator);
    reload.emplace(disk, narrator, place, loaded);
    running = *HomeEngine::start(opening, *reload->first(), kit);
  }

  // Writes the guards anew, and looks until that has been seen. What is said then.
  std::string edit(const std::string& guards) {
    narrator.said.clear();
    EXPECT_TRUE(write_atomically(disk, kit + "/guards.sync", guards, 0644));
    auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!reload->look(running->engine())) {
      if (std::chrono::steady_clock::now() > until) return "it was not seen";
    }
    return narrator.said;
  }
  std::string add(const std::string& item) {
    auto ended = running->engine().invoke(
        {.action = "Stock/add", .input = {{"item", item}, {"count", 5}}, .caller = running->caller()});
    return ended ? ended->end.variant : to_string(ended.error());
  }

  std::string kit = folder.path("kit");
  KitPlace place;
  std::optional<KitReload> reload;
  std::unique_ptr<HomeEngine> running;
};

TEST_F(Reload, ABadEditIsRefusedAndAGoodOneHolds) {
  EXPECT_EQ(add("jam"), "ok");
  std::string bad = edit("guard Broken before {");
  EXPECT_NE(bad.find("warning: the kit in " + kit + " has changed, but the rules that run go on: "), std::string::npos)
      << bad;
  EXPECT_NE(bad.find("next: sluice kit check " + kit), std::string::npos) << bad;
  EXPECT_EQ(add("jam"), "ok");
  EXPECT_EQ(edit(R"(guard NoJam
  before { Stock/add: [ item: ?item ] }
  require { filter(?item != "jam") }
  else engine.refused[ message: "no jam" ]
)"),
            "The kit in " + kit + " has changed: flows that begin now run under its new syncs.\n");
  EXPECT_EQ(add("jam"), "engine.refused");
  EXPECT_EQ(add("tea"), "ok");
}

TEST_F(Reload, WhatIsWrongIsSaidOnce) {
  std::string good = read_file(disk, kit + "/guards.sync", size_t{1} << 20U).value();
  EXPECT_NE(edit("guard Broken before {"), "");
  EXPECT_EQ(edit("guard Broken before {"), "");
  EXPECT_EQ(edit(good), "The kit in " + kit + " is again the one that runs.\n");
  EXPECT_EQ(edit(good), "") << "nothing in it is another";
  EXPECT_NE(edit("guard Broken before {"), "");
}

}  // namespace kit_reload_test
}  // namespace sluice::host
