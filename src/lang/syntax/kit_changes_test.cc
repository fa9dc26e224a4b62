// Which syncs are active, and what is told of the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/syntax/testing_shop.h"

namespace sluice::lang {
namespace kit_changes_test {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(KitChanges, IntegrationSyncsWaitForTheirProvider) {
  Files files = shop();
  files.erase("k/card.concept");
  Kit kit = load_files(files);
  EXPECT_THAT(found_in(kit),
              ElementsAre("k/suite.yaml:4:17+14 warning missing-file: the optional concept `Card` is not loaded: there "
                          "is no k/card.concept [mend the path, or take the entry out]"));
  EXPECT_THAT(syncs_of(kit), ElementsAre("Keep = Keep required", "Habit = Usual recommended",
                                         "Charge = Charge integration: `Card` is not loaded"));
  kit = load_files(shop(), {.load = std::vector<std::string>{}});
  EXPECT_THAT(found_in(kit), IsEmpty());
  EXPECT_EQ(kit.syncs[2].inactive, "`Card` is not loaded");
}

TEST(KitChanges, ARecommendedSyncIsReplacedByName) {
  for (const std::string name : {"Habit", "Usual"}) {
    Kit kit = load_files(shop("overrides: { " + name + ": ./mine.sync }\n"));
    EXPECT_THAT(found_in(kit), IsEmpty());
    EXPECT_THAT(syncs_of(kit),
                ElementsAre("Keep = Keep required", "Habit = Usual recommended: overridden by k/mine.sync",
                            "Charge = Charge integration", "Habit = Mine recommended"));
  }
}

TEST(KitChanges, ARequiredSyncStays) {
  EXPECT_THAT(found_in(load_files(shop("disable: [ Keep ]\n"))),
              ElementsAre("k/suite.yaml:12:12+4 error required-sync: sync `Keep` of suite `shop` is required: it "
                          "cannot be disabled [take this entry out]"));
  EXPECT_THAT(found_in(load_files(shop("overrides: { Keep: ./mine.sync }\n"))),
              ElementsAre("k/suite.yaml:12:14+4 error required-sync: sync `Keep` of suite `shop` is required: it "
                          "cannot be overridden [take this entry out]"));
}

TEST(KitChanges, OverlaysChangeWhatIsActive) {
  Files files = shop();
  files["home/shop/overrides.yaml"] = "disable: [ Habit ]\n";
  Kit kit = load_files(files, {.overlay_folder = "home"});
  EXPECT_THAT(found_in(kit), IsEmpty());
  EXPECT_EQ(kit.syncs[1].inactive, "disabled in home/shop/overrides.yaml");
  files["home/shop/overrides.yaml"] = "disable: [ Habbit ]\ndisabel: [ Usual ]\n";
  EXPECT_THAT(found_in(load_files(files, {.overlay_folder = "home"})),
              ElementsAre("home/shop/overrides.yaml:2:1+1 error overlay: an overlay has no `disabel` of this shape "
                          "[an overlay has `overrides: { Name: file.sync }` and `disable: [ Name ]`]",
                          "home/shop/overrides.yaml:1:12+6 error unknown-sync: there is no sync `Habbit` to be "
                          "disabled [did you mean `Habit`?]"));
}

TEST(KitChanges, AReplacementKnowsWhatItReplaces) {
  Files files = shop();
  files["home/shop/overrides.yaml"] = "overrides: { Habit: mine.sync }\n";
  files["home/shop/mine.sync"] = files["k/mine.sync"];
  Kit kit = load_files(files, {.overlay_folder = "home"});
  EXPECT_THAT(found_in(kit), IsEmpty());
  EXPECT_EQ(kit.syncs[3].replaces, "k/a.sync:2");
  ASSERT_EQ(kit.overlaid.size(), 1u);
  EXPECT_EQ(kit.overlaid[0].sync, "Habit");
  EXPECT_EQ(kit.overlaid[0].overlay, "home/shop/overrides.yaml");
  EXPECT_EQ(kit.overlaid[0].by, "home/shop/mine.sync");
  // What the suite says itself is no overlay's doing.
  EXPECT_TRUE(load_files(shop("disable: [ Habit ]\n")).overlaid.empty());
}

TEST(KitChanges, ASyncIsChangedOnceInAFile) {
  EXPECT_THAT(found_in(load_files(shop("overrides: { Habit: ./mine.sync }\ndisable: [ Usual ]\n"))),
              ElementsAre("k/suite.yaml:13:12+5 error changed-twice: sync `Usual` is both overridden and disabled "
                          "[keep one of the two; the other is at line 12]"));
  EXPECT_THAT(found_in(load_files(shop("overrides: { Habit: ./mine.sync, Usual: ./mine.sync }\n"))),
              ElementsAre("k/suite.yaml:12:34+5 error changed-twice: sync `Usual` is overridden twice [keep one of the "
                          "two; the other is at line 12]"));
  Files files = shop();
  files["home/shop/overrides.yaml"] = "disable: [ Habit ]\noverrides: { Habit: mine.sync }\n";
  EXPECT_THAT(found_in(load_files(files, {.overlay_folder = "home"})),
              ElementsAre("home/shop/overrides.yaml:2:14+5 error changed-twice: sync `Habit` is both overridden and "
                          "disabled [keep one of the two; the other is at line 1]"));
}

TEST(KitChanges, AnOverlayHasTheLastWord) {
  Files files = shop("disable: [ Habit ]\n");
  files["home/shop/overrides.yaml"] = "overrides: { Habit: mine.sync }\n";
  files["home/shop/mine.sync"] = files["k/mine.sync"];
  Kit kit = load_files(files, {.overlay_folder = "home"});
  EXPECT_THAT(found_in(kit), IsEmpty());
  EXPECT_THAT(syncs_of(kit),
              ElementsAre("Keep = Keep required", "Habit = Usual recommended: overridden by home/shop/mine.sync",
                          "Charge = Charge integration", "Habit = Mine recommended"));
  files = shop("overrides: { Habit: ./mine.sync }\n");
  files["home/shop/overrides.yaml"] = "disable: [ Habit ]\n";
  kit = load_files(files, {.overlay_folder = "home"});
  EXPECT_THAT(found_in(kit), IsEmpty());
  EXPECT_EQ(kit.syncs[3].inactive, "disabled in home/shop/overrides.yaml");
}

TEST(KitChanges, DuplicateNamesNameTheFirst) {
  Files files = shop();
  files["k/pay.sync"] +=
      "sync Keep when { Card/charge: [] => ok[ card: ?c ] } then { Card/hold: [ card: ?c ] }\n"
      "guard G before { Order/ship: [ order: ?o ] } require { Order: { ?o } } else lost[]\n"
      "guard G before { Order/ship: [ order: ?o ] } require { Order: { ?o } } else lost[]\n";
  EXPECT_THAT(
      found_in(load_files(files)),
      ElementsAre(
          "k/pay.sync:2:6+4 error duplicate: a second sync `Keep` [rename or remove one; the first is at k/a.sync:1]",
          "k/pay.sync:4:7+1 error duplicate: a second guard `G` [rename or remove one; the first is at k/pay.sync:3]"));
}

TEST(KitChanges, SyncsThatNoSuiteListsAreTold) {
  Files files = shop();
  files["k/a.sync"] +=
      "sync Lost when { Order/pay: [] => ok[ order: ?o ] } then { Order/ship: [ order: ?o; priority: \"fast\" ] }\n";
  EXPECT_THAT(found_in(load_files(files)),
              ElementsAre("k/a.sync:3:6+4 warning unlisted-sync: sync `Lost` is not loaded: no "
                          "suite lists it [add it to suite.yaml with its tier]"));
}

TEST(KitChanges, AGuardBesideAReplacementIsToldOf) {
  Files files = shop("overrides: { Habit: ./mine.sync }\n");
  files["k/mine.sync"] =
      "sync Mine when { Order/ship: [] => lost[ order: ?o ] } then { Order/ship: [ order: ?o; priority: \"slow\" ] }\n"
      "guard Bypass before { Order/place: [] } require { filter(1 = 2) } else engine.refused[ message: \"no\" ]\n";
  EXPECT_THAT(found_in(load_files(files)),
              ElementsAre("k/mine.sync:2:7+6 warning unlisted-sync: guard `Bypass` is not loaded: what replaces a sync "
                          "brings no guards [list a file with the guard under `guards` of a suite]"));
}

TEST(KitChanges, AConceptOfTheKitItselfIsNotMissingWithAKitThatIs) {
  Kit kit =
      load_files(shop("uses: [ { suite: zz, optional: true, concepts: [ { name: Order }, { name: Other } ] } ]\n"));
  EXPECT_THAT(found_in(kit), IsEmpty());
  ASSERT_EQ(kit.absent.size(), 1u);
  EXPECT_EQ(kit.absent[0].name, "Other");
  EXPECT_THAT(syncs_of(kit),
              ElementsAre("Keep = Keep required", "Habit = Usual recommended", "Charge = Charge integration"));
}

TEST(KitChanges, OnlyWhatIsThereIsCounted) {
  Files files = shop("overrides: { Habit: ./mine.sync }\n");
  files.erase("k/pay.sync");
  Kit kit = load_files(files);
  EXPECT_THAT(syncs_of(kit),
              ElementsAre("Keep = Keep required", "Habit = Usual recommended: overridden by k/mine.sync",
                          "./pay.sync = ./pay.sync integration: its file is missing", "Habit = Mine recommended"));
  EXPECT_EQ(check(std::move(kit)).syncs, 2u);
}

TEST(KitChanges, AnOverlayNamesSyncsByPlainNames) {
  Files files = shop();
  for (const std::string& name : {std::string(1'000'000, 'x'), std::string("\"a\\e[3m\"")}) {
    files["home/shop/overrides.yaml"] = "disable: [ " + name + " ]\n";
    EXPECT_THAT(found_in(load_files(files, {.overlay_folder = "home"})),
                ElementsAre("home/shop/overrides.yaml:1:12+1 error overlay: a name is of letters, digits, -, . and _, "
                            "begins with a letter and has at most 256 characters [an overlay has `overrides: { Name: "
                            "file.sync }` and `disable: [ Name ]`]"));
  }
  files["home/shop/overrides.yaml"] = "overrides: { \"a b\": ./mine.sync }\n";
  EXPECT_THAT(found_in(load_files(files, {.overlay_folder = "home"})), testing::SizeIs(1));
}

TEST(KitChanges, AnAliasIsNoOtherSyncsName) {
  auto with = [](const std::string& alias) {
    Files files = shop();
    std::string& suite = files["k/suite.yaml"];
    suite.replace(suite.find("name: Habit"), 11, "name: " + alias);
    return found_in(load_files(files));
  };
  EXPECT_THAT(with("Usual"), IsEmpty());  // its own
  EXPECT_THAT(with("Keep"), ElementsAre(testing::HasSubstr(
                                "error duplicate: a second sync with the name `Keep` [rename or remove one; "
                                "the first is at k/a.sync:1]")));
  EXPECT_THAT(with("Charge"), testing::SizeIs(1));
}

}  // namespace kit_changes_test
}  // namespace sluice::lang
