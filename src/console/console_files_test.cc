// What the table of pages must be for browsers to take it: whole, small, and nothing inline.
#include "console/console_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace sluice::console {
namespace console_files_test {

TEST(ConsoleFiles, HaveAPageThatLoadsTheRest) {
  const auto files = console_files();
  const auto index = std::ranges::find(files, "index.html", &api::Page::name);
  ASSERT_NE(index, files.end());
  EXPECT_EQ(index->content_type, "text/html; charset=utf-8");
  EXPECT_FALSE(index->hashed) << "browsers must ask for it each time";
  EXPECT_TRUE(std::ranges::any_of(files, [](const api::Page& each) { return each.name.ends_with(".js"); }));
}

TEST(ConsoleFiles, AreCompressedAndNamedAfterTheirContent) {
  for (const api::Page& each : console_files()) {
    EXPECT_TRUE(each.gzip.starts_with("\x1f\x8b")) << each.name;
    EXPECT_EQ(each.etag.size(), 16U) << each.name;
    EXPECT_EQ(each.hashed, each.name != "index.html") << each.name;
  }
}

TEST(ConsoleFiles, AreSmallerThanAFirstViewMayBe) {
  size_t all = 0;
  for (const api::Page& each : console_files()) all += each.gzip.size();
  EXPECT_LT(all, 300'000U) << "all pages together, compressed";
}

}  // namespace console_files_test
}  // namespace sluice::console
