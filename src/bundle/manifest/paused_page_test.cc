// The same page, and the same refusals, from a folder and from the archive of it.
#include "bundle/manifest/paused_page.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "bundle/archive/pack.h"

namespace sluice::bundle {
namespace paused_page_test {

class PausedPage : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder.path("in/" + name)).parent_path());
    std::ofstream(folder.path("in/" + name)) << text;
  }
  static Manifest naming(const std::string& page) {
    Manifest manifest;
    if (!page.empty()) manifest.paused.page = InnerPath{page};
    return manifest;
  }
  // What both say, in a word; the test fails if they differ.
  std::string told(const std::string& page, const std::vector<std::string>& paths) {
    std::string archive = folder.path("a.bundle");
    EXPECT_TRUE(pack(disk, folder.path("in"), paths, archive));
    auto text = [](const Result<std::optional<std::string>>& found) {
      return !found ? to_string(found.error()) : found->value_or("no page");
    };
    std::string of_folder = text(page_of_folder(disk, naming(page), folder.path("in"), paths));
    EXPECT_EQ(of_folder, text(page_of_archive(disk, naming(page), archive)));
    return of_folder;
  }

  TestingFolder folder;
  RealDisk disk;
};

TEST_F(PausedPage, IsAFileOfTheBundle) {
  put("pages/paused.html", "<h1>Back soon</h1>\n");
  EXPECT_EQ(told("pages/paused.html", {"pages/paused.html"}), "<h1>Back soon</h1>\n");
  EXPECT_EQ(told("./pages//paused.html", {"pages/paused.html"}), "<h1>Back soon</h1>\n");
  EXPECT_EQ(told("", {"pages/paused.html"}), "no page");
}

TEST_F(PausedPage, IsRefusedIfItIsNotPackedOrNoText) {
  put("paused.html", "here");
  put("other", "x");
  EXPECT_EQ(told("paused.html", {"other"}), "/paused/page: the page paused.html is not in the bundle");
  put("empty.txt", "");
  EXPECT_EQ(told("empty.txt", {"empty.txt"}), "/paused/page: the page empty.txt is empty");
  put("raw.txt", "\xff\xfe");
  EXPECT_EQ(told("raw.txt", {"raw.txt"}), "/paused/page: the page raw.txt is not UTF-8");
  std::filesystem::create_symlink("paused.html", folder.path("in/link.html"));
  EXPECT_EQ(told("link.html", {"link.html", "paused.html"}), "/paused/page: the page link.html is no file");
}

TEST_F(PausedPage, IsAtMostSixtyFourKilobytes) {
  put("most.txt", std::string(kMaxPageBytes, 'a'));
  put("more.txt", std::string(kMaxPageBytes + 1, 'a'));
  EXPECT_EQ(told("most.txt", {"most.txt"}), std::string(kMaxPageBytes, 'a'));
  EXPECT_EQ(told("more.txt", {"more.txt"}), "/paused/page: the page more.txt has more than 64 KB");
}

TEST_F(PausedPage, HasTheTypeOfItsEnding) {
  EXPECT_EQ(page_type("a.html"), "text/html; charset=utf-8");
  EXPECT_EQ(page_type("a.txt"), "text/plain; charset=utf-8");
  EXPECT_EQ(page_type("a.json"), "application/json");
  EXPECT_EQ(page_type("a.png"), "");
  EXPECT_EQ(page_type("html"), "");
}

}  // namespace paused_page_test
}  // namespace sluice::bundle
