// The kit deploy with two environments, a deployment, a revision and an instance of it in each, and a policy that has
// somebody in every role: user:viewer to user:admin in staging, user:all-viewer to user:all-admin everywhere, and
// user:shop by a label.
#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "deploy/deploy_kit.h"
#include "host/authority.h"
#include "host/visible_store.h"
#include "lang/check/check.h"
#include "lang/run/rows.h"
#include "store/memory_store.h"

namespace sluice::host {

inline std::shared_ptr<const lang::CheckedKit> deploy_kit() {
  static const auto kKit = [] {
    lang::Checked checked = lang::check(lang::load_kit(
        std::string(deploy::kKitFolder), [](const std::string& path) { return deploy::read_kit_file(path); }));
    return std::make_shared<const lang::CheckedKit>(*std::move(checked.kit));
  }();
  return kKit;
}

inline constexpr std::string_view kTeamPolicy = R"(schema: sluice.access-policy.v1
grants:
- {to: [user:viewer], role: viewer, environments: [staging]}
- {to: [user:deployer], role: deployer, environments: [staging]}
- {to: [user:operator], role: operator, environments: [staging]}
- {to: [user:admin], role: admin, environments: [staging]}
- {to: [user:all-viewer], role: viewer}
- {to: [user:all-deployer], role: deployer}
- {to: [user:all-operator], role: operator}
- {to: [user:all-admin], role: admin}
- {to: [user:shop], role: deployer, labels: [team=shop]}
)";

class AuthorityTest : public ::testing::Test {
 protected:
  AuthorityTest() {
    put("Access[]", "whole", {{"policy", kTeamPolicy}, {"version", 1}, {"appliedBy", "uid:1"}});
    for (const std::string env : {"staging", "prod"}) {
      put("Env", env, {{"name", env}});
      put("Deployment", "d-" + env, {{"environment", env}, {"bundle", "shop"}});
      put("Revision", "r-" + env, {{"deployment", "d-" + env}, {"environment", env}});
      put("Traffic", "d-" + env, {{"generation", 1}});
      put("Usage", "r-" + env, {{"environment", env}});
      put("Runtime", "i-" + env, {{"concept", "r-" + env}, {"runtimeType", "local"}});
    }
    put("Trust", "key", {{"label", "ann"}});
    put("Deployment.labels", lang::child_key("d-prod", "1"), "team=shop");
  }

  void put(const std::string& relation, const std::string& key, const json::value& value) {
    ASSERT_TRUE(store.commit({.state = {{relation, key, ++generation, 0, write(value)}}}));
  }
  // A token for the subject, and its text.
  std::string token(const std::string& id, json::object fields, const std::string& secret = "secret") {
    json::object row{{"name", "laptop"},
                     {"digest", secret_digest("secret")},
                     {"createdAt", "2026-01-01T00:00:00.000Z"},
                     {"createdBy", "uid:1"}};
    for (const auto& [name, value] : fields) row[name] = value;
    put("Access", id, row);
    return token_text(id, secret);
  }
  bool may(const std::string& who, const std::string& action, const json::object& input) {
    return authority.may({.name = who}, action, input).has_value();
  }
  std::vector<std::string> keys(const std::string& who, const std::string& relation) {
    VisibleStore visible(store, authority, {.name = who});
    auto snapshot = visible.read().value();
    std::vector<std::string> found;
    EXPECT_TRUE(snapshot->scan(relation, "", [&](const store::StateRow& row) {
      found.push_back(row.key);
      return true;
    }));
    return found;
  }

  store::MemoryStore store;
  RealClock clock;
  uint64_t generation = 0;
  Authority authority{{.store = &store, .clock = &clock, .owner = "uid:1000", .kit = deploy_kit()}};
};

}  // namespace sluice::host
