// Near misses, by hand and against the reference.
#include "engine/rules/near_miss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/testing_reference.h"
#include "lang/format/print.h"

namespace sluice::engine {
namespace near_miss_test {

using testing::ElementsAre;
using testing::IsEmpty;

class NearMisses : public testing::Test {
 protected:
  void load(const std::string& rules) {
    set = set_of(kSmallKit, rules);
    records.clear();
    dead_ends.clear();
  }
  RecordRef add(const std::string& action, const std::string& input, const std::string& outcome,
                Causes causes = nullptr) {
    RecordOf record{*set, records.size() + 1};
    records.push_back(record(action, input, outcome, "{}", std::move(causes)));
    return records.back();
  }
  std::vector<std::string> missing() const {
    std::vector<std::string> lines;
    for (const NearMiss& each : near_misses(*set, records, dead_ends)) {
      lines.push_back(each.sync + " misses " + each.missing);
    }
    return lines;
  }

  std::shared_ptr<const SyncSet> set;
  std::vector<RecordRef> records;
  std::vector<RecordId> dead_ends;
};

TEST_F(NearMisses, NameThePatternThatIsMissing) {
  load("sync S when { A/go: [ k: ?k ] => ok[]  B/go: [k:?k]=>ok[] } then { Sink/put: [] }");
  add("C/go", "{}", "ok");
  EXPECT_THAT(missing(), IsEmpty());
  add("A/go", R"({"k":"x"})", "ok");
  EXPECT_THAT(missing(), ElementsAre("S misses B/go: [ k: ?k ] => ok[]"));
  add("B/go", R"({"k":"y"})", "ok");
  EXPECT_THAT(missing(), ElementsAre("S misses B/go: [ k: ?k ] => ok[]"));
  add("B/go", R"({"k":"x"})", "ok");
  EXPECT_THAT(missing(), IsEmpty());
}

TEST_F(NearMisses, TheFirstPatternMayBeTheOne) {
  load("sync S when { A/go: [] => ok[]  B/go: [] => ok[] } then { Sink/put: [] }");
  add("B/go", "{}", "ok");
  add("A/go", "{}", "bad");
  EXPECT_THAT(missing(), ElementsAre("S misses A/go: [] => ok[]"));
}

TEST_F(NearMisses, ACauseThatDisagreesIsTold) {
  load("sync S when { A/go: [] => ok[]  caused by B/go: [ k: \"x\" ] => ok[] } then { Sink/put: [] }");
  auto cause = add("B/go", R"({"k":"y"})", "ok");
  add("A/go", "{}", "ok", set->causes_of({cause}, nullptr));
  EXPECT_THAT(missing(), ElementsAre("S misses caused by B/go: [ k: \"x\" ] => ok[]"));
}

TEST_F(NearMisses, ADeadEndTellsWhoListensToHowItsActionEnds) {
  load(
      "sync Good when { A/ask: [] => ok[] caused by B/ask: [] => requested } then { Sink/put: [] }\n"
      "sync Asked when { A/ask: [ k: \"u\" ] => requested } then { Sink/put: [] }\n"
      "sync Other when { B/go: [] => ok[] } then { Sink/put: [] }");
  add("A/ask", R"({"k":"v"})", "no");
  EXPECT_THAT(missing(), IsEmpty());
  dead_ends.push_back(id_of(*records.back()));
  EXPECT_THAT(missing(), ElementsAre("Good misses A/ask: [] => ok[]"));
}

TEST_F(NearMisses, ALatestThatCameTooLateIsTold) {
  load("sync S when { A/go: [] => ok[]  latest B/go: [] => ok[] } then { Sink/put: [] }");
  add("A/go", "{}", "ok");
  add("B/go", "{}", "ok");
  EXPECT_THAT(missing(), ElementsAre("S misses latest B/go: [] => ok[]"));
}

TEST_F(NearMisses, ManyRecordsThatAgreeInPartEndInTime) {
  load("sync S when { A/go: [] => ok[]  B/go: [] => ok[]  C/go: [] => ok[]  C/go: [] => bad[] } then { Sink/put: [] }");
  for (int i = 0; i < 200; ++i) {
    add("A/go", "{}", "ok");
    add("B/go", "{}", "ok");
    add("C/go", "{}", "ok");
  }
  EXPECT_THAT(missing(), ElementsAre("S misses C/go: [] => bad[]"));
}

TEST_F(NearMisses, AgreeWithTheReferenceOnRandomFlows) {
  size_t told = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Dice dice(seed);
    load(dice.rules(6));
    std::vector<Node> nodes = dice.flow(*set, 8);
    std::set<size_t> ends;
    for (const Node& node : nodes) {
      records.push_back(node.record);
      if (!dice.one_in(5)) continue;
      ends.insert(records.size() - 1);
      dead_ends.push_back(id_of(*node.record));
    }
    std::vector<std::string> expected = reference_near_misses(*set, nodes, ends);
    ASSERT_EQ(missing(), expected) << "seed " << seed << "\n" << set->text();
    told += expected.size();
  }
  EXPECT_GT(told, 300);
}

}  // namespace near_miss_test
}  // namespace sluice::engine
