// Routes by rank, and tables that share what they have in common.
#include "router/table/table.h"

#include <gtest/gtest.h>

namespace sluice::router {
namespace table_test {

std::shared_ptr<const Deployment> deployment(const std::string& id, std::vector<std::string> hosts,
                                             std::vector<std::string> prefixes, const std::string& tenant = "",
                                             const std::string& team = "") {
  auto made = std::make_shared<Deployment>();
  made->id = id;
  made->routes = {std::move(hosts), std::move(prefixes), tenant, team};
  return made;
}

std::string found(const Table& table, const RouteQuery& query) {
  Found at = table.find(query);
  return at.deployment != nullptr ? at.deployment->id + " " + std::string(at.prefix) : "";
}

TEST(Table, FindsTheRouteOfTheHighestRank) {
  Table table({1, 2});
  ASSERT_TRUE(table.put(deployment("exact", {"a.shop.example"}, {"/api"})));
  ASSERT_TRUE(table.put(deployment("long", {"*.shop.example"}, {})));
  ASSERT_TRUE(table.put(deployment("short", {"*.example"}, {"/", "/x/y"})));
  ASSERT_TRUE(table.put(deployment("any", {}, {"/any"})));
  EXPECT_EQ(found(table, {"a.shop.example", "/api/1"}), "exact /api");
  EXPECT_EQ(found(table, {"a.shop.example", "/apis"}), "long /");
  EXPECT_EQ(found(table, {"a.b.shop.example", "/"}), "long /");
  EXPECT_EQ(found(table, {"shop.example", "/x/y/z"}), "short /x/y");
  EXPECT_EQ(found(table, {"shop.example", "/x"}), "short /");
  EXPECT_EQ(found(table, {"example", "/any"}), "any /any");
  EXPECT_EQ(found(table, {"example", "/"}), "");
  EXPECT_EQ(found(table, {"", "/any/"}), "any /any");
}

TEST(Table, PrefersTheTenantAndTheTeamThatAreNamed) {
  Table table({1, 2});
  ASSERT_TRUE(table.put(deployment("all", {"h"}, {})));
  ASSERT_TRUE(table.put(deployment("tenant", {"h"}, {}, "t1")));
  ASSERT_TRUE(table.put(deployment("team", {"h"}, {}, "t1", "m1")));
  EXPECT_EQ(found(table, {"h", "/"}), "all /");
  EXPECT_EQ(found(table, {"h", "/", "t1"}), "tenant /");
  EXPECT_EQ(found(table, {"h", "/", "t1", "m1"}), "team /");
  EXPECT_EQ(found(table, {"h", "/", "t1", "m2"}), "tenant /");
}

TEST(Table, RefusesARouteThatIsAnothers) {
  Table table({1, 2});
  ASSERT_TRUE(table.put(deployment("one", {"h"}, {"/a"})));
  auto refused = table.put(deployment("two", {"g", "h"}, {"/a"}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "its route h/a is one's");
  EXPECT_EQ(found(table, {"g", "/a"}), "");
}

TEST(Table, LeavesTheOneThatItWasCopiedFromAsItWas) {
  Table before({1, 2});
  for (int i = 0; i < 1'000; ++i)
    ASSERT_TRUE(before.put(deployment("d" + std::to_string(i), {"h" + std::to_string(i)}, {})));
  Table after = before;
  ASSERT_TRUE(after.put(deployment("d7", {"other"}, {"/b"})));
  EXPECT_TRUE(after.remove("d8"));
  EXPECT_FALSE(after.remove("d8"));
  EXPECT_EQ(found(before, {"h7", "/"}), "d7 /");
  EXPECT_EQ(found(before, {"h8", "/"}), "d8 /");
  EXPECT_EQ(found(after, {"h7", "/"}), "");
  EXPECT_EQ(found(after, {"h8", "/"}), "");
  EXPECT_EQ(found(after, {"other", "/b"}), "d7 /b");
  for (int i = 9; i < 1'000; ++i)
    EXPECT_EQ(found(after, {"h" + std::to_string(i), "/"}), "d" + std::to_string(i) + " /");
  EXPECT_EQ(before.size(), 1'000U);
  EXPECT_EQ(after.size(), 999U);
}

TEST(Table, GivesEachPointToTheRevisionInWhoseRangeItIs) {
  Deployment made;
  made.revisions = {{.id = "r2", .weight_bps = 100, .first_point = 0},
                    {.id = "r0", .weight_bps = 0, .first_point = 100},
                    {.id = "r1", .weight_bps = 9'900, .first_point = 100}};
  EXPECT_EQ(made.at_point(0)->id, "r2");
  EXPECT_EQ(made.at_point(99)->id, "r2");
  EXPECT_EQ(made.at_point(100)->id, "r1");
  EXPECT_EQ(made.at_point(9'999)->id, "r1");
  EXPECT_EQ(Deployment().at_point(0), nullptr);
}

}  // namespace table_test
}  // namespace sluice::router
