// Next steps of guards and of variants, from the kit to the journal.
#include "engine/rules/next_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "engine/journal/step.h"
#include "engine/testing_machine.h"

namespace sluice::engine {
namespace next_steps_test {

const std::string kRevision = R"(concept Revision [V] {
  state {
    revisions: set V
    lifecycle: V -> String
  }
  actions {
    action warm(revision: V, wait: option Int) {
      -> ok(revision: V)
      -> failed(check: String, tries: Int)
      next: Revision/warm [ revision: revision ] if tries < 3
      next: "look at the check {{check}} of {{revision}}"
    }
    action use(revision: V) {
      -> ok
      -> notReady(revision: V)
    }
    action drop(revision: V) {
      -> ok
    }
  }
}
)";
const std::string kGuards = R"(guard Ready
  before { Revision/use: [ revision: ?v ] }
  where { Revision: { ?v lifecycle: ?l } }
  require { filter(?l = "ready") }
  else notReady[ revision: ?v ]
  next: Revision/warm [ revision: ?v ] if ?l = "staged"
  next: view "revisions" [ revision: ?v ]
guard Kept
  before { Revision/drop: [] }
  require { filter(1 = 2) }
  else engine.refused[ message: "it stays" ]
  next: "leave it"
)";

class Nexts : public testing::Test {
 protected:
  Nexts() : world({kRevision}, kGuards) {
    world.on("Revision/warm").act = [this](const json::object& ask, lang::Rows& rows) {
      rows.put("Revision", std::string(ask.at("revision").as_string()), json::object{{"lifecycle", lifecycle}});
      return tries == 0 ? lang::Completion{"ok", ask}
                        : lang::Completion{"failed", {{"check", "health"}, {"tries", tries}}};
    };
  }

  json::array next_of(const std::string& action) { return world.run(action, R"({"revision":"r1"})").end.next; }

  World world;
  std::string lifecycle = "staged";
  int tries = 0;
};

json::array steps(const std::string& text) { return json::parse(text).as_array(); }

TEST_F(Nexts, OfAGuardHoldForTheRowThatItRefused) {
  EXPECT_EQ(next_of("Revision/warm"), json::array());
  EXPECT_EQ(next_of("Revision/use"), steps(R"([{"action":"Revision/warm","input":{"revision":"r1"}},
                                               {"view":"revisions","input":{"revision":"r1"}}])"));
  lifecycle = "archived";
  next_of("Revision/warm");
  EXPECT_EQ(next_of("Revision/use"), steps(R"([{"view":"revisions","input":{"revision":"r1"}}])"));
  EXPECT_EQ(next_of("Revision/drop"), steps(R"([{"text":"leave it"}])"));
}

TEST_F(Nexts, OfAVariantAreMadeOfItsFieldsAndTheArguments) {
  tries = 1;
  EXPECT_EQ(next_of("Revision/warm"), steps(R"([{"action":"Revision/warm","input":{"revision":"r1"}},
                                                {"text":"look at the check health of r1"}])"));
  tries = 3;
  EXPECT_EQ(next_of("Revision/warm"), steps(R"([{"text":"look at the check health of r1"}])"));
}

TEST_F(Nexts, AreInTheJournal) {
  tries = 3;
  next_of("Revision/warm");
  Step step = world.steps().back();
  EXPECT_EQ(step.end->next, steps(R"([{"text":"look at the check health of r1"}])"));
}

TEST(NextText, SaysAStepInPlainWords) {
  EXPECT_EQ(next_text(json::parse(R"({"action":"Traffic/set","input":{"deployment":"d","entries":[1]}})")),
            "Traffic/set deployment=d entries=[1]");
  EXPECT_EQ(next_text(json::parse(R"({"view":"doctor"})")), "view doctor");
  EXPECT_EQ(next_text(json::parse(R"({"text":"wait"})")), "wait");
  EXPECT_EQ(next_text(json::parse("7")), "");
}

}  // namespace next_steps_test
}  // namespace sluice::engine
