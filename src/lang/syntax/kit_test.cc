// Kits as a whole: their files, and where messages point.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/syntax/testing_shop.h"

namespace sluice::lang {
namespace kit_test {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Kit, LoadsConceptsAndSyncsWithTiersAndAliases) {
  Kit kit = load_files(shop());
  EXPECT_THAT(found_in(kit), IsEmpty());
  EXPECT_EQ(kit.suite.name, "shop");
  ASSERT_EQ(kit.concepts.size(), 2u);
  EXPECT_THAT(syncs_of(kit),
              ElementsAre("Keep = Keep required", "Habit = Usual recommended", "Charge = Charge integration"));
}

TEST(Kit, NoPathLeadsOutOfTheFolder) {
  const std::string why =
      " leads out of the folder of k/suite.yaml [copy the file into the folder; what another kit "
      "has comes with `uses`]";
  Files files = shop("guards: [ syncs/../../g.sync ]\noverrides: { Habit: ../mine.sync }\n");
  std::string& suite = files["k/suite.yaml"];
  suite.replace(suite.find("./order.concept"), 15, "../k/order.concept");
  suite.replace(suite.find("./pay.sync"), 10, "/k/pay.sync");
  EXPECT_THAT(found_in(load_files(files)),
              ElementsAre("k/suite.yaml:3:18+18 error outside-folder: `../k/order.concept`" + why,
                          "k/suite.yaml:11:15+11 error outside-folder: `/k/pay.sync`" + why,
                          "k/suite.yaml:12:11+18 error outside-folder: `syncs/../../g.sync`" + why,
                          "k/suite.yaml:13:21+12 error outside-folder: `../mine.sync`" + why));
  files = shop();
  files["home/shop/overrides.yaml"] = "overrides: { Habit: ../../k/mine.sync }\n";
  EXPECT_THAT(found_in(load_files(files, {.overlay_folder = "home"})),
              ElementsAre("home/shop/overrides.yaml:1:21+17 error outside-folder: `../../k/mine.sync` leads out of the "
                          "folder of home/shop/overrides.yaml [copy the file into the folder; what another kit has "
                          "comes with `uses`]"));
  EXPECT_THAT(found_in(load_files(shop("uses: [ { suite: ../other } ]\n"), {.search_path = {"home"}})),
              ElementsAre("k/suite.yaml:12:18+8 error unknown-suite: `../other` is no name of a kit [write the kit's "
                          "name; where kits are found is not the suite's to say]"));
}

TEST(Kit, AFolderWithoutASuiteIsNoKit) {
  Kit kit = load_files({});
  EXPECT_THAT(
      found_in(kit),
      ElementsAre(
          "k/suite.yaml:1:1+1 error missing-file: cannot open k/suite.yaml [a kit is a folder with a suite.yaml]"));
  EXPECT_FALSE(check(kit).kit);
}

TEST(Kit, PointsAtThePathThatCannotBeRead) {
  EXPECT_THAT(
      found_in(load_files({{"k/suite.yaml",
                            "kit: { name: k }\nconcepts:\n  spec: { spec: ./spec }\nsyncs:\n  required:\n    - path: "
                            "./a.sync\n  integration:\n    - ./b.sync\n"}})),
      ElementsAre("k/suite.yaml:3:17+6 error missing-file: the concept `spec` has no file k/spec [mend the path, or "
                  "take the entry out]",
                  "k/suite.yaml:6:13+8 error missing-file: the sync `./a.sync` is missing: there is no file k/a.sync "
                  "[mend the path, or take the entry out]",
                  "k/suite.yaml:8:7+8 warning missing-file: the integration sync `./b.sync` is inactive: there is no "
                  "file k/b.sync [mend the path, or take the entry out]"));
  EXPECT_THAT(found_in(load_files({})),
              ElementsAre("k/suite.yaml:1:1+1 error missing-file: cannot open k/suite.yaml [a kit is a "
                          "folder with a suite.yaml]"));
}

TEST(Kit, OfAFileAHundredErrorsAreShownWithTheirPlaces) {
  // The hundredth error of a file is the last that is shown with its place.
  std::string entries;
  for (int i = 0; i < 150; ++i) entries += "    - { path: ./a.sync, sync: Nix" + std::to_string(i) + " }\n";
  Files files = shop();
  files["k/suite.yaml"] = kHead + kConcepts + "syncs:\n  recommended:\n" + entries;
  Kit kit = load_files(files);
  EXPECT_EQ(kit.found.errors(), 150u);
  EXPECT_THAT(found_in(kit), testing::Contains("k/suite.yaml:106:31+5 error unknown-sync: k/a.sync holds no sync "
                                               "`Nix99` [mend the path or the name, or take the entry out]"));
}

}  // namespace kit_test
}  // namespace sluice::lang
