// A draft of a plan from rows alone; bundles on a disk are in plan_sync_test.cc.
#include "deploy/views/plan_situation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/testing_views.h"

namespace sluice::deploy::views {
namespace plan_situation_test {

using testing::ElementsAre;
using testing::HasSubstr;

class Situations : public testing::Test {
 protected:
  Situations() { rows.environment("local", {.name = "Local", .generation = 3}); }
  DraftedPlan draft(const std::string& manifest, std::vector<GivenBundle> bundles = {}) {
    return draft_plan(rows, shelf,
                      {.manifest = manifest, .environment = "local", .file = "a.yaml", .bundles = std::move(bundles)});
  }

  TestingFolder folder;
  RealDisk disk;
  BundleShelf shelf{disk, folder.path("shelf")};
  RowsInMemory rows;
};

TEST_F(Situations, SaysWhyThereIsNoDraft) {
  EXPECT_EQ(draft_plan(rows, shelf, {.environment = "prod"}).no_environment, "there is no environment prod");
  EXPECT_THAT(draft("app: {name: a}").faults, ElementsAre(HasSubstr("/app/version: missing field")));
  EXPECT_THAT(draft("app: {name: a, version: '1'}\nenvironments: {local: {extends: base}}").faults,
              ElementsAre("local extends base, which the manifest does not have"));
  EXPECT_THAT(draft("app: {name: a, version: '1'}\ncomponents: {web: {folder: w}}").missing,
              ElementsAre("a.yaml:2:14: there is no bundle of web"));
  EXPECT_THAT(draft("app: {name: a, version: '1'}\ncomponents: {web: {folder: w}}",
                    {{"web", "sha256:" + std::string(64, '0'), "", std::nullopt}})
                  .missing,
              ElementsAre(HasSubstr("web: there is no archive sha256:")));
}

TEST_F(Situations, AnEmptyManifestChangesNothing) {
  auto drafted = draft("app: {name: a, version: '1'}\n");
  ASSERT_TRUE(drafted.draft);
  EXPECT_EQ(drafted.draft->seen.size(), 1U);
  EXPECT_EQ(drafted.draft->seen[0].generation, 3);
  EXPECT_EQ(drafted.draft->strategy, "immediate");
}

}  // namespace plan_situation_test
}  // namespace sluice::deploy::views
