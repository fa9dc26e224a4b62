// Requests of Cluster for tests of its steps, against a little API server.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "deploy/concepts/cluster/cluster_work.h"
#include "deploy/executor/testing_cluster.h"
#include "lang/run/harness.h"

namespace sluice::deploy::cluster {
namespace cluster_test {

using executor::kMaps;
using executor::TestingApiServer;

inline std::string map_named(const std::string& name, const std::string& more = "") {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + more + "}\ndata: {a: \"${a:1}\"}\n";
}
inline std::string files_of(const std::vector<std::string>& texts) {
  json::array files;
  for (const std::string& each : texts) {
    files.push_back({{"path", "f" + std::to_string(files.size()) + ".yaml"}, {"text", each}});
  }
  return write(files);
}

class ClusterTest : public testing::Test, protected executor::TestingCluster {
 protected:
  ClusterTest() { harness.tools().add(means); }
  template <class Ask>
  Ask asked(const std::string& files = files_of({map_named("a")})) {
    Ask ask;
    ask.environment = "local";
    ask.hostId = "h";
    ask.instanceId = "i";
    ask.namespace_ = "shop";
    if constexpr (requires { ask.template_; }) ask.template_.repoUrl = "local";
    if constexpr (requires { ask.files; }) {
      if (!files.empty()) ask.files = harness.seal(files);
    }
    return ask;
  }
  // A request as it stands before its first step.
  template <class Ask>
  ClusterId begun(const std::string& id, Ask ask) {
    ask.requestId = id;
    harness.answer_with(typename Ask::Busy{.message = "no matter"});
    harness.invoke(ask);
    return ClusterId(id);
  }
  // The same with what came along, and prepared.
  lang::Ending prepared(const std::string& id, const std::string& files,
                        const std::function<void(Deploy&)>& more = {}) {
    Deploy ask = asked<Deploy>();
    if (more) more(ask);
    const ClusterId operation = begun(id, ask);
    harness.invoke(Keep{.operation = operation, .files = harness.seal(files)}).as<Keep::Ok>();
    return harness.invoke(Prepare{.operation = operation}).ending();
  }
  static std::string why(const lang::Ending& ending) {
    const auto& completion = std::get<lang::Completion>(ending);
    if (completion.variant != "stopped") return completion.variant;
    return std::string(completion.fields.at("why").as_string()) + ": " +
           std::string(completion.fields.at("message").as_string());
  }
  // A request that has put these objects there.
  void deployed(const std::string& id, const std::string& files) {
    ASSERT_EQ(why(prepared(id, files)), "wave");
    const ClusterId operation(id);
    harness.invoke(Apply{.operation = operation, .wave = 1}).as<Apply::Ok>();
    harness.invoke(Settle{.operation = operation}).as<Settle::Ok>();
    State state(harness.rows());
    auto record = state.get(operation);
    state.snapshots(record->instance).push({.snapshot = operation});
    state.edit(record->instance, [&](ClusterIRecord& each) { each.current = operation; });
  }

  lang::Harness harness{cluster_binding()};
};

}  // namespace cluster_test
}  // namespace sluice::deploy::cluster
