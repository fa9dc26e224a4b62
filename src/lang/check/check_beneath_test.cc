// What can fire beneath a request.
#include "lang/check/check_beneath.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/check/testing_kit.h"

namespace sluice::lang {
namespace check_beneath_test {

using testing::ElementsAre;

const std::string kConcept =
    "concept A { actions {\naction ask(n: Int) { runs: answered -> ok }\naction mid(n: Int) { runs: answered -> ok }\n"
    "action x(n: Int) { -> ok(n: Int) }\naction y(n: Int) { -> ok(n: Int) } } }";

struct Walked {
  std::vector<size_t> syncs, nested;
  bool mid_beneath_ask;
};

Walked walked(const std::string& rules, const Literals& known = {}) {
  Checked checked = check(kit_of({kConcept}, rules));
  EXPECT_TRUE(checked.kit);
  Kinds kinds(checked.kit->kit(), checked.kit->symbols(), checked.kit->syncs());
  FlowIndex flow(checked.kit->kit(), checked.kit->symbols(), checked.kit->syncs(), kinds);
  Requests requests(flow);
  Beneath beneath(flow, requests);
  auto none = [](size_t) { return false; };
  Walked result;
  beneath.walk({0, known, {0}, false}, none);
  result.syncs = beneath.syncs;
  beneath.walk({0, known, {0}, true}, none);
  result.nested = beneath.syncs;
  result.mid_beneath_ask = requests.always_beneath(1, 0);
  return result;
}

TEST(Beneath, GoesIntoRequestsOnlyIfAsked) {
  Walked found = walked(
      "sync S when { A/ask: [ n: ?n ] => requested } then { A/mid: [ n: ?n ] A/x: [ n: ?n ] }\n"
      "sync T when { A/mid: [ n: ?n ] => requested } then { A/y: [ n: ?n ] }\n"
      "sync U when { A/x: [ n: ?n ] => ok[]  caused by A/mid: [] => requested } then { A/y: [ n: ?n ] }\n"
      "sync V [eventual] when { A/x: [ n: ?n ] => ok[] } then { A/y: [ n: ?n ] }");
  EXPECT_THAT(found.syncs, ElementsAre(0u));
  EXPECT_THAT(found.nested, ElementsAre(0u, 1u, 2u));
  EXPECT_TRUE(found.mid_beneath_ask);
}

TEST(Beneath, LeavesOutWhatIsForARequestWithOtherLiterals) {
  const std::string rules =
      "sync S when { A/ask: [ n: ?n ] => requested } then { A/x: [ n: ?n ] }\n"
      "sync T when { A/x: [ n: ?n ] => ok[]  caused by A/ask: [ n: 1 ] => requested } then { A/mid: [ n: ?n ] }\n"
      "sync U [eventual] when { A/y: [ n: ?n ] => ok[] } then { A/mid: [ n: ?n ] }";
  EXPECT_THAT(walked(rules).syncs, ElementsAre(0u, 1u));
  EXPECT_THAT(walked(rules, {{"n", "1"}}).syncs, ElementsAre(0u, 1u));
  EXPECT_THAT(walked(rules, {{"n", "2"}}).syncs, ElementsAre(0u));
  EXPECT_FALSE(walked(rules).mid_beneath_ask);  // U starts it in a flow of its own
}

}  // namespace check_beneath_test
}  // namespace sluice::lang
