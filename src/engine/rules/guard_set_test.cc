// Guards before actions and over rows.
#include "engine/rules/guard_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing_engine.h"

namespace sluice::engine {
namespace guard_set_test {

const std::string kTraffic = R"(concept Traffic [D] {
  state {
    deployments: set D
    frozen: D -> option Bool
    entries: D -> list { revision: String, weight: Int }
  }
  actions {
    action set(deployment: D, entries: list { revision: String, weight: Int }) {
      -> ok(generation: Int)
      -> notReady(revision: String, message: String)
    }
    action forward(deployment: D) {
      -> ok
      -> notReady(revision: String, message: String)
    }
    action clear(deployment: D) {
      -> ok
    }
  }
}
)";
const std::string kRevision = R"(concept Revision [V] {
  state {
    revisions: set V
    deployment: V -> String
    lifecycle: V -> "cold" | "ready"
  }
  actions {
    action archive(revision: V) {
      -> ok
      -> inUse(revision: V)
    }
  }
}
)";
const std::string kOverEntries = R"(guard OnlyReadyRevisionsGetTraffic
  over { Traffic.entries: { ?d revision: ?v } }
  require { Revision: { ?v deployment: ?d; lifecycle: "ready" } }
  else notReady[ revision: ?v; message: "{{v}} is not a ready revision of {{d}}" ]
)";
const std::string kStays = R"(guard RoutedRevisionStays
  before { Revision/archive: [ revision: ?v ] }
  require { no Traffic.entries: { revision: ?v } }
  else inUse[ revision: ?v ]
)";

class Guards : public testing::Test {
 protected:
  Guards() {
    state.add("Revision", "v1", R"({"deployment":"d","lifecycle":"ready"})");
    state.add("Revision", "v2", R"({"deployment":"d","lifecycle":"cold"})");
    state.add("Traffic.entries", "d", R"({"revision":"v1","weight":100})");
  }

  void load(const std::string& rules) {
    kit = checked({kTraffic, kRevision}, rules);
    guards = *GuardSet::compile(kit);
  }
  lang::ActionRef action(const std::string& name) const { return action_named(kit->symbols(), name); }
  static ChangedRow entry(const std::string& revision) {
    return {"Traffic.entries", "d", object(R"({"revision":")" + revision + R"(","weight":1})")};
  }

  StateInMemory state;
  std::shared_ptr<const lang::CheckedKit> kit;
  std::shared_ptr<const GuardSet> guards;
};

TEST_F(Guards, OverJudgesEveryChangedRow) {
  load(kOverEntries);
  EXPECT_EQ(guards->over(action("Traffic/set"), {entry("v1")}, state), std::nullopt);
  auto refusal = guards->over(action("Traffic/set"), {entry("v1"), entry("v2"), entry("v3")}, state);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(*refusal, (Refusal{.guard = "OnlyReadyRevisionsGetTraffic",
                               .variant = 1,
                               .fields = object(R"({"revision":"v2","message":"v2 is not a ready revision of d"})")}));
  EXPECT_EQ(guards->over(action("Traffic/set"), {{"Traffic", "d", object("{}")}}, state), std::nullopt);
}

TEST_F(Guards, OverSpeaksInTheVariantOfTheActionThatWrote) {
  load(kOverEntries);
  auto forward = guards->over(action("Traffic/forward"), {entry("v2")}, state);
  ASSERT_TRUE(forward);
  EXPECT_EQ(forward->variant, 1);
  EXPECT_EQ(forward->fields, object(R"({"revision":"v2","message":"v2 is not a ready revision of d"})"));
  auto clear = guards->over(action("Traffic/clear"), {entry("v2")}, state);
  ASSERT_TRUE(clear);
  EXPECT_EQ(clear->variant, std::nullopt);
  EXPECT_EQ(clear->fields, object(R"({"message":"v2 is not a ready revision of d"})"));
}

TEST_F(Guards, BeforeJudgesTheArguments) {
  load(kStays);
  EXPECT_EQ(guards->before(action("Revision/archive"), object(R"({"revision":"v2"})"), state), std::nullopt);
  EXPECT_EQ(guards->before(action("Traffic/clear"), object(R"({"deployment":"d"})"), state), std::nullopt);
  auto refusal = guards->before(action("Revision/archive"), object(R"({"revision":"v1"})"), state);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(*refusal,
            (Refusal{.guard = "RoutedRevisionStays", .variant = 1, .fields = object(R"({"revision":"v1"})")}));
}

