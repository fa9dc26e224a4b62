// The view of branches that are watched, on rows in memory.
#include <gtest/gtest.h>

#include "deploy/testing_views.h"
#include "deploy/views/releases.h"
#include "git_source.gen.h"
#include "pin.gen.h"

namespace sluice::deploy::views {
namespace git_sources_test {

TEST(GitSources, APinThatWentBackIsOutOfSync) {
  RowsInMemory rows;
  const git_source::GitSourceId infra("infra");
  git_source::State sources(rows.rows);
  sources.put(infra, {.url = "https://git.example/infra.git",
                      .branch = "main",
                      .commit = "c1",
                      .applied = "c1",
                      .status = git_source::GitSourceStatus::synced});
  sources.objects(infra).push({.kind = "Component", .name = "shop"});
  sources.objects(infra).push({.kind = "ReleasePin", .name = "shop/prod", .release = "shop-2"});
  const pin::PinId shop("shop/prod");
  pin::State pins(rows.rows);
  pins.put(shop, {.component = "shop", .environment = "prod", .release = "shop-2"});
  lang::Tools tools;
  const auto seen = [&] { return read_git_sources({.rows = rows, .tools = tools}, {}).value().front(); };
  EXPECT_EQ(seen().status, "synced");
  EXPECT_TRUE(seen().out_of_sync.empty());

  pins.put(shop, {.component = "shop", .environment = "prod", .release = "shop-1"});
  pins.rejected(shop).push({.release = "shop-2", .reason = "it broke"});
  EXPECT_EQ(seen().status, "OutOfSync");
  EXPECT_EQ(seen().message, "shop/prod is shop-1, and the branch says shop-2, which was rejected: it broke");
  EXPECT_EQ(seen().out_of_sync.front().rejected, "it broke");

  sources.edit(infra, [](git_source::GitSourceRecord& record) {
    record.status = git_source::GitSourceStatus::refused;
    record.message = "prod.yaml:1:1: no";
  });
  EXPECT_EQ(seen().status, "refused");
  EXPECT_EQ(seen().message, "prod.yaml:1:1: no");
}

}  // namespace git_sources_test
}  // namespace sluice::deploy::views
