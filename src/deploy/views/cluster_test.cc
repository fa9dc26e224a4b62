// An instance shows its newest request; a request shows its objects and the events that somebody has not seen yet.
#include "deploy/views/cluster.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json_reader.h"
#include "cluster.gen.h"
#include "deploy/testing_views.h"

namespace sluice::deploy::views {
namespace cluster_view_test {

TEST(ClusterView, AnInstanceHasItsNewestRequest) {
  RowsInMemory rows;
  cluster::State state(rows.rows);
  const cluster::ClusterIId instance("h/shop/i");
  state.put(instance, {.home = "local", .hostId = "h", .instanceId = "i", .namespace_ = "shop"});
  state.snapshots(instance).push({.snapshot = cluster::ClusterId("r1")});
  for (int64_t number = 1; number <= 2; ++number) {
    const cluster::ClusterId id("r" + std::to_string(number));
    state.put(id, {.environment = "local",
                   .instance = instance,
                   .request = {.hostId = "h", .instanceId = "i", .namespace_ = "shop"},
                   .status = cluster::ClusterStatus::applying,
                   .begunAt = {number}});
    state.resources(id).push({.kind = "ConfigMap", .name = "a", .action = "added", .state = "ready"});
    state.events(id).push({.status = "applying", .message = "first"});
    state.events(id).push({.status = "applying", .message = "second", .kind = "ConfigMap", .name = "a"});
  }
  lang::Tools tools;
  const auto read_view = [&](size_t number, const json::object& query) {
    return cluster_views().at(number).read({.rows = rows, .tools = tools}, query);
  };
  auto all = read<std::vector<ClusterInstanceDocument>>(read_view(0, {}).value()).value();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].requestId, "r2");
  EXPECT_EQ(all[0].done, 1);
  EXPECT_EQ(all[0].snapshots, std::vector<std::string>{"r1"});
  EXPECT_TRUE(
      read<std::vector<ClusterInstanceDocument>>(read_view(0, {{"environment", "prod"}}).value()).value().empty());
  auto request = read<ClusterRequestDocument>(read_view(1, {{"requestId", "r1"}, {"after", 1}}).value()).value();
  EXPECT_EQ(request.resources.at(0).state, "ready");
  ASSERT_EQ(request.events.size(), 1U);
  EXPECT_EQ(request.events[0].id, 2);
  EXPECT_EQ(request.events[0].resource->name, "a");
  EXPECT_EQ(read_view(1, {{"requestId", "r9"}}).error().code, Code::not_found);
}

}  // namespace cluster_view_test
}  // namespace sluice::deploy::views
