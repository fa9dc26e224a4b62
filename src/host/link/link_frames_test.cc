// Frames come back as they were sent, however the bytes are cut; versions that two ends share, and those they do not.
#include "host/link/link_frames.h"

#include <gtest/gtest.h>

namespace sluice::host {
namespace link_frames_test {

TEST(LinkFrames, ComeBackWhereverTheBytesAreCut) {
  const std::string large(300'000, 'x');
  const std::string bytes = link_frame(LinkKind::hello, 0, "{}") + link_frame(LinkKind::data, 70'000, large) +
                            link_frame(LinkKind::beat, 0, "");
  for (size_t step : {size_t{1}, size_t{7}, size_t{65'536}, bytes.size()}) {
    LinkReader reader;
    std::vector<LinkFrame> got;
    for (size_t at = 0; at < bytes.size(); at += step) {
      reader.input() += bytes.substr(at, step);
      while (true) {
        auto frame = reader.take();
        ASSERT_TRUE(frame);
        if (!*frame) break;
        got.push_back(**std::move(frame));
      }
    }
    ASSERT_EQ(got.size(), 3U) << step;
    EXPECT_EQ(got[0].kind, LinkKind::hello);
    EXPECT_EQ(got[0].bytes, "{}");
    EXPECT_EQ(got[1].stream, 70'000U);
    EXPECT_EQ(got[1].bytes, large);
    EXPECT_EQ(got[2].kind, LinkKind::beat);
    EXPECT_EQ(reader.input(), "");
  }
}

TEST(LinkFrames, OneThatIsTooLongOrNoneIsRefused) {
  for (const char* bytes : {"\xff\xff\xff\xff", "GET / HTTP/1.1"}) {
    LinkReader reader;
    reader.input() = bytes;
    auto refused = reader.take();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::limit);
  }
}

TEST(LinkFrames, TwoEndsAgreeOnAVersionOrSayWhichOneIsToBeUpgraded) {
  EXPECT_EQ(common_link_version("1-1", "the router a").value(), 1);
  EXPECT_EQ(common_link_version("1-7", "the router a").value(), 1);
  auto newer = common_link_version("2-3", "the router a");
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().message, "the router a speaks version 2-3 of the link, which is newer than this end's, 1-1");
  EXPECT_EQ(newer.error().next, "upgrade this end first: the control plane before its routers");
  for (const char* none : {"", "x", "0-1", "3-2", "1-"}) {
    EXPECT_EQ(common_link_version(none, "the router a").error().message,
              "the router a does not say which versions of the link it speaks")
        << none;
  }
}

}  // namespace link_frames_test
}  // namespace sluice::host
