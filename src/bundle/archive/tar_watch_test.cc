// Names as a tar has them, fed in pieces of any size.
#include "bundle/archive/tar_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bundle/archive/testing_archives.h"

namespace sluice::bundle {
namespace tar_watch_test {

using ::testing::ElementsAre;

std::vector<std::string> names_in(TarWatch& watch) {
  std::vector<std::string> names;
  while (auto taken = watch.take()) names.push_back(taken->path + (taken->link.empty() ? "" : " -> " + taken->link));
  return names;
}

TEST(TarWatch, TellsNamesByteByByteInPiecesOfAnySize) {
  const std::string decomposed = "e\xcc\x81";
  const std::string with_nul = std::string("a\0b", 3);
  const std::string tar = tar_of({{.name = "plain", .content = std::string(700, '\0')},
                                  pax_member({{"path", decomposed}, {"linkpath", "o\xcc\x88"}}),
                                  {.name = "short", .type = '2', .link = "x"},
                                  pax_member({{"path", with_nul}}),
                                  {.name = "short"},
                                  {.name = "././@LongLink", .content = std::string(150, 'l') + '\0', .type = 'L'},
                                  {.name = "lll", .content = "12"}});
  for (size_t piece : {size_t{1}, size_t{100}, size_t{512}, size_t{700}, tar.size()}) {
    TarWatch watch;
    for (size_t at = 0; at < tar.size(); at += piece) watch.feed(std::string_view(tar).substr(at, piece));
    EXPECT_THAT(names_in(watch), ElementsAre("plain", decomposed + " -> o\xcc\x88", with_nul, std::string(150, 'l')))
        << piece;
    EXPECT_TRUE(watch.ended()) << piece;
    EXPECT_FALSE(watch.has_more()) << piece;
  }
}

TEST(TarWatch, SeesTheEndOnlyWhereAHeaderWouldStand) {
  const std::string tar = tar_of({{.name = "a", .content = std::string(1024, '\0')}});
  TarWatch cut;
  cut.feed(std::string_view(tar).substr(0, 512 + 1024));
  EXPECT_FALSE(cut.ended()) << "those zeros are content";
  cut.feed(std::string(512, '\0'));
  EXPECT_FALSE(cut.ended()) << "one block";
  cut.feed(std::string(512, '\0'));
  EXPECT_TRUE(cut.ended());
  EXPECT_FALSE(cut.has_more());
  cut.feed(std::string(512, '\0') + "x");
  EXPECT_TRUE(cut.has_more());
}

TEST(TarWatch, LosesItsWayWhereASumIsWrong) {
  std::string tar = tar_of({{.name = "a"}, {.name = "b"}});
  tar[512] = 'Q';
  TarWatch watch;
  watch.feed(tar);
  EXPECT_THAT(names_in(watch), ElementsAre("a"));
  EXPECT_FALSE(watch.ended());
}

}  // namespace tar_watch_test
}  // namespace sluice::bundle
