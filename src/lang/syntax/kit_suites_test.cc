// Suites, the kits that they use, and the files that they name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/syntax/testing_shop.h"

namespace sluice::lang {
namespace kit_suites_test {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(KitSuites, AMissingConceptIsAnError) {
  Files files = shop();
  files.erase("k/order.concept");
  EXPECT_THAT(found_in(load_files(files)),
              ElementsAre("k/suite.yaml:3:18+15 error missing-file: the concept `Order` has no "
                          "file k/order.concept [mend the path, or take the entry out]"));
}

TEST(KitSuites, UsedKitsAreFoundByName) {
  Files files = shop("uses:\n  - suite: base\n");
  files["lib/base/suite.yaml"] = "kit: { name: base, version: 1.0.0 }\nconcepts:\n  Log: { spec: log.concept }\n";
  files["lib/base/log.concept"] = "concept Log { actions { action write(text: String) { -> ok } } }";
  Kit kit = load_files(files, {.search_path = {"lib"}});
  EXPECT_THAT(found_in(kit), IsEmpty());
  ASSERT_EQ(kit.concepts.size(), 3u);
  EXPECT_EQ(kit.concepts[0].tree.name, "Log");
  EXPECT_EQ(kit.concepts[0].kit, "base");
  EXPECT_THAT(found_in(load_files(files)),
              ElementsAre(testing::HasSubstr("error unknown-suite: the kit `base` is not installed")));
}

TEST(KitSuites, CyclicUsesNameTheCycle) {
  Files files = shop("uses:\n  - suite: base\n");
  files["lib/base/suite.yaml"] = "kit: { name: base, version: 1.0.0 }\nuses:\n  - suite: shop\n";
  EXPECT_THAT(
      found_in(load_files(files, {.search_path = {"lib"}})),
      ElementsAre(testing::HasSubstr(
          "error uses-cycle: suites use one another in a circle: shop → base → shop [take out one of these `uses`]")));
}

TEST(KitSuites, AKitIsUsedByTheNameThatItHas) {
  // Under another name a circle would not be seen.
  Files files = {{"k/suite.yaml", "kit: { name: other }\nuses: [ { suite: k } ]\n"}};
  EXPECT_THAT(found_in(load_files(files, {.search_path = {"."}})),
              ElementsAre("k/suite.yaml:2:18+1 error wrong-name: k/suite.yaml holds the kit `other`, not `k` [give "
                          "the folder and the kit the same name]"));
}

TEST(KitSuites, KitsUseOneAnotherSoDeepAndNoDeeper) {
  Files files;
  for (int i = 0; i < 300; ++i) {
    std::string name = i == 0 ? "k" : "k" + std::to_string(i);
    files[(i == 0 ? "" : "lib/") + name + "/suite.yaml"] =
        "kit: { name: " + name + " }\nuses: [ { suite: k" + std::to_string(i + 1) + " } ]\n";
  }
  EXPECT_THAT(found_in(load_files(files, {.search_path = {"lib"}})),
              ElementsAre(testing::HasSubstr("error uses-depth: kits use one another more than 100 deep")));
}

TEST(KitSuites, AFaultOfTheSuiteHidesNoOther) {
  Files files = shop("colour: blue\n");
  files["k/order.concept"] =
      "concept Order [O] { state { orders: set O n: O -> Nix } actions { action a() { -> ok } } }";
  Kit kit = load_files(files);
  EXPECT_THAT(found_in(kit), testing::Contains(testing::HasSubstr("unknown key `colour`")));
  EXPECT_THAT(told(kit), testing::Contains(testing::HasSubstr("error unknown-type: ")));
}

TEST(KitSuites, AnIntegrationThatCannotBeReadIsAnError) {
  Files files = shop();
  files.erase("k/pay.sync");
  EXPECT_THAT(found_in(load_files(files)), testing::Contains(testing::HasSubstr("warning missing-file")));
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

TEST(KitSuites, AFaultInAUsedSuiteIsToldThere) {
  Files files = shop("uses:\n  - suite: base\n");
  files["lib/base/suite.yaml"] =
      "kit: { name: base }\nconcepts:\n  Log:\n    spec: ./log.concept\n    params: { Nope: { as: x } }\n"
      "scope:\n  Nobody: name\n";
  files["lib/base/log.concept"] = "concept Log [L] { actions { action write(text: String) { -> ok } } }";
  EXPECT_THAT(
      told(load_files(files, {.search_path = {"lib"}})),
      testing::IsSupersetOf(
          {testing::HasSubstr("lib/base/suite.yaml:5:15+4 error unknown-parameter: `Log` has no type parameter"),
           testing::HasSubstr("lib/base/suite.yaml:7:3+6 error unknown-concept: there is no concept `Nobody`")}));
}

TEST(KitSuites, RulesThatNameABrokenConceptAreNotJudged) {
  Files files = shop();
  files["k/card.concept"] = "concept Card {";
  Checked checked = check(load_files(files));
  EXPECT_FALSE(checked.kit);
  for (const Diagnostic& each : checked.diagnostics) {
    if (each.severity == Diagnostic::Severity::error) {
      EXPECT_EQ(each.file, "k/card.concept") << each.text;
    }
  }
}

TEST(KitSuites, ARuleWithAnErrorDoesNotHideTheOthersOfItsFile) {
  Files files = shop("disable: [ Habit ]\n");
  files["k/a.sync"] =
      "sync Keep when { Order/place: [] => ok[ order: ?o ] } then { Order/ship: [ order: ?p; priority: \"slow\" ] }\n"
      "sync Usual when { Order/place: [ customer: ?p ] => ok[] } then { ?p/create: [ order: ?q ] }\n"
      "guard G before { Order/ship: [ order: ?o ] } require { Order: { ?o } } else lst[ order: ?o ]\n";
  EXPECT_THAT(syncs_of(load_files(files)), ElementsAre("Keep = Keep required", "Charge = Charge integration"));
  EXPECT_THAT(
      told(load_files(files)),
      ElementsAre(
          "k/a.sync:1:83+2 error unbound-variable: sync `Keep`: `?p` in then is not bound by any pattern or "
          "query [it could be bound by `Order/place: [] => ok[ order: ?p ]` in when, `Order: { ?p … }` in where "
          "or `caused by Order/place: [] => ok[ order: ?p ]` in when]",
          "k/a.sync:2:66+2 error target-candidates: a variable as the target needs its candidates [write `?p in "
          "{A, B}/action: [ … ]`]",
          "k/a.sync:3:77+3 error guard-variant: `Order/ship` has no variant `lst` [did you mean `lost`?]"));
}

TEST(KitSuites, ASyncThatIsListedTwiceIsToldAtTheSecondEntry) {
  Files files = shop();
  files["k/suite.yaml"] =
      kHead + kConcepts + "syncs:\n  recommended:\n    - { path: ./mine.sync }\n    - { path: ./mine.sync }\n";
  EXPECT_THAT(found_in(load_files(files)),
              testing::Contains("k/suite.yaml:8:7+1 error duplicate: sync `Mine` is listed twice [take out one of the "
                                "two; the first is at k/suite.yaml:7]"));
}

TEST(KitSuites, AKitThatIsUsedIsToldAtItsName) {
  EXPECT_THAT(
      found_in(load_files(shop("uses: [ { optional: false, suite: zz } ]\n"))),
      ElementsAre("k/suite.yaml:12:35+2 error unknown-suite: the kit `zz` is not installed [install it, or write "
                  "`optional: true`]"));
}

TEST(KitSuites, AFaultInAnActionHidesNoneOfTheOthers) {
  Files files = shop();
  files["k/card.concept"] =
      "concept Card [C] {\n state { owner: C -> Nix }\n actions {\n  action a(n: Int) { runs: efect -> ok }\n"
      "  action b(m: Nox) { -> ok }\n  action b() { -> ok }\n }\n}\n";
  EXPECT_THAT(found_in(load_files(files)),
              ElementsAre("k/card.concept:4:28+5 error syntax: expected how the action runs, found `efect` [write "
                          "pure, query, effect, answered or answered outside]",
                          "k/card.concept:2:22+3 error unknown-type: there is no type `Nix` [declare it as a type "
                          "parameter: `concept Card [Nix]`]",
                          "k/card.concept:5:15+3 error unknown-type: there is no type `Nox` [declare it as a type "
                          "parameter: `concept Card [Nox]`]",
                          "k/card.concept:6:10+1 error duplicate: a second action `b` [rename or remove one; the first "
                          "is at line 5]"));
}

TEST(KitSuites, ASyncThatIsListedTwiceIsThereOnce) {
  Files files = shop();
  files["k/suite.yaml"] =
      kHead + kConcepts +
      "syncs:\n  recommended:\n    - { path: ./mine.sync }\n    - { path: ./mine.sync, name: Other }\n";
  Kit kit = load_files(files);
  EXPECT_EQ(kit.found.errors(), 1u);
  EXPECT_THAT(syncs_of(kit), ElementsAre("Mine = Mine recommended", "Other = Mine recommended: it is listed twice"));
  EXPECT_EQ(check(std::move(kit)).syncs, 1u);
}

}  // namespace kit_suites_test
}  // namespace sluice::lang
