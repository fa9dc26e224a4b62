// Objects that move, and those that do not.
#include "deploy/executor/waves.h"

#include <gtest/gtest.h>

#include "deploy/executor/testing_cluster.h"

namespace sluice::deploy::executor {
namespace waves_test {

struct WavesTest : testing::Test {
  WavesTest() {
    const kube::Policy policy = *cluster.means.policy();
    EXPECT_TRUE(lock_taken(cluster.client(), cluster.clock, policy, request, {}));
    object = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "a"}, {"namespace", "shop"}}}};
    rendering::place(object, "shop", false, request.labels());
  }
  TestingCluster cluster;
  const Request request{.id = "r", .host = "h", .instance = "i", .name_space = "shop"};
  rendering::Taint taint;
  std::string why;
  const Stage stage{cluster.client(), cluster.clock, request, taint, [this] { return why; }};
  boost::json::value object;
};

TEST_F(WavesTest, AnObjectComesAndGoes) {
  std::vector<Piece> pieces = {piece_of(kube::ref_of(object))};
  EXPECT_FALSE(applied(stage, {object}, pieces));
  EXPECT_EQ(pieces[0].state, "ready");
  EXPECT_FALSE(awaited(stage, pieces, 1));
  EXPECT_FALSE(looked_at(stage, pieces));
  EXPECT_EQ(pieces[0].state, "ready");
  pieces[0].uid.clear();  // as if its deployment had ended before it was heard of
  EXPECT_FALSE(removed(stage, pieces, 1000));
  EXPECT_EQ(pieces[0].state, "gone");
  EXPECT_FALSE(looked_at(stage, pieces));
  EXPECT_EQ(pieces[0].state, "gone");
}

TEST_F(WavesTest, StopsBetweenTwoObjectsAndShowsNoSecret) {
  std::vector<Piece> pieces = {piece_of(kube::ref_of(object))};
  why = "enough";
  EXPECT_EQ(applied(stage, {object}, pieces)->why, "cancelled");
  EXPECT_EQ(pieces[0].state, "");
  why.clear();
  taint.add("the secret");
  cluster.server.instead = [](const http::Request& asked) -> std::optional<http::Response> {
    if (asked.method != "PATCH") return std::nullopt;
    return TestingApiServer::refusal(422, "Invalid", "the secret is no good");
  };
  auto refusal = applied(stage, {object}, pieces);
  EXPECT_EQ(refusal->message, "ConfigMap/a in shop: <REDACTED> is no good");
  EXPECT_EQ(pieces[0].state, "failed");
}

}  // namespace waves_test
}  // namespace sluice::deploy::executor
