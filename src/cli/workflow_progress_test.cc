// What is heard of a workflow, step by step.
#include "cli/workflow_progress.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/testing_context.h"
#include "host/testing_orders.h"

namespace sluice::cli {
namespace workflow_progress_test {

using host::fields;
using host::id;

engine::Step step(uint8_t invocation, const std::string& variant, const std::string& ended,
                  std::vector<engine::Planned> then) {
  engine::Step one{.flow = id(1), .invocation = id(invocation), .kind = engine::Step::Kind::finish};
  one.end = engine::End{.variant = variant, .fields = fields(ended)};
  one.fired = {{.sync = "Any", .then = std::move(then)}};
  return one;
}

TEST(WorkflowProgress, NamesWhatIsWaitedForAndTheRevisionThatWasStaged) {
  TestingContext world({});
  WorkflowProgress progress(world.context, host::Home(world.disk, world.folder.path("home")));
  EXPECT_EQ(progress.flow(), std::nullopt);
  EXPECT_EQ(progress.hear(step(1, "ok", "{}", {host::invoke(2, "Revision/stage", R"({"bundle":"shop"})")})),
            "the archive to be checked");
  EXPECT_EQ(progress.flow(), id(1));
  EXPECT_EQ(progress.staged(), "");
  EXPECT_EQ(progress.hear(step(2, "ok", R"({"revision":"r2","sequence":2})",
                               {host::invoke(3, "Revision/warm", R"({"revision":"r2"})")})),
            "shop@2 to become healthy");
  EXPECT_EQ(progress.staged(), "r2");
  EXPECT_EQ(progress.staged_name(), "shop@2");
  EXPECT_EQ(progress.hear(step(3, "ok", "{}", {host::invoke(4, "Deployment/route", "{}")})), "") << "that is quick";
  EXPECT_EQ(progress.hear(step(4, "ok", "{}", {host::invoke(5, "Revision/drain", R"({"revision":"r1"})")})),
            "a revision to finish its requests");
  EXPECT_EQ(progress.hear(step(5, "ok", "{}", {})), "");
  EXPECT_EQ(world.err.str(), "") << "nothing was under way";
}

}  // namespace workflow_progress_test
}  // namespace sluice::cli
