// Near misses, by hand and against the reference.
#include "engine/near_miss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing_reference.h"
#include "lang/print.h"

namespace sluice::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class NearMisses : public testing::Test {
 protected:
  void load(const std::string& rules) {
    set = set_of(kSmallKit, rules);
    records.clear();
  }
  RecordRef add(const std::string& action, const std::string& input, const std::string& outcome,
                Causes causes = nullptr) {
    RecordOf record{*set, records.size() + 1};
    records.push_back(record(action, input, outcome, "{}", std::move(causes)));
    return records.back();
  }
  std::vector<std::string> missing() const {
    std::vector<std::string> lines;
    for (const NearMiss& each : near_misses(*set, records)) lines.push_back(each.sync + " misses " + each.missing);
    return lines;
  }

  std::shared_ptr<const SyncSet> set;
  std::vector<RecordRef> records;
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
    for (const Node& node : nodes) records.push_back(node.record);
    Reference reference(set->kit(), nodes);
    std::vector<std::string> expected;
    std::vector<size_t> arrived;
    std::set<std::string> fired;
    for (size_t n = 0; n < nodes.size(); ++n) {
      arrived.push_back(n);
      for (const lang::KitSync& sync : set->kit().kit().syncs) {
        if (!reference.matches(sync.tree, arrived).empty()) fired.insert(sync.tree.name.text);
      }
    }
    for (const lang::KitSync& sync : set->kit().kit().syncs) {
      if (fired.contains(sync.tree.name.text) || !reference.is_near(sync.tree)) continue;
      size_t depth = reference.deepest(sync.tree, 0, 0, {}, {});
      const auto& when = sync.tree.when;
      if (depth == when.size()) {
        depth = static_cast<size_t>(std::ranges::find(when, lang::Pattern::Link::latest, &lang::Pattern::link) -
                                    when.begin());
        ASSERT_LT(depth, when.size());
      }
      std::string text = lang::print(when[depth]);
      for (char& c : text) {
        if (c == lang::kSoftBreak || c == lang::kStrongBreak) c = ' ';
      }
      expected.push_back(sync.tree.name.text + " misses " + text);
    }
    ASSERT_EQ(missing(), expected) << "seed " << seed << "\n" << set->text();
    told += expected.size();
  }
  EXPECT_GT(told, 300);
}

}  // namespace
}  // namespace sluice::engine
