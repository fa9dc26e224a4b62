// A revision in memory.
#include "deploy/views/revision_statement.h"

#include <gtest/gtest.h>

#include "deploy/testing_views.h"
#include "revision.gen.h"

namespace sluice::deploy::views {
namespace revision_statement_test {

TEST(RevisionStatement, IsThatOfTheRevision) {
  RowsInMemory rows;
  EXPECT_EQ(statement_of(rows, "r1"), "");
  revision::State(rows.rows).put(revision::RevisionId("r1"), {.sidecar = "envelope"});
  EXPECT_EQ(statement_of(rows, "r1"), "envelope");
}

}  // namespace revision_statement_test
}  // namespace sluice::deploy::views
