// Frames as podman 4.3 sends them, in pieces of every size.
#include "container/log_frames.h"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::container {
namespace log_frames_test {

using namespace std::string_literals;

const std::string kReal =
    "\x01\0\0\0\0\0\0\x21"s
    "2026-11-18T13:26:41Z one listens\n"
    "\x02\0\0\0\0\0\0\x1c"s
    "2026-11-18T13:26:41Z line 1\n";

std::vector<std::string> taken(LogFrames& frames, std::string_view bytes) {
  std::vector<std::string> all;
  auto good = frames.take(bytes, [&](LogStream stream, std::string_view text) {
    all.push_back((stream == LogStream::out ? "out " : "err ") + std::string(text));
  });
  if (!good) all.push_back(good.error().message);
  return all;
}

TEST(LogFrames, TakesFramesInPiecesOfEverySize) {
  const std::vector<std::string> expected = {"out 2026-11-18T13:26:41Z one listens\n",
                                             "err 2026-11-18T13:26:41Z line 1\n"};
  for (size_t size = 1; size <= kReal.size(); ++size) {
    LogFrames frames;
    std::vector<std::string> all;
    for (size_t at = 0; at < kReal.size(); at += size) {
      for (auto& each : taken(frames, std::string_view(kReal).substr(at, size))) all.push_back(each);
    }
    EXPECT_EQ(all, expected) << size;
    EXPECT_TRUE(frames.is_whole());
  }
}

TEST(LogFrames, HoldsWhatIsNotWhole) {
  LogFrames frames;
  EXPECT_EQ(taken(frames, std::string_view(kReal).substr(0, 20)), std::vector<std::string>{});
  EXPECT_FALSE(frames.is_whole());
}

TEST(LogFrames, RefusesWhatIsNone) {
  LogFrames text, large;
  EXPECT_EQ(taken(text, "{\"message\":1}"),
            std::vector<std::string>{"the engine sent something else than a frame of a log"});
  EXPECT_EQ(taken(large, "\x01\0\0\0\xff\xff\xff\xff"s),
            std::vector<std::string>{"the engine sent a frame of a log with 4294967295 bytes"});
}

TEST(LogFrames, SplitsTheTimeOff) {
  EXPECT_EQ(split_time("2026-11-18T13:26:41.123456789Z a b").time, "2026-11-18T13:26:41.123456789Z");
  EXPECT_EQ(split_time("2026-11-18T13:26:41Z a b").text, "a b");
  EXPECT_EQ(split_time("2026-11-18T13:26:41Z ").text, "");
  EXPECT_EQ(split_time("no time here").text, "no time here");
}

}  // namespace log_frames_test
}  // namespace sluice::container
