// Where kits are found.
#include "host/kit_place.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "host/testing_opening.h"

namespace sluice::host {
namespace kit_place_test {

struct KitPlaces : testing::Test {
  KitPlaces() {
    std::filesystem::permissions(home.path(), std::filesystem::perms::owner_all);
    std::filesystem::create_directories(home.path("kits/tasks"));
    std::filesystem::permissions(home.path("kits"), std::filesystem::perms::owner_all);
  }

  Result<KitPlace> find(const std::string& name) { return place_of_kit(name, Home(disk, home.path()), narrator); }

  TestingFolder home;
  RealDisk disk;
  TestingNarrator narrator;
};

TEST_F(KitPlaces, ANameIsLookedUpInTheHome) {
  ASSERT_TRUE(write_atomically(disk, home.path("kits/tasks/suite.yaml"), "kit: { name: tasks }\n", 0644));
  auto place = find("tasks");
  ASSERT_TRUE(place) << to_string(place.error());
  EXPECT_EQ(place->folder, home.path("kits/tasks"));
  EXPECT_EQ(place->options.overlay_folder, home.path("kits"));
  EXPECT_TRUE(must_exist(*place));
}

TEST_F(KitPlaces, AFolderIsTakenAsItIs) {
  auto place = find(home.path("kits/tasks/"));
  ASSERT_TRUE(place) << to_string(place.error());
  EXPECT_EQ(place->folder, home.path("kits/tasks"));
}

TEST_F(KitPlaces, WhatIsNowhereIsSaidToBeSo) {
  auto place = find("taks");
  ASSERT_TRUE(place) << to_string(place.error());
  auto there = must_exist(*place);
  ASSERT_FALSE(there);
  EXPECT_EQ(there.error().code, Code::not_found);
  EXPECT_EQ(there.error().message, "there is no folder taks, and no installed kit of that name");
}

TEST_F(KitPlaces, TheBuiltInKitIsFoundByItsNameUnlessAnotherIsInstalled) {
  for (const char* name : {"deploy", "built-in:deploy"}) {
    auto place = find(name);
    ASSERT_TRUE(place) << to_string(place.error());
    EXPECT_EQ(place->folder, "built-in:deploy");
    EXPECT_EQ(place->options.overlay_folder, home.path("kits"));
    EXPECT_TRUE(is_built_in(place->folder));
    EXPECT_TRUE(must_exist(*place));
    EXPECT_TRUE(check_place(*place, true, disk, narrator).kit);
  }
  // With overrides alone the folder is none of a kit.
  std::filesystem::create_directories(home.path("kits/deploy"));
  ASSERT_TRUE(write_atomically(disk, home.path("kits/deploy/overrides.yaml"), "disable: []\n", 0644));
  EXPECT_EQ(find("deploy")->folder, "built-in:deploy");
  ASSERT_TRUE(write_atomically(disk, home.path("kits/deploy/suite.yaml"), "kit: { name: deploy }\n", 0644));
  EXPECT_EQ(find("deploy")->folder, home.path("kits/deploy"));
  EXPECT_EQ(find("built-in:deploy")->folder, "built-in:deploy");
}

TEST_F(KitPlaces, AKitWithErrorsIsCounted) {
  RealDisk disk;
  ASSERT_TRUE(write_atomically(disk, home.path("kits/tasks/suite.yaml"),
                               "kit: { name: tasks, version: 1.0.0 }\nconcepts:\n  A: { spec: a.concept }\n", 0644));
  auto place = find("tasks");
  ASSERT_TRUE(place);
  lang::Checked checked = check_place(*place, false, disk, narrator);
  EXPECT_FALSE(checked.kit);
  EXPECT_EQ(kit_has_errors(*place, checked).message,
            "the kit in " + home.path("kits/tasks") + " has errors: 1 error, 0 warnings in 0 concepts, 0 syncs");
}

}  // namespace kit_place_test
}  // namespace sluice::host
