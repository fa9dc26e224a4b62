// What the tests of Revision share: rows in any state, without the way that leads there.
#pragma once

#include <gtest/gtest.h>

#include "lang/run/harness.h"
#include "revision.gen.h"

namespace sluice::deploy::revision {

inline const RevisionDId kShop("d1");
inline const lang::EngineEnd kUnanswered{.outcome = lang::EngineOutcome::unanswered, .message = "nobody answered"};

class RevisionFixture : public testing::Test {
 protected:
  RevisionRecord record(const RevisionId& id) { return *State(harness.rows()).get(id); }
  void state_discards(const RevisionId& id) {
    State(harness.rows()).edit(id, [](RevisionRecord& row) { row.discarded = true; });
  }
  RevisionId in_state(RevisionLifecycle lifecycle) {
    State state(harness.rows());
    return state.add({.deployment = kShop.text(), .environment = "prod", .bundle = "shop", .lifecycle = lifecycle});
  }

  lang::Harness harness{revision_binding()};
};

}  // namespace sluice::deploy::revision
