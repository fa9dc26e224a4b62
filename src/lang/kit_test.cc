// Loading: which files are read, and which syncs are active.
#include "lang/kit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/testing_kit.h"

namespace sluice::lang {
namespace kit_test {

using testing::ElementsAre;
using testing::IsEmpty;

using Files = std::map<std::string, std::string>;

Kit load(const Files& files, const KitOptions& options = {}) {
  return load_kit(
      "k",
      [&](const std::string& path) -> Result<std::string> {
        auto found = files.find(path);
        if (found == files.end()) return Error{.code = Code::not_found, .message = "cannot open " + path};
        return found->second;
      },
      options);
}

std::vector<std::string> found_in(const Kit& kit) {
  std::vector<std::string> lines;
  for (const Diagnostic& each : kit.found.all()) lines.push_back(line_of(each));
  return lines;
}

std::vector<std::string> syncs_of(const Kit& kit) {
  std::vector<std::string> lines;
  for (const KitSync& each : kit.syncs) {
    lines.push_back(each.alias + " = " + each.tree.name.text + " " + std::string(tier_name(each.tier)) +
                    (each.active() ? "" : ": " + each.inactive));
  }
  return lines;
}

const std::string kConcepts =
    "concepts:\n  Order: { spec: ./order.concept }\n  Card: { spec: ./card.concept, optional: true }\n";
const std::string kSyncs =
    "syncs:\n  required:\n    - { path: ./a.sync, sync: Keep }\n  recommended:\n    - { path: ./a.sync, sync: Usual, "
    "name: Habit }\n"
    "  integration:\n    - { path: ./pay.sync }\n";
const std::string kHead = "kit: { name: shop, version: 1.0.0 }\n";

Files shop(const std::string& more = "") {
  return {
      {"k/suite.yaml", kHead + kConcepts + kSyncs + more},
      {"k/order.concept", kOrder},
      {"k/card.concept", kCard},
      {"k/a.sync",
       "sync Keep when { Order/place: [] => ok[ order: ?o ] } then { Order/ship: [ order: ?o; priority: \"slow\" ] }\n"
       "sync Usual when { Order/ship: [] => lost[ order: ?o ] } then { Order/ship: [ order: ?o; priority: \"fast\" ] "
       "}\n"},
      {"k/pay.sync",
       "sync Charge when { Order/pay: [ order: ?o; amount: ?a ] => requested } then { Card/charge: [ order: ?o; "
       "amount: ?a ] }\n"},
      {"k/mine.sync",
       "sync Mine when { Order/ship: [] => lost[ order: ?o ] } then { Order/ship: [ order: ?o; priority: \"slow\" ] "
       "}\n"}};
}

TEST(Kit, LoadsConceptsAndSyncsWithTiersAndAliases) {
  Kit kit = load(shop());
  EXPECT_THAT(found_in(kit), IsEmpty());
  EXPECT_EQ(kit.suite.name, "shop");
  ASSERT_EQ(kit.concepts.size(), 2u);
  EXPECT_THAT(syncs_of(kit),
              ElementsAre("Keep = Keep required", "Habit = Usual recommended", "Charge = Charge integration"));
}

TEST(Kit, IntegrationSyncsWaitForTheirProvider) {
  Files files = shop();
  files.erase("k/card.concept");
  Kit kit = load(files);
  EXPECT_THAT(found_in(kit),
              ElementsAre("k/suite.yaml:4:17+14 warning missing-file: the optional concept `Card` is not loaded: there "
                          "is no k/card.concept [mend the path, or take the entry out]"));
  EXPECT_THAT(syncs_of(kit), ElementsAre("Keep = Keep required", "Habit = Usual recommended",
                                         "Charge = Charge integration: `Card` is not loaded"));
  kit = load(shop(), {.load = std::vector<std::string>{}});
  EXPECT_THAT(found_in(kit), IsEmpty());
  EXPECT_EQ(kit.syncs[2].inactive, "`Card` is not loaded");
}

TEST(Kit, AMissingConceptIsAnError) {
  Files files = shop();
  files.erase("k/order.concept");
  EXPECT_THAT(found_in(load(files)), ElementsAre("k/suite.yaml:3:18+15 error missing-file: the concept `Order` has no "
                                                 "file k/order.concept [mend the path, or take the entry out]"));
}

TEST(Kit, ARecommendedSyncIsReplacedByName) {
  for (const std::string name : {"Habit", "Usual"}) {
    Kit kit = load(shop("overrides: { " + name + ": ./mine.sync }\n"));
    EXPECT_THAT(found_in(kit), IsEmpty());
    EXPECT_THAT(syncs_of(kit),
                ElementsAre("Keep = Keep required", "Habit = Usual recommended: overridden by k/mine.sync",
                            "Charge = Charge integration", "Habit = Mine recommended"));
  }
}

TEST(Kit, ARequiredSyncStays) {
  EXPECT_THAT(found_in(load(shop("disable: [ Keep ]\n"))),
              ElementsAre("k/suite.yaml:12:12+4 error required-sync: sync `Keep` of suite `shop` is required: it "
                          "cannot be disabled [take this entry out]"));
  EXPECT_THAT(found_in(load(shop("overrides: { Keep: ./mine.sync }\n"))),
              ElementsAre("k/suite.yaml:12:14+4 error required-sync: sync `Keep` of suite `shop` is required: it "
                          "cannot be overridden [take this entry out]"));
}

TEST(Kit, OverlaysChangeWhatIsActive) {
  Files files = shop();
  files["home/shop/overrides.yaml"] = "disable: [ Habit ]\n";
  Kit kit = load(files, {.overlay_folder = "home"});
  EXPECT_THAT(found_in(kit), IsEmpty());
  EXPECT_EQ(kit.syncs[1].inactive, "disabled in home/shop/overrides.yaml");
  files["home/shop/overrides.yaml"] = "disable: [ Habbit ]\ndisabel: [ Usual ]\n";
  EXPECT_THAT(found_in(load(files, {.overlay_folder = "home"})),
              ElementsAre("home/shop/overrides.yaml:2:1+1 error overlay: an overlay has no `disabel` of this shape "
                          "[an overlay has `overrides: { Name: file.sync }` and `disable: [ Name ]`]",
                          "home/shop/overrides.yaml:1:12+6 error unknown-sync: there is no sync `Habbit` to be "
                          "disabled [did you mean `Habit`?]"));
}

TEST(Kit, AReplacementKnowsWhatItReplaces) {
  Files files = shop();
  files["home/shop/overrides.yaml"] = "overrides: { Habit: mine.sync }\n";
  files["home/shop/mine.sync"] = files["k/mine.sync"];
  Kit kit = load(files, {.overlay_folder = "home"});
  EXPECT_THAT(found_in(kit), IsEmpty());
  EXPECT_EQ(kit.syncs[3].replaces, "k/a.sync:2");
  ASSERT_EQ(kit.overlaid.size(), 1u);
  EXPECT_EQ(kit.overlaid[0].sync, "Habit");
  EXPECT_EQ(kit.overlaid[0].overlay, "home/shop/overrides.yaml");
  EXPECT_EQ(kit.overlaid[0].by, "home/shop/mine.sync");
  // What the suite says itself is no overlay's doing.
  EXPECT_TRUE(load(shop("disable: [ Habit ]\n")).overlaid.empty());
}

TEST(Kit, ASyncIsChangedOnceInAFile) {
  EXPECT_THAT(found_in(load(shop("overrides: { Habit: ./mine.sync }\ndisable: [ Usual ]\n"))),
              ElementsAre("k/suite.yaml:13:12+5 error changed-twice: sync `Usual` is both overridden and disabled "
                          "[keep one of the two; the other is at line 12]"));
  EXPECT_THAT(found_in(load(shop("overrides: { Habit: ./mine.sync, Usual: ./mine.sync }\n"))),
              ElementsAre("k/suite.yaml:12:34+5 error changed-twice: sync `Usual` is overridden twice [keep one of the "
                          "two; the other is at line 12]"));
  Files files = shop();
  files["home/shop/overrides.yaml"] = "disable: [ Habit ]\noverrides: { Habit: mine.sync }\n";
  EXPECT_THAT(found_in(load(files, {.overlay_folder = "home"})),
              ElementsAre("home/shop/overrides.yaml:2:14+5 error changed-twice: sync `Habit` is both overridden and "
                          "disabled [keep one of the two; the other is at line 1]"));
}

TEST(Kit, AnOverlayHasTheLastWord) {
  Files files = shop("disable: [ Habit ]\n");
  files["home/shop/overrides.yaml"] = "overrides: { Habit: mine.sync }\n";
  files["home/shop/mine.sync"] = files["k/mine.sync"];
  Kit kit = load(files, {.overlay_folder = "home"});
  EXPECT_THAT(found_in(kit), IsEmpty());
  EXPECT_THAT(syncs_of(kit),
              ElementsAre("Keep = Keep required", "Habit = Usual recommended: overridden by home/shop/mine.sync",
                          "Charge = Charge integration", "Habit = Mine recommended"));
  files = shop("overrides: { Habit: ./mine.sync }\n");
  files["home/shop/overrides.yaml"] = "disable: [ Habit ]\n";
  kit = load(files, {.overlay_folder = "home"});
  EXPECT_THAT(found_in(kit), IsEmpty());
  EXPECT_EQ(kit.syncs[3].inactive, "disabled in home/shop/overrides.yaml");
}

TEST(Kit, NoPathLeadsOutOfTheFolder) {
  const std::string why =
      " leads out of the folder of k/suite.yaml [copy the file into the folder; what another kit "
      "has comes with `uses`]";
  Files files = shop("guards: [ syncs/../../g.sync ]\noverrides: { Habit: ../mine.sync }\n");
  std::string& suite = files["k/suite.yaml"];
  suite.replace(suite.find("./order.concept"), 15, "../k/order.concept");
  suite.replace(suite.find("./pay.sync"), 10, "/k/pay.sync");
  EXPECT_THAT(found_in(load(files)),
              ElementsAre("k/suite.yaml:3:18+18 error outside-folder: `../k/order.concept`" + why,
                          "k/suite.yaml:11:15+11 error outside-folder: `/k/pay.sync`" + why,
                          "k/suite.yaml:12:11+18 error outside-folder: `syncs/../../g.sync`" + why,
                          "k/suite.yaml:13:21+12 error outside-folder: `../mine.sync`" + why));
  files = shop();
  files["home/shop/overrides.yaml"] = "overrides: { Habit: ../../k/mine.sync }\n";
  EXPECT_THAT(found_in(load(files, {.overlay_folder = "home"})),
              ElementsAre("home/shop/overrides.yaml:1:21+17 error outside-folder: `../../k/mine.sync` leads out of the "
                          "folder of home/shop/overrides.yaml [copy the file into the folder; what another kit has "
                          "comes with `uses`]"));
  EXPECT_THAT(found_in(load(shop("uses: [ { suite: ../other } ]\n"), {.search_path = {"home"}})),
              ElementsAre("k/suite.yaml:12:18+8 error unknown-suite: `../other` is no name of a kit [write the kit's "
                          "name; where kits are found is not the suite's to say]"));
}

TEST(Kit, DuplicateNamesNameTheFirst) {
  Files files = shop();
  files["k/pay.sync"] +=
      "sync Keep when { Card/charge: [] => ok[ card: ?c ] } then { Card/hold: [ card: ?c ] }\n"
      "guard G before { Order/ship: [ order: ?o ] } require { Order: { ?o } } else lost[]\n"
      "guard G before { Order/ship: [ order: ?o ] } require { Order: { ?o } } else lost[]\n";
  EXPECT_THAT(
      found_in(load(files)),
      ElementsAre(
          "k/pay.sync:2:6+4 error duplicate: a second sync `Keep` [rename or remove one; the first is at k/a.sync:1]",
          "k/pay.sync:4:7+1 error duplicate: a second guard `G` [rename or remove one; the first is at k/pay.sync:3]"));
}

TEST(Kit, SyncsThatNoSuiteListsAreTold) {
  Files files = shop();
  files["k/a.sync"] +=
      "sync Lost when { Order/pay: [] => ok[ order: ?o ] } then { Order/ship: [ order: ?o; priority: \"fast\" ] }\n";
  EXPECT_THAT(found_in(load(files)), ElementsAre("k/a.sync:3:6+4 warning unlisted-sync: sync `Lost` is not loaded: no "
                                                 "suite lists it [add it to suite.yaml with its tier]"));
}

TEST(Kit, UsedKitsAreFoundByName) {
  Files files = shop("uses:\n  - suite: base\n");
  files["lib/base/suite.yaml"] = "kit: { name: base, version: 1.0.0 }\nconcepts:\n  Log: { spec: log.concept }\n";
  files["lib/base/log.concept"] = "concept Log { actions { action write(text: String) { -> ok } } }";
  Kit kit = load(files, {.search_path = {"lib"}});
  EXPECT_THAT(found_in(kit), IsEmpty());
  ASSERT_EQ(kit.concepts.size(), 3u);
  EXPECT_EQ(kit.concepts[0].tree.name, "Log");
  EXPECT_EQ(kit.concepts[0].kit, "base");
  EXPECT_THAT(found_in(load(files)),
              ElementsAre(testing::HasSubstr("error unknown-suite: the kit `base` is not installed")));
}

TEST(Kit, CyclicUsesNameTheCycle) {
  Files files = shop("uses:\n  - suite: base\n");
  files["lib/base/suite.yaml"] = "kit: { name: base, version: 1.0.0 }\nuses:\n  - suite: shop\n";
  EXPECT_THAT(
      found_in(load(files, {.search_path = {"lib"}})),
      ElementsAre(testing::HasSubstr(
          "error uses-cycle: suites use one another in a circle: shop → base → shop [take out one of these `uses`]")));
}

TEST(Kit, AKitIsUsedByTheNameThatItHas) {
  // Under another name a circle would not be seen.
  Files files = {{"k/suite.yaml", "kit: { name: other }\nuses: [ { suite: k } ]\n"}};
  EXPECT_THAT(found_in(load(files, {.search_path = {"."}})),
              ElementsAre("k/suite.yaml:2:18+1 error wrong-name: k/suite.yaml holds the kit `other`, not `k` [give "
                          "the folder and the kit the same name]"));
}

TEST(Kit, KitsUseOneAnotherSoDeepAndNoDeeper) {
  Files files;
  for (int i = 0; i < 300; ++i) {
    std::string name = i == 0 ? "k" : "k" + std::to_string(i);
    files[(i == 0 ? "" : "lib/") + name + "/suite.yaml"] =
        "kit: { name: " + name + " }\nuses: [ { suite: k" + std::to_string(i + 1) + " } ]\n";
  }
  EXPECT_THAT(found_in(load(files, {.search_path = {"lib"}})),
              ElementsAre(testing::HasSubstr("error uses-depth: kits use one another more than 100 deep")));
}

TEST(Kit, AFaultOfTheSuiteHidesNoOther) {
  Files files = shop("colour: blue\n");
  files["k/order.concept"] =
      "concept Order [O] { state { orders: set O n: O -> Nix } actions { action a() { -> ok } } }";
  Kit kit = load(files);
  EXPECT_THAT(found_in(kit), testing::Contains(testing::HasSubstr("unknown key `colour`")));
  EXPECT_THAT(told(kit), testing::Contains(testing::HasSubstr("error unknown-type: ")));
}

TEST(Kit, AnIntegrationThatCannotBeReadIsAnError) {
  Files files = shop();
  files.erase("k/pay.sync");
  EXPECT_THAT(found_in(load(files)), testing::Contains(testing::HasSubstr("warning missing-file")));
  Kit kit = load_kit("k",
                     [&](const std::string& path) -> Result<std::string> {
                       if (path == "k/pay.sync")
                         return Error{.code = Code::limit, .message = "k/pay.sync is too large"};
                       return files.contains(path) ? Result<std::string>(files[path])
                                                   : Error{.code = Code::not_found, .message = ""};
                     },
                     {});
  EXPECT_THAT(found_in(kit), testing::Contains(testing::HasSubstr("error missing-file")));
}

TEST(Kit, AGuardBesideAReplacementIsToldOf) {
  Files files = shop("overrides: { Habit: ./mine.sync }\n");
  files["k/mine.sync"] =
      "sync Mine when { Order/ship: [] => lost[ order: ?o ] } then { Order/ship: [ order: ?o; priority: \"slow\" ] }\n"
      "guard Bypass before { Order/place: [] } require { filter(1 = 2) } else engine.refused[ message: \"no\" ]\n";
  EXPECT_THAT(found_in(load(files)),
              ElementsAre("k/mine.sync:2:7+6 warning unlisted-sync: guard `Bypass` is not loaded: what replaces a sync "
                          "brings no guards [list a file with the guard under `guards` of a suite]"));
}

TEST(Kit, AFaultInAUsedSuiteIsToldThere) {
  Files files = shop("uses:\n  - suite: base\n");
  files["lib/base/suite.yaml"] =
      "kit: { name: base }\nconcepts:\n  Log:\n    spec: ./log.concept\n    params: { Nope: { as: x } }\n"
      "scope:\n  Nobody: name\n";
  files["lib/base/log.concept"] = "concept Log [L] { actions { action write(text: String) { -> ok } } }";
  EXPECT_THAT(
      told(load(files, {.search_path = {"lib"}})),
      testing::IsSupersetOf(
          {testing::HasSubstr("lib/base/suite.yaml:5:15+4 error unknown-parameter: `Log` has no type parameter"),
           testing::HasSubstr("lib/base/suite.yaml:7:3+6 error unknown-concept: there is no concept `Nobody`")}));
}

TEST(Kit, RulesThatNameABrokenConceptAreNotJudged) {
  Files files = shop();
  files["k/card.concept"] = "concept Card {";
  Checked checked = check(load(files));
  EXPECT_FALSE(checked.kit);
  for (const Diagnostic& each : checked.diagnostics) {
    if (each.severity == Diagnostic::Severity::error) {
      EXPECT_EQ(each.file, "k/card.concept") << each.text;
    }
  }
}

TEST(Kit, ARuleWithAnErrorDoesNotHideTheOthersOfItsFile) {
  Files files = shop("disable: [ Habit ]\n");
  files["k/a.sync"] =
      "sync Keep when { Order/place: [] => ok[ order: ?o ] } then { Order/ship: [ order: ?p; priority: \"slow\" ] }\n"
      "sync Usual when { Order/place: [ customer: ?p ] => ok[] } then { ?p/create: [ order: ?q ] }\n"
      "guard G before { Order/ship: [ order: ?o ] } require { Order: { ?o } } else lst[ order: ?o ]\n";
  EXPECT_THAT(syncs_of(load(files)), ElementsAre("Keep = Keep required", "Charge = Charge integration"));
  EXPECT_THAT(
      told(load(files)),
      ElementsAre(
          "k/a.sync:1:83+2 error unbound-variable: sync `Keep`: `?p` in then is not bound by any pattern or "
          "query [it could be bound by `Order/place: [] => ok[ order: ?p ]` in when, `Order: { ?p … }` in where "
          "or `caused by Order/place: [] => ok[ order: ?p ]` in when]",
          "k/a.sync:2:66+2 error target-candidates: a variable as the target needs its candidates [write `?p in "
          "{A, B}/action: [ … ]`]",
          "k/a.sync:3:77+3 error guard-variant: `Order/ship` has no variant `lst` [did you mean `lost`?]"));
}

TEST(Kit, AFolderWithoutASuiteIsNoKit) {
  Kit kit = load({});
  EXPECT_THAT(
      found_in(kit),
      ElementsAre(
          "k/suite.yaml:1:1+1 error missing-file: cannot open k/suite.yaml [a kit is a folder with a suite.yaml]"));
  EXPECT_FALSE(check(kit).kit);
}

TEST(Kit, PointsAtThePathThatCannotBeRead) {
  EXPECT_THAT(
      found_in(load({{"k/suite.yaml",
                      "kit: { name: k }\nconcepts:\n  spec: { spec: ./spec }\nsyncs:\n  required:\n    - path: "
                      "./a.sync\n  integration:\n    - ./b.sync\n"}})),
      ElementsAre("k/suite.yaml:3:17+6 error missing-file: the concept `spec` has no file k/spec [mend the path, or "
                  "take the entry out]",
                  "k/suite.yaml:6:13+8 error missing-file: the sync `./a.sync` is missing: there is no file k/a.sync "
                  "[mend the path, or take the entry out]",
                  "k/suite.yaml:8:7+8 warning missing-file: the integration sync `./b.sync` is inactive: there is no "
                  "file k/b.sync [mend the path, or take the entry out]"));
  EXPECT_THAT(found_in(load({})),
              ElementsAre("k/suite.yaml:1:1+1 error missing-file: cannot open k/suite.yaml [a kit is a "
                          "folder with a suite.yaml]"));
}

TEST(Kit, ASyncThatIsListedTwiceIsToldAtTheSecondEntry) {
  Files files = shop();
  files["k/suite.yaml"] =
      kHead + kConcepts + "syncs:\n  recommended:\n    - { path: ./mine.sync }\n    - { path: ./mine.sync }\n";
  EXPECT_THAT(found_in(load(files)),
              testing::Contains("k/suite.yaml:8:7+1 error duplicate: sync `Mine` is listed twice [take out one of the "
                                "two; the first is at k/suite.yaml:7]"));
}

TEST(Kit, AKitThatIsUsedIsToldAtItsName) {
  EXPECT_THAT(
      found_in(load(shop("uses: [ { optional: false, suite: zz } ]\n"))),
      ElementsAre("k/suite.yaml:12:35+2 error unknown-suite: the kit `zz` is not installed [install it, or write "
                  "`optional: true`]"));
}

TEST(Kit, AConceptOfTheKitItselfIsNotMissingWithAKitThatIs) {
  Kit kit = load(shop("uses: [ { suite: zz, optional: true, concepts: [ { name: Order }, { name: Other } ] } ]\n"));
  EXPECT_THAT(found_in(kit), IsEmpty());
  ASSERT_EQ(kit.absent.size(), 1u);
  EXPECT_EQ(kit.absent[0].name, "Other");
  EXPECT_THAT(syncs_of(kit),
              ElementsAre("Keep = Keep required", "Habit = Usual recommended", "Charge = Charge integration"));
}

}  // namespace kit_test
}  // namespace sluice::lang
