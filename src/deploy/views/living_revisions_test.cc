// Rows in memory, one of them archived.
#include "deploy/views/living_revisions.h"

#include <gtest/gtest.h>

#include "deploy/testing_views.h"
#include "revision.gen.h"

namespace sluice::deploy::views {
namespace living_revisions_test {

TEST(LivingRevisions, AreAllButTheArchived) {
  RowsInMemory rows;
  rows.deployment("d1");
  rows.revision("a", "d1", 1);
  rows.revision("b", "d1", 2);
  revision::State(rows.rows).edit(revision::RevisionId("a"), [](revision::RevisionRecord& record) {
    record.lifecycle = revision::RevisionLifecycle::archived;
  });
  EXPECT_EQ(living_revisions(rows), std::set<std::string>{"b"});
}

}  // namespace living_revisions_test
}  // namespace sluice::deploy::views
