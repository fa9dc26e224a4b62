// The clock moves when the test says so; the terminal is a string.
#include "base/progress.h"

#include <gtest/gtest.h>

#include <sstream>

namespace sluice {
namespace progress_test {

struct Scene {
  ManualClock clock;
  std::ostringstream err;

  // What was printed since the last call.
  std::string take() {
    std::string text = err.str();
    err.str("");
    return text;
  }
};

const Terminal kTerminal{.tty = true, .color = false, .width = 40};

TEST(Progress, AppearsAfterASecondAndErasesItself) {
  Scene scene;
  {
    Progress progress(scene.err, kTerminal, scene.clock, "waiting");
    scene.clock.advance_ms(999);
    progress.tick();
    EXPECT_EQ(scene.take(), "");
    scene.clock.advance_ms(1);
    progress.update(3, 10);
    EXPECT_EQ(scene.take(), "\r\x1b[Kwaiting 3/10 (1s)");
    scene.clock.advance_ms(64000);
    progress.update(4);
    EXPECT_EQ(scene.take(), "\r\x1b[Kwaiting 4 (1m5s)");
  }
  EXPECT_EQ(scene.take(), "\r\x1b[K");
}

TEST(Progress, OfQuickWorkIsNeverSeen) {
  Scene scene;
  {
    Progress progress(scene.err, kTerminal, scene.clock, "waiting");
    scene.clock.advance_ms(500);
    progress.update(1, 1);
  }
  EXPECT_EQ(scene.take(), "");
}

TEST(Progress, RedrawsAtMostTenTimesASecond) {
  Scene scene;
  Progress progress(scene.err, kTerminal, scene.clock, "copying");
  scene.clock.advance_ms(1000);
  progress.update(1, 3);
  EXPECT_EQ(scene.take(), "\r\x1b[Kcopying 1/3 (1s)");
  scene.clock.advance_ms(99);
  progress.update(2, 3);
  EXPECT_EQ(scene.take(), "");
  scene.clock.advance_ms(1);
  progress.tick();
  EXPECT_EQ(scene.take(), "\r\x1b[Kcopying 2/3 (1s)");
  progress.erase();
  EXPECT_EQ(scene.take(), "\r\x1b[K");
  progress.now_doing("checking");
  EXPECT_EQ(scene.take(), "\r\x1b[Kchecking (1s)");
}

TEST(Progress, FitsTheTerminalAndUsesColorOnlyIfWanted) {
  Scene scene;
  Progress narrow(scene.err, {.tty = true, .color = true, .width = 11}, scene.clock, "a long description\x1b[2J");
  scene.clock.advance_ms(1000);
  narrow.tick();
  EXPECT_EQ(scene.take(), "\r\x1b[K\x1b[2ma long de…\x1b[0m");
}

TEST(Progress, IsSilentWithoutATerminalUnlessPlainLinesAreWanted) {
  Scene scene;
  Progress silent(scene.err, {}, scene.clock, "waiting");
  Progress plain(scene.err, {}, scene.clock, "waiting", 10'000);
  for (int second = 0; second < 25; ++second) {
    scene.clock.advance_ms(1000);
    silent.update(1, 2);
    plain.update(1, 2);
  }
  EXPECT_EQ(scene.take(), "waiting 1/2 (10s)\nwaiting 1/2 (20s)\n");
}

}  // namespace progress_test
}  // namespace sluice
