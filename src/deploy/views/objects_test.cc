// The views of objects: what they tell, and how names lead to it.
#include "deploy/views/objects.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "deploy/testing_views.h"
#include "deploy/views/all_views.h"
#include "router.gen.h"

namespace sluice::deploy::views {
namespace objects_test {

constexpr const char* kShop = "01J0000000000000000000000A";
constexpr const char* kFirst = "01J1000000000000000000000A";
constexpr const char* kSecond = "01J1000000000000000000000B";

class ObjectViews : public testing::Test {
 protected:
  ObjectViews() {
    rows.environment("local", {.name = "Local", .generation = 3});
    rows.deployment(kShop, "acme");
    rows.revision(kFirst, kShop, 1);
    rows.revision(kSecond, kShop, 2, revision::RevisionLifecycle::archived);
  }
  Result<json::value> read(const std::string& name, const json::object& query) {
    const auto views = all_views();
    auto view = std::ranges::find(views, name, &lang::View::name);
    return view->read(reading, query);
  }
  json::value told(const std::string& name, const json::object& query) { return read(name, query).value(); }

  RowsInMemory rows;
  lang::Tools tools;
  lang::Reading reading{.rows = rows, .tools = tools};
};

TEST_F(ObjectViews, EnvironmentsAreCounted) {
  EXPECT_EQ(write(told("environments", {})),
            R"([{"environment_id":"local","name":"Local","packs":0,"deployments":1,"health":"red",)"
            R"("last_doctor_status":"pending",)"
            R"("generation":3}])");
  EXPECT_EQ(told("environment", {{"environment", "local"}}).at("bundles").as_array().size(), 1U);
  EXPECT_EQ(read("environment", {{"environment", "prod"}}).error().code, Code::not_found);
}

TEST_F(ObjectViews, ArchivedRevisionsAreToldWhenAskedFor) {
  EXPECT_EQ(told("revisions", {{"environment", "local"}}).as_array().size(), 1U);
  EXPECT_EQ(told("revisions", {{"environment", "local"}, {"archived", true}}).as_array().size(), 2U);
  json::value all = told("revisions", {{"environment", "local"}, {"bundle", "shop"}, {"archived", true}});
  EXPECT_EQ(all.at(0).at("revision_id"), kFirst);
  EXPECT_EQ(all.at(1).at("lifecycle"), "archived");
}

TEST_F(ObjectViews, NoSplitIsNull) {
  EXPECT_TRUE(told("traffic", {{"environment", "local"}}).is_null());
  rows.split(kShop, {{.revision = kFirst, .weightBps = 10'000}});
  EXPECT_EQ(told("traffic", {{"environment", "local"}}).at("generation"), 7);
  EXPECT_EQ(told("traffic-history", {{"environment", "local"}}).at(0).at("place"), "current");
}

TEST_F(ObjectViews, TheWayBackSaysWhatARollbackLeadsTo) {
  rows.split(kShop, {{.revision = kFirst, .weightBps = 10'000}});
  json::value none = told("way-back", {{"environment", "local"}});
  EXPECT_EQ(none.at("steps_there"), 0);
  EXPECT_EQ(none.at("now").at(0).at("name"), "shop@1");
  EXPECT_TRUE(none.at("becomes").as_array().empty());
}

TEST_F(ObjectViews, NamesAreResolvedTogether) {
  json::value meant = told("names", {{"environment", "local"}, {"revisions", {"shop@1"}}});
  EXPECT_EQ(meant.at("deployment"), kShop);
  EXPECT_EQ(meant.at("customer"), "acme");
  EXPECT_EQ(meant.at("revisions").at(0).at("revision"), kFirst);
  EXPECT_EQ(read("names", {{"environment", "local"}, {"revisions", {"shop@9"}}}).error().code, Code::not_found);
  rows.deployment("01J0000000000000000000000B", "globex");
  EXPECT_EQ(read("names", {{"environment", "local"}}).error().code, Code::conflict) << "it means two";
  EXPECT_EQ(told("names", {{"environment", "local"}, {"revisions", {"shop@1"}}}).at("deployment"), kShop)
      << "that of the revision";
  EXPECT_EQ(told("names", {{"environment", "local"}, {"about", "environment"}}).at("environment"), "local");
}

TEST_F(ObjectViews, FirstWeek18bHealthIsWhatTheDoctorWouldFindNow) {
  EXPECT_EQ(told("environments", {}).at(0).at("health"),
            json::value(to_json(health_of(examine(rows, "local"))).as_string()));
  EXPECT_NE(told("environments", {}).at(0).at("health"), "pending");
}

TEST_F(ObjectViews, FirstWeek18aARevisionThatIsNotThereIsNamed) {
  rows.deployment("01J0000000000000000000000B", "globex");
  Error error = read("names", {{"environment", "local"}, {"revisions", {"shop@99"}}}).error();
  EXPECT_EQ(error.code, Code::not_found);
  EXPECT_TRUE(error.message.starts_with("there is no revision 'shop@99' in local")) << error.message;
}

TEST_F(ObjectViews, RoutersSayHowFarTheyAre) {
  EXPECT_TRUE(told("routers", {{"environment", "local"}}).at("generation").is_null());
  router::State state(rows.rows);
  state.put(router::RouterId("local"), {.generation = 5});
  state.members(router::RouterId("local")).push({.name = "main", .acknowledged = 5});
  state.members(router::RouterId("local")).push({.name = "edge", .acknowledged = 4});
  json::value routers = told("routers", {{"environment", "local"}});
  EXPECT_EQ(routers.at("members").at(0).at("obeys"), true);
  EXPECT_EQ(routers.at("members").at(1).at("obeys"), false);
}

}  // namespace objects_test
}  // namespace sluice::deploy::views
