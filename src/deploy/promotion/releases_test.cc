// What people read of releases, pins and pipelines, on rows in memory.
#include "deploy/views/releases.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/json_reader.h"
#include "definition.gen.h"
#include "deploy/testing_views.h"
#include "pin.gen.h"
#include "pipeline.gen.h"
#include "release.gen.h"
#include "settings.gen.h"

namespace sluice::deploy::views {
namespace releases_test {

class ReleasesRead : public testing::Test {
 protected:
  ReleasesRead() {
    pin::State pins(rows.rows);
    const pin::PinId id("shop/dev");
    pins.put(id, {.component = "shop",
                  .environment = "dev",
                  .release = "r2",
                  .generation = 3,
                  .observed = 3,
                  .applied = "r2",
                  .ready = true,
                  .reason = "ReconcileSuccess",
                  .held = 1});
    pins.locks(id).push({.number = 1, .release = "r1", .target = "[]"});
    pins.locks(id).push({.number = 2, .release = "r2", .target = "[]"});
    pins.rejected(id).push({.release = "r0"});
    release::State releases(rows.rows);
    for (const int number : {1, 2}) {
      const release::ReleaseId release("r" + std::to_string(number));
      const std::string digest = "d" + std::to_string(number);
      releases.put(release, {.component = "shop", .document = "{}", .ready = true, .createdAt = {.ms = number}});
      releases.parts(release).push({.role = "workload", .name = "shop", .digest = digest});
      releases.put(release::ReleaseTId(digest), {.text = R"({"image":)" + std::to_string(number) + "}"});
    }
    pipeline::State(rows.rows).put(pipeline::PipelineId("main"), {.document = "{}", .stopped = true, .reason = "fire"});
    pipeline::State(rows.rows).paths(pipeline::PipelineId("main")).push({.from = "dev", .to = "prod"});
    settings::State(rows.rows).put(settings::SettingsId("shop/dev"),
                                   {.component = "shop", .environment = "dev", .document = "{}"});
    definition::State(rows.rows).put(definition::DefinitionId("Component/shop"), {.name = "shop", .document = "{}"});
  }
  Result<json::value> read(const std::string& name, const json::object& query = {}) {
    lang::Tools tools;
    const auto views = releases_views();
    const auto view = std::ranges::find(views, name, &lang::View::name);
    return view->read({.rows = rows, .tools = tools}, query);
  }
  RowsInMemory rows;
};

TEST_F(ReleasesRead, ReleasesComeWithTheirPlaces) {
  const auto all = read("releases").value().as_array();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].at("release"), json::value("r2")) << "the newest first";
  EXPECT_EQ(all[0].at("pinned").at(0).at("environment"), json::value("dev"));
  EXPECT_EQ(read("releases", {{"release", "r1"}}).value().as_array().size(), 1U);
  EXPECT_TRUE(read("releases", {{"component", "cart"}}).value().as_array().empty());
}

TEST_F(ReleasesRead, ReleasesAreCompared) {
  const auto all = read("release-diff", {{"left", "r1"}, {"right", "r2"}}).value();
  ASSERT_EQ(all.as_array().size(), 1U);
  EXPECT_EQ(all.at(0).at("part"), json::value("workload shop"));
  EXPECT_EQ(all.at(0).at("pointer"), json::value("/image"));
  EXPECT_EQ(read("release-diff", {{"left", "r1"}, {"right", "r9"}}).error().code, Code::not_found);
}

TEST_F(ReleasesRead, PinsAndTheirHistory) {
  const auto pin = read("pins").value().at(0);
  EXPECT_EQ(pin.at("held"), json::value(1));
  EXPECT_EQ(pin.at("rejected"), (json::value{"r0"}));
  EXPECT_TRUE(read("pins", {{"environment", "prod"}}).value().as_array().empty());
  const auto history = read("pin-history", {{"pin", "shop/dev"}}).value();
  EXPECT_EQ(history.at(0).at("number"), json::value(2));
  EXPECT_EQ(history.at(0).at("schema"), json::value("sluice.release-lock.v1"));
  EXPECT_EQ(read("pin-history", {{"pin", "shop/qa"}}).error().code, Code::not_found);
}

TEST_F(ReleasesRead, PipelinesAndAllThatIsApplied) {
  EXPECT_EQ(read("pipelines").value().at(0).at("paths"), (json::value{"dev -> prod"}));
  EXPECT_EQ(read("definitions").value().as_array().size(), 6U);
  const auto pin = read("definitions", {{"kind", "ReleasePin"}, {"name", "shop-dev"}}).value().at(0).at("document");
  EXPECT_EQ(pin.at("status").at("appliedRelease"), json::value("r2"));
  EXPECT_EQ(pin.at("status").at("conditions").at(0).at("status"), json::value("True"));
  EXPECT_EQ(read("definitions", {{"kind", "Addon"}, {"name", "x"}}).error().message, "there is no Addon 'x'");
}

}  // namespace releases_test
}  // namespace sluice::deploy::views
