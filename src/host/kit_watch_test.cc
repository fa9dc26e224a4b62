// Waiting for changes. Every wait here ends by something that was done before it began.
#include "host/kit_watch.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::host {
namespace kit_watch_test {

struct KitWatchTest : testing::Test {
  KitWatchTest() { EXPECT_EQ(::pipe(stop.data()), 0); }
  ~KitWatchTest() override {
    ::close(stop[0]);
    ::close(stop[1]);
  }
  void write(const std::string& name) { ASSERT_TRUE(write_atomically(disk, folder.path(name), "x", 0644)); }

  TestingFolder folder;
  RealDisk disk;
  std::array<int, 2> stop{};
};

TEST_F(KitWatchTest, SeesWhatChangedSinceItWasMade) {
  std::filesystem::create_directory(folder.path("syncs"));
  KitWatch watch({folder.path()});
  write("syncs/a.sync");
  auto changed = watch.wait(stop[0]);
  ASSERT_TRUE(changed);
  EXPECT_TRUE(*changed);
}

TEST_F(KitWatchTest, TellsOfAChangeOnceWithoutWaiting) {
  KitWatch watch({folder.path()});
  EXPECT_FALSE(watch.changed());
  write("a.sync");
  auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  bool told = false;
  while (!told && std::chrono::steady_clock::now() < until) told = watch.changed();
  EXPECT_TRUE(told);
  EXPECT_FALSE(watch.changed());
}

TEST_F(KitWatchTest, EndsWhenItIsToldTo) {
  KitWatch watch({folder.path()});
  write("notes.txt");  // does not concern a kit
  ASSERT_EQ(::write(stop[1], "x", 1), 1);
  auto changed = watch.wait(stop[0]);
  ASSERT_TRUE(changed);
  EXPECT_FALSE(*changed);
}

TEST_F(KitWatchTest, AFolderThatIsNotThereIsNoFault) {
  KitWatch watch({folder.path("none"), folder.path()});
  write("suite.yaml");
  EXPECT_TRUE(*watch.wait(stop[0]));
}

TEST_F(KitWatchTest, SeesAFolderGoAndComeBack) {
  std::filesystem::create_directories(folder.path("above/kit"));
  write("above/kit/suite.yaml");
  // By itself, and with all that holds it.
  for (const char* moved : {"above/kit", "above"}) {
    KitWatch there({folder.path("above/kit")});
    std::filesystem::rename(folder.path(moved), folder.path("away"));
    EXPECT_TRUE(*there.wait(stop[0]));
    KitWatch gone({folder.path("above/kit")});
    std::filesystem::rename(folder.path("away"), folder.path(moved));
    EXPECT_TRUE(*gone.wait(stop[0]));
  }
  KitWatch back({folder.path("above/kit")});
  write("above/kit/suite.yaml");
  EXPECT_TRUE(*back.wait(stop[0]));
}

TEST_F(KitWatchTest, SeesAFolderBelowGo) {
  std::filesystem::create_directory(folder.path("syncs"));
  KitWatch watch({folder.path()});
  std::filesystem::rename(folder.path("syncs"), folder.path("rules"));
  EXPECT_TRUE(*watch.wait(stop[0]));
}

TEST_F(KitWatchTest, WhatStandsBesideAFolderDoesNotConcernIt) {
  std::filesystem::create_directory(folder.path("kit"));
  KitWatch watch({folder.path("kit")});
  write("suite.yaml");
  std::filesystem::create_directory(folder.path("other"));
  ASSERT_EQ(::write(stop[1], "x", 1), 1);
  EXPECT_FALSE(*watch.wait(stop[0]));
}

TEST(StopSignal, WithinAnotherLeavesItToTheOuterOne) {
  auto has_come = [](const StopSignal& stop) {
    pollfd look{.fd = stop.fd(), .events = POLLIN, .revents = 0};
    return ::poll(&look, 1, 0) > 0;
  };
  {
    const StopSignal outer;
    {
      const StopSignal inner;
      EXPECT_FALSE(has_come(inner));
      ASSERT_EQ(::raise(SIGINT), 0);
      EXPECT_TRUE(has_come(inner));
    }
    EXPECT_TRUE(has_come(outer));
    ASSERT_EQ(::raise(SIGTERM), 0) << "it is still kept";
  }
  const StopSignal later;
  EXPECT_FALSE(has_come(later));
}

}  // namespace kit_watch_test
}  // namespace sluice::host