TEST_F(Guards, BeforeBindsEachAlternative) {
  load(R"(guard Frozen before { Traffic/{set, forward}: [ deployment: ?d ] } require { no Traffic: { ?d frozen: true } }
          else notReady[ revision: "-"; message: "{{d}} is frozen" ])");
  state.add("Traffic", "d", R"({"frozen":true})");
  for (const char* name : {"Traffic/set", "Traffic/forward"}) {
    auto refusal = guards->before(action(name), object(R"({"deployment":"d"})"), state);
    ASSERT_TRUE(refusal) << name;
    EXPECT_EQ(refusal->variant, 1);
    EXPECT_EQ(refusal->fields, object(R"({"revision":"-","message":"d is frozen"})"));
  }
  EXPECT_EQ(guards->before(action("Traffic/clear"), object(R"({"deployment":"d"})"), state), std::nullopt);
}

TEST_F(Guards, EveryElementOfAnArgumentIsJudgedInOrder) {
  load(R"(guard Ready before { Traffic/set: [ deployment: ?d; entries: ?es ] } where { each(?es as { revision: ?v }) }
          require { Revision: { ?v deployment: ?d; lifecycle: "ready" } } else notReady[ revision: ?v; message: "no" ])");
  auto set = [&](const std::string& entries) {
    return guards->before(action("Traffic/set"), object(R"({"deployment":"d","entries":)" + entries + "}"), state);
  };
  EXPECT_EQ(set("[]"), std::nullopt);
  EXPECT_EQ(set(R"([{"revision":"v1","weight":1}])"), std::nullopt);
  auto refusal = set(R"([{"revision":"v1","weight":1},{"revision":"v9","weight":1},{"revision":"v2","weight":1}])");
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->fields, object(R"({"revision":"v9","message":"no"})"));
}

TEST_F(Guards, RequireNeedsOneSolutionForAllItsLines) {
  load(R"(guard G before { Revision/archive: [ revision: ?v ] }
          require { Revision: { ?v deployment: ?d; lifecycle: ?l } filter(?l = "cold") no Traffic: { ?d frozen: true } }
          else engine.refused[ message: "{{v}} stays" ])");
  EXPECT_EQ(guards->before(action("Revision/archive"), object(R"({"revision":"v2"})"), state), std::nullopt);
  auto warm = guards->before(action("Revision/archive"), object(R"({"revision":"v1"})"), state);
  ASSERT_TRUE(warm);
  EXPECT_EQ(*warm, (Refusal{.guard = "G", .fields = object(R"({"message":"v1 stays"})")}));
  state.add("Traffic", "d", R"({"frozen":true})");
  EXPECT_TRUE(guards->before(action("Revision/archive"), object(R"({"revision":"v2"})"), state));
}

TEST_F(Guards, AllRunByNameAndTheFirstDecides) {
  auto guard = [](const std::string& name, const std::string& wanted) {
    return "guard " + name + " before { Revision/archive: [ revision: ?v ] } require { Revision: { ?v lifecycle: \"" +
           wanted + "\" } } else engine.refused[ message: \"" + name + "\" ]\n";
  };
  load(guard("Third", "ready") + guard("First", "cold") + guard("Second", "ready"));
  auto refusal = guards->before(action("Revision/archive"), object(R"({"revision":"v9"})"), state);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(*refusal,
            (Refusal{.guard = "First", .fields = object(R"({"message":"First"})"), .also = {"Second", "Third"}}));
  refusal = guards->before(action("Revision/archive"), object(R"({"revision":"v2"})"), state);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->guard, "Second");
  EXPECT_EQ(refusal->also, std::vector<std::string>{"Third"});
}

TEST_F(Guards, OneThatCannotBeJudgedRefuses) {
  load(kStays);
  for (int i = 0; i < 10'001; ++i) state.add("Traffic.entries", "e", R"({"revision":"x","weight":1})");
  auto refusal = guards->before(action("Revision/archive"), object(R"({"revision":"x"})"), state);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(
      *refusal,
      (Refusal{.guard = "RoutedRevisionStays",
               .fields = object(
                   R"({"message":"guard `RoutedRevisionStays`: it reads more than 10000 rows of Traffic.entries"})")}));
}

TEST_F(Guards, TwoOfOneNameAreRefused) {
  auto twice = GuardSet::compile(checked({kTraffic, kRevision}, kStays + kStays));
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message, "two active guards are called `RoutedRevisionStays`");
}

}  // namespace guard_set_test
}  // namespace sluice::engine
