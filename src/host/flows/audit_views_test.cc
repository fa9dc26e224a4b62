// What was decided and how it ended.
#include <gtest/gtest.h>

#include "base/json.h"
#include "engine/testing_journal.h"
#include "host/flows/flow_views.h"
#include "host/testing_orders.h"
#include "store/memory_store.h"

namespace sluice::host {
namespace audit_views_test {

using engine::Step;

struct FirstWeek11 : testing::Test {
  FirstWeek11() {
    journal.add({.at_ms = kNoon_ms,
                 .flow = id(1),
                 .invocation = id(1),
                 .kind = Step::Kind::begin,
                 .action = "Revision/warm",
                 .caller = {.name = "uid:7"},
                 .root = engine::Root{}});
    journal.add({.at_ms = kNoon_ms + 1,
                 .flow = id(2),
                 .invocation = id(2),
                 .action = "Shop/open",
                 .caller = {.name = "uid:8"},
                 .root = engine::Root{},
                 .end = engine::End{.variant = "ok"}});
    journal.add({.at_ms = kNoon_ms + 9000,
                 .flow = id(1),
                 .invocation = id(1),
                 .kind = Step::Kind::finish,
                 .action = "Revision/warm",
                 .end = engine::End{.variant = "failed"}});
  }
  json::value audit(const json::object& query = {}) {
    auto moment = Moment::of(store, nullptr, tools, kNoon_ms);
    return (*find_view("audit"))->read((*moment)->reading(), query).value();
  }

  store::MemoryStore store;
  engine::TestingJournal journal{store};
  lang::Tools tools;
};

TEST_F(FirstWeek11, TheAuditSaysHowACallEndedThatWentOn) {
  json::value steps = audit();
  ASSERT_EQ(steps.as_array().size(), 2U);
  EXPECT_EQ(steps.at(0).at("outcome"), "failed");
  EXPECT_EQ(steps.at(0).at("endedAt"), "2030-03-17T17:46:49.000Z");
  EXPECT_EQ(steps.at(1).at("outcome"), "ok");
  EXPECT_FALSE(steps.at(1).as_object().contains("endedAt"));
}

TEST_F(FirstWeek11, APageIsStillToldHowItEnds) {
  json::value first = audit({{"limit", 1}});
  ASSERT_EQ(first.as_array().size(), 1U);
  EXPECT_EQ(first.at(0).at("outcome"), "failed");
  EXPECT_EQ(audit({{"from", 2}}).at(0).at("action"), "Shop/open");
  EXPECT_EQ(audit({{"flow", to_string(id(2))}}).as_array().size(), 1U);
}

TEST_F(FirstWeek11, TheNewestAreFoundFromTheEnd) {
  for (int i = 0; i < 1'500; ++i) {
    const bool decided = i % 100 == 0;
    journal.add({.at_ms = kNoon_ms + 10'000 + i,
                 .flow = id(100 + i),
                 .invocation = id(100 + i),
                 .action = "Shop/open",
                 .caller = {.name = decided ? "user:ann" : "", .token = decided ? "T" + std::to_string(i) : ""},
                 .root = engine::Root{.input = {{"environment", "prod"}}},
                 .end = engine::End{.variant = "ok"}});
  }
  json::value last = audit({{"newest", true}, {"limit", 10}});
  ASSERT_EQ(last.as_array().size(), 10U);
  EXPECT_EQ(last.at(0).at("token"), "T500");
  EXPECT_EQ(last.at(9).at("token"), "T1400");
  EXPECT_EQ(last.at(9).at("environment"), "prod");
  EXPECT_EQ(audit({{"newest", true}}), audit()) << "all of them";
  EXPECT_EQ(audit({{"newest", true}, {"limit", 16}}).at(0).at("outcome"), "ok");
  json::value since = audit({{"newest", true}, {"limit", 100}, {"since", "2030-03-17T17:46:51.350Z"}});
  ASSERT_EQ(since.as_array().size(), 1U);
  EXPECT_EQ(since.at(0).at("token"), "T1400");
  EXPECT_TRUE(audit({{"newest", true}, {"since", "2031-01-01T00:00:00.000Z"}}).as_array().empty());
}

TEST_F(FirstWeek11, WhoWasGivenASecretIsTold) {
  journal.add({.at_ms = kNoon_ms + 9500,
               .flow = id(1),
               .invocation = id(3),
               .kind = Step::Kind::finish,
               .action = "Secret/resolve",
               .end = engine::End{.variant = "ok",
                                  .fields = {{"secret", "prod/shop/KEY"},
                                             {"version", "2"},
                                             {"value", "sealed:1"},
                                             {"reader", "shop@1"},
                                             {"purpose", "warming 01J"}}}});
  journal.add({.at_ms = kNoon_ms + 9600,
               .flow = id(1),
               .invocation = id(4),
               .kind = Step::Kind::finish,
               .action = "Secret/resolve",
               .end = engine::End{.variant = "notFound"}});
  for (const json::object& query : {json::object{}, json::object{{"newest", true}, {"limit", 3}}}) {
    json::value steps = audit(query);
    ASSERT_EQ(steps.as_array().size(), 3U);
    EXPECT_EQ(steps.at(2).at("caller"), "shop@1");
    EXPECT_EQ(steps.at(2).at("environment"), "prod");
    EXPECT_EQ(steps.at(2).at("reason"), "shop/KEY version 2, for warming 01J");
    EXPECT_EQ(write(steps.at(2).at("input")), R"({"name":"shop/KEY","version":"2","purpose":"warming 01J"})");
  }
}

}  // namespace audit_views_test
}  // namespace sluice::host
