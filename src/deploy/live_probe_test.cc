// A program that serves a concept, as a server of this test, and one that does not.
#include "deploy/live_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>

#include "base/json.h"
#include "base/testing_folder.h"
#include "deploy/testing_markers.h"

namespace sluice::deploy {
namespace live_probe_test {

using testing::HasSubstr;

constexpr const char* kStock = R"(concept Stock [I] {
  purpose { Know how many there are. }
  state { items: set I  count: I -> Int }
  actions {
    action add(item: String) { -> ok(count: Int) }
    action look(item: String) { runs: query  -> ok(count: Int)  -> none() }
  }
  invariant {
    example counts { after add(item: "pen") -> ok(count: 1) then look(item: "pen") -> ok(count: 1) }
    example startsEmpty { after look(item: "pen") -> none() then add(item: "pen") -> ok(count: 1) }
  }
}
)";

class LiveProbeTest : public testing::Test {
 protected:
  LiveProbeTest() {
    server.says = [this](const http::Request& request) {
      const json::object message = parse_json(request.body)->root.as_object();
      json::object complete;
      if (message.contains("describe")) complete = {{"protocol", 1}, {"concept", concept_text}};
      if (const auto* forget = message.if_contains("forget")) tenants.erase(text(*forget, "tenant"));
      for (const char* kind : {"invoke", "query"}) {
        const auto* ask = message.if_contains(kind);
        if (ask == nullptr) continue;
        int& count = tenants[text(*ask, "tenant")];
        kinds += std::string(kinds.empty() ? "" : " ") + kind + " " + text(*ask, "action");
        if (text(*ask, "action") == "add") count += step;
        complete = {{"variant", count == 0 ? "none" : "ok"}, {"fields", json::object{{"count", count}}}};
        if (count == 0) complete["fields"] = json::object();
      }
      return write(json::object{{"id", message.at("id")}, {"complete", complete}});
    };
  }
  static std::string text(const json::value& object, const char* field) {
    return std::string(object.at(field).as_string());
  }
  Result<LiveProbe::Tried> try_it(const std::string& invariant) {
    return probe.try_invariant(server.url() + "/", invariant, "t");
  }

  TestingFolder folder;
  RealClock clock;
  RealDisk disk;
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  RouterFleet fleet{disk, folder.path(), [this] { return crypto::PrivateKey::from_pem(key.to_pem().reveal()); }};
  LiveProbe probe{fleet, clock, [this] { return crypto::PrivateKey::from_pem(key.to_pem().reveal()); }};
  MarkerServer server;
  std::string concept_text = kStock, kinds;
  std::map<std::string, int> tenants;
  int step = 1;
};

TEST_F(LiveProbeTest, InvariantsHoldInScratchTenantsThatAreForgotten) {
  auto tried = try_it("");
  ASSERT_TRUE(tried) << tried.error().message;
  EXPECT_EQ(tried->invariants, 2);
  EXPECT_EQ(tried->violated, "");
  EXPECT_EQ(kinds, "invoke add query look query look invoke add") << "each begins with nothing";
  EXPECT_TRUE(tenants.empty()) << "nothing is left behind";
}

TEST_F(LiveProbeTest, AViolatedOneSaysWhatWasExpected) {
  step = 2;
  auto tried = try_it("counts");
  ASSERT_TRUE(tried) << tried.error().message;
  EXPECT_EQ(tried->violated, "counts");
  EXPECT_THAT(tried->expected + " " + tried->actual, HasSubstr("1"));
  EXPECT_TRUE(tenants.empty());
}

TEST_F(LiveProbeTest, WhatIsNotDeclaredCannotBeTried) {
  EXPECT_EQ(try_it("other").error().message, "Stock has no invariant other; there is counts, startsEmpty");
  concept_text = "concept {";
  EXPECT_THAT(try_it("").error().message, HasSubstr("its .concept cannot be read"));
  server.status = 404;
  auto none = try_it("");
  EXPECT_EQ(none.error().code, Code::not_found);
  EXPECT_EQ(none.error().message,
            "it declares no concept: POST /.well-known/sluice-concept was answered with status 404");
}

TEST_F(LiveProbeTest, AProgramThatIsAwayIsNotJudged) {
  auto away = probe.try_invariant("http://127.0.0.1:1", "", "t");
  EXPECT_EQ(away.error().code, Code::unavailable);
}

TEST_F(LiveProbeTest, WithoutARouterNothingGetsThrough) {
  auto sent = probe.send_through({.environment = "local", .deployment = "d1", .revision = "r1", .path = "/"});
  EXPECT_EQ(sent.error().message, "no router serves local");
}

}  // namespace live_probe_test
}  // namespace sluice::deploy
