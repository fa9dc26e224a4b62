// What a promotion would change, on rows in memory.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/real_disk.h"
#include "deploy/testing_views.h"
#include "deploy/views/releases.h"
#include "pin.gen.h"
#include "release.gen.h"

namespace sluice::deploy::views {
namespace promotion_plan_test {

TEST(PromotionPlan, EachComponentWithWhatWouldChange) {
  RowsInMemory rows;
  RealDisk disk;
  lang::Tools tools;
  tools.add<Disk>(disk);
  const auto read = [&](const json::object& query) {
    const auto views = releases_views();
    return std::ranges::find(views, "promotion-plan", &lang::View::name)->read({.rows = rows, .tools = tools}, query);
  };
  release::State releases(rows.rows);
  const auto keep = [&](const std::string& role, const std::string& name, const std::string& kind,
                        const std::string& spec) {
    releases.parts(release::ReleaseId("r1")).push({.role = role, .name = name, .digest = role});
    releases.put(release::ReleaseTId(role),
                 {.text = R"({"apiVersion": "openchoreo.dev/v1alpha1", "kind": ")" + kind +
                          R"(", "metadata": {"name": ")" + name + R"("}, "spec": )" + spec + "}"});
  };
  releases.put(release::ReleaseId("r1"), {.component = "shop", .image = "x", .ready = true});
  keep("component", "shop", "Component", R"({"componentType": "deployment/web"})");
  keep("componentTypeDefinition", "web", "ComponentTypeDefinition", R"({"workloadType": "deployment", "resources": [
      {"template": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "shop"},
                    "data": {"env": "${environment.name}"}}}]})");
  keep("workload", "shop", "Workload", R"({"image": "x"})");
  EXPECT_EQ(read({{"components", {"shop"}}, {"fromEnv", "dev"}, {"toEnv", "prod"}}).error().message,
            "shop is not pinned in dev");
  pin::State(rows.rows).put(pin::PinId("shop/dev"), {.component = "shop", .environment = "dev", .release = "r1"});
  EXPECT_EQ(read({{"fromEnv", "dev"}, {"toEnv", "prod"}}).value().at(0).at("fault"),
            json::value("the image x has no digest, and outside local only what is pinned by one runs"));
  releases.edit(release::ReleaseId("r1"), [](release::ReleaseRecord& record) { record.image = "x@sha256:1"; });
  const auto planned = read({{"fromEnv", "dev"}, {"toEnv", "prod"}}).value().at(0);
  EXPECT_EQ(planned.at("release"), json::value("r1"));
  EXPECT_EQ(planned.at("fault"), json::value(""));
  EXPECT_EQ(planned.at("differences").at(0).at("object"), json::value("ConfigMap/shop"));
  EXPECT_EQ(planned.at("differences").at(0).at("then").at("data").at("env"), json::value("prod"));
}

}  // namespace promotion_plan_test
}  // namespace sluice::deploy::views
