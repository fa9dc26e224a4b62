// Which routes a bundle asks for, beside those that its deployment has. That it gets them is tested end to end.
#include "cli/up_deployment.h"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace up_deployment_test {

bundle::Manifest manifest_with(std::vector<std::pair<const char*, const char*>> routes) {
  bundle::Manifest manifest;
  for (auto [host, path] : routes) {
    bundle::Route route{.host = std::nullopt, .path = {path}};
    if (host != nullptr) route.host = bundle::HostName{host};
    manifest.routes.push_back(std::move(route));
  }
  return manifest;
}

deploy::deployment::DeploymentFound with(std::vector<std::string> hosts, std::vector<std::string> prefixes) {
  deploy::deployment::DeploymentFound found;
  found.record.route = {.hosts = std::move(hosts), .pathPrefixes = std::move(prefixes)};
  return found;
}

TEST(UpDeployment, WithoutRoutesItKeepsWhatItWasGiven) {
  EXPECT_FALSE(wants_other_routes(manifest_with({}), with({"shop.example"}, {"/cart"})));
}

TEST(UpDeployment, RoutesAreComparedWhateverTheirOrder) {
  const auto manifest = manifest_with({{"a.example", "/x"}, {"b.example", "/y"}, {"a.example", "/y"}});
  EXPECT_FALSE(wants_other_routes(manifest, with({"b.example", "a.example"}, {"/y", "/x"})));
  EXPECT_TRUE(wants_other_routes(manifest, with({"a.example"}, {"/x", "/y"})));
  EXPECT_TRUE(wants_other_routes(manifest, with({"a.example", "b.example"}, {"/x"})));
  EXPECT_FALSE(wants_other_routes(manifest_with({{nullptr, "/"}, {"a.example", "/"}}), with({}, {"/"})))
      << "one for any host is for that one, too";
}

}  // namespace up_deployment_test
}  // namespace sluice::cli
