// Which revision a request goes to, step by step.
#include "router/table/dispatch.h"

#include <gtest/gtest.h>

#include "crypto/base64.h"
#include "router/debug_token.h"
#include "router/testing_proxy.h"

namespace sluice::router {
namespace dispatch_test {

constexpr int64_t kNow = 1'700'000'000;

class Dispatch : public testing::Test {
 protected:
  Dispatch() {
    document.revisions = {
        {.id = "r3", .weight_bps = 0}, {.id = "r2", .weight_bps = 100}, {.id = "r1", .weight_bps = 9'900}};
    load();
  }
  void load() {
    TableDocument made = testing_table({document});
    made.cookie_keys = {{"k1", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}};
    made.debug_keys = {crypto::to_base64(key.public_key().raw())};
    table = *compiler.load({.document = made}, table.get());
  }
  void split(int64_t r2, int64_t r1) {
    document.revisions[1].weight_bps = r2;
    document.revisions[2].weight_bps = r1;
    load();
  }
  Dispatched ask(const std::string& lines = "", bool trusted = false, bool may_ask = false) {
    text = "GET /a HTTP/1.1\r\nHost: Shop.example:80\r\n" + lines + "\r\n";
    EXPECT_EQ(parse_request_head(text, head), Parsed::complete);
    return dispatcher.dispatch(*table, head, {.trusted = trusted}, {1'000, kNow}, may_ask);
  }
  std::string revision(const std::string& lines = "") {
    Dispatched done = ask(lines);
    return done.revision != nullptr ? done.revision->id + " " + std::string(reason_name(done.reason)) : "";
  }
  std::string cookie_of(const Dispatched& done) {
    std::string line;
    dispatcher.cookies().issue(*table->settings, *done.deployment, *done.revision, done.bucket, "/", kNow, line);
    return "Cookie: " + line.substr(12, line.find(';') - 12) + "\r\n";
  }

  SeededRandom random{1};
  uint32_t series = 0;
  TableCompiler compiler{random, [this](const SeriesName&) { return series++; }};
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  DeploymentDocument document = testing_deployment();
  std::shared_ptr<const Table> table;
  Dispatcher dispatcher{random};
  RequestHead head;
  std::string text;
};

TEST_F(Dispatch, GivesEachRevisionItsExactShare) {
  int second = 0;
  for (int i = 0; i < 1'000; ++i) second += revision() == "r2 weight" ? 1 : 0;
  EXPECT_EQ(second, 10);
  for (int i = 0; i < 9'000; ++i) second += revision() == "r2 weight" ? 1 : 0;
  EXPECT_EQ(second, 100);
}

TEST_F(Dispatch, GivesNothingToARevisionWithoutWeight) {
  split(1, 9'999);
  int second = 0, third = 0;
  for (int i = 0; i < 100'000; ++i) {
    Dispatched done = ask();
    second += done.revision->id == "r2" ? 1 : 0;
    third += done.revision->id == "r3" ? 1 : 0;
  }
  EXPECT_EQ(second, 10);
  EXPECT_EQ(third, 0);
}

TEST_F(Dispatch, StaysWithTheCookieWhileItsRevisionMayServe) {
  document.stickiness.mode = StickyMode::session;
  split(5'000, 5'000);
  Dispatched first = ask();
  EXPECT_TRUE(first.issue_cookie);
  std::string cookie = cookie_of(first), id = first.revision->id;
  for (int64_t weight : {100, 2'500, 9'900, 5'000}) {
    split(weight, 10'000 - weight);
    EXPECT_EQ(revision(cookie), id + " cookie");
    EXPECT_FALSE(ask(cookie).issue_cookie);
  }
  id == "r2" ? split(0, 10'000) : split(10'000, 0);
  EXPECT_EQ(revision(cookie), (id == "r2" ? "r1" : "r2") + std::string(" weight"));
  EXPECT_TRUE(ask(cookie).issue_cookie);
}

TEST_F(Dispatch, MovesUsersOnlyForwardsInModeBucket) {
  document.stickiness.mode = StickyMode::bucket;
  split(0, 10'000);
  std::vector<std::string> cookies;
  for (int i = 0; i < 2'000; ++i) cookies.push_back(cookie_of(ask()));
  std::vector<bool> moved(cookies.size());
  for (int64_t weight : {100, 500, 2'500, 5'000, 10'000}) {
    split(weight, 10'000 - weight);
    int on_second = 0;
    for (size_t i = 0; i < cookies.size(); ++i) {
      bool second = revision(cookies[i]) == "r2 bucket";
      EXPECT_TRUE(second || !moved[i]);
      moved[i] = second;
      on_second += second ? 1 : 0;
    }
    EXPECT_NEAR(on_second, static_cast<double>(weight) / 5, 2);
  }
}

TEST_F(Dispatch, TakesTheBucketOfTheApplicationsOwnKey) {
  document.stickiness.mode = StickyMode::bucket;
  document.stickiness.key_header = "X-User";
  split(5'000, 5'000);
  Dispatched first = ask("X-User: ann\r\n");
  EXPECT_EQ(first.reason, Reason::bucket);
  EXPECT_FALSE(first.issue_cookie);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ask("x-user: ann\r\n").revision->id, first.revision->id);
}

TEST_F(Dispatch, PinsASessionOfTheApplicationsOwn) {
  document.stickiness.mode = StickyMode::session;
  document.stickiness.key_cookie = "sid";
  split(5'000, 5'000);
  std::string id = ask("Cookie: sid=abc\r\n").revision->id;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(revision("Cookie: x=y; sid=abc\r\n"), id + " pin");
  id == "r2" ? split(0, 10'000) : split(10'000, 0);
  EXPECT_NE(ask("Cookie: sid=abc\r\n").revision->id, id);
}

TEST_F(Dispatch, AsksAboutASessionThatNeitherACookieNorTheMemoryKnows) {
  document.stickiness.mode = StickyMode::session;
  document.stickiness.key_header = "X-Session";
  split(5'000, 5'000);
  auto outcome = [&](const std::string& lines) { return ask(lines, false, true).outcome; };
  EXPECT_EQ(outcome(""), Outcome::routed) << "it has no session";
  EXPECT_EQ(outcome("X-Session: ann\r\n"), Outcome::asks);
  EXPECT_EQ(outcome("X-Session: ann\r\n"), Outcome::asks) << "asking pins nothing";
  EXPECT_EQ(outcome("X-Session: ann\r\n" + cookie_of(ask())), Outcome::routed);
  Dispatched first = ask("X-Session: ann\r\n");
  EXPECT_TRUE(first.new_pin);
  EXPECT_EQ(outcome("X-Session: ann\r\n"), Outcome::routed);
  EXPECT_FALSE(ask("X-Session: ann\r\n").new_pin);
  first.revision->id == "r2" ? split(0, 10'000) : split(10'000, 0);
  EXPECT_EQ(outcome("X-Session: ann\r\n"), Outcome::asks) << "somebody else may know a better one";
  document.stickiness.mode = StickyMode::bucket;
  load();
  EXPECT_EQ(outcome("X-Session: bob\r\n"), Outcome::routed) << "only in mode session";
}

TEST_F(Dispatch, BelievesAPinOnlyWithAToken) {
  std::string pin = "X-Sluice-Deployment: d1\r\nX-Sluice-Revision: r3\r\n";
  std::string token = write_debug_token({"test", "d1", "r3", kNow + 60}, key);
  EXPECT_EQ(revision(pin + "X-Sluice-Debug-Token: " + token + "\r\n"), "r3 token");
  for (int i = 0; i < 100; ++i) EXPECT_NE(ask(pin).revision->id, "r3");
  auto refused = [&](const DebugToken& claims, const crypto::PrivateKey& signer) {
    std::string text = write_debug_token(claims, signer);
    return ask(pin + "X-Sluice-Debug-Token: " + text + "\r\n").outcome == Outcome::denied;
  };
  EXPECT_TRUE(refused({"test", "d1", "r3", kNow}, key));
  EXPECT_TRUE(refused({"other", "d1", "r3", kNow + 60}, key));
  EXPECT_TRUE(refused({"test", "d2", "r3", kNow + 60}, key));
  EXPECT_TRUE(refused({"test", "d1", "r2", kNow + 60}, key));
  EXPECT_TRUE(refused({"test", "d1", "r3", kNow + 60}, crypto::PrivateKey::generate()));
  EXPECT_FALSE(refused({"test", "d1", "*", kNow + 60}, key));
}

class FirstWeek14a : public Dispatch {
 protected:
  std::string denied(const std::string& token, const std::string& pin) {
    Dispatched done = ask(pin + "X-Sluice-Debug-Token: " + token + "\r\n");
    return done.outcome == Outcome::denied ? done.why : "";
  }
  std::string pin = "X-Sluice-Deployment: d1\r\nX-Sluice-Revision: r3\r\n";
};

TEST_F(FirstWeek14a, TokenThatDoesNotHoldIsDeniedWithTheReason) {
  std::string good = write_debug_token({"test", "d1", "*", kNow + 60}, key);
  EXPECT_EQ(denied(good, pin), "");
  EXPECT_EQ(denied(write_debug_token({"test", "d1", "r3", kNow}, key), pin), "the debug token has expired");
  EXPECT_EQ(denied(write_debug_token({"other", "d1", "r3", kNow + 60}, key), pin),
            "the debug token is for another environment");
  EXPECT_EQ(denied(write_debug_token({"test", "d2", "r3", kNow + 60}, key), pin),
            "the debug token is for another deployment");
  EXPECT_EQ(denied(write_debug_token({"test", "d1", "r2", kNow + 60}, key), pin),
            "the debug token is for another revision");
  EXPECT_EQ(denied(write_debug_token({"test", "d1", "r3", kNow + 60}, crypto::PrivateKey::generate()), pin),
            "the debug token is not signed by a key of the table");
  std::string tampered = good;
  tampered[5] = tampered[5] == 'A' ? 'B' : 'A';
  EXPECT_EQ(denied(tampered, pin), "the debug token is not signed by a key of the table");
  EXPECT_EQ(denied("nonsense", pin), "the debug token is not one");
  EXPECT_EQ(denied("", pin), "the debug token is not one");
  EXPECT_EQ(denied(good, "X-Sluice-Deployment: d1\r\nX-Sluice-Revision: r9\r\n"),
            "the deployment has no such revision that runs");
}

TEST_F(FirstWeek14a, TokenWithoutItsHeadersIsDenied) {
  std::string good = write_debug_token({"test", "d1", "*", kNow + 60}, key);
  for (const char* headers : {"", "X-Sluice-Deployment: d1\r\n", "X-Sluice-Revision: r3\r\n"}) {
    EXPECT_EQ(denied(good, headers), "a debug token needs X-Sluice-Deployment and X-Sluice-Revision beside it");
  }
}

TEST_F(FirstWeek14a, HeadersWithoutATokenStayIgnored) {
  for (int i = 0; i < 100; ++i) EXPECT_NE(ask(pin).revision->id, "r3");
}

TEST_F(FirstWeek14a, TooManyTokensAreToldSo) {
  for (int i = 0; i < 200; ++i) denied("nonsense" + std::to_string(i), pin);
  EXPECT_EQ(denied(write_debug_token({"test", "d1", "*", kNow + 60}, key), pin),
            "too many debug tokens came in this second; try again");
}

TEST_F(Dispatch, SaysWhenThereIsNothingToRouteTo) {
  EXPECT_EQ(ask().outcome, Outcome::routed);
  split(0, 0);
  EXPECT_EQ(ask().outcome, Outcome::no_revision);
  document.status = DeploymentStatus::paused;
  load();
  EXPECT_EQ(ask().outcome, Outcome::paused);
  document.routes.hosts = {"other.example"};
  load();
  EXPECT_EQ(ask().outcome, Outcome::no_route);
}

class FirstWeek20Dispatch : public Dispatch {};

TEST_F(FirstWeek20Dispatch, SaysHowMuchOfThePathIsStripped) {
  document.routes.path_prefixes = {"/a", "/b"};
  document.routes.strip_prefixes = {"/b"};
  load();
  EXPECT_EQ(ask().strip, 0u) << "/a is not";
  document.routes.strip_prefixes = {"/a"};
  load();
  EXPECT_EQ(ask().strip, 2u);
  Dispatched pinned = ask("X-Sluice-Deployment: d1\r\nX-Sluice-Revision: r3\r\nX-Sluice-Debug-Token: " +
                          write_debug_token({"test", "d1", "r3", kNow + 60}, key) + "\r\n");
  EXPECT_EQ(pinned.reason, Reason::token);
  EXPECT_EQ(pinned.strip, 2u) << "also where a token names the revision";
}

TEST_F(Dispatch, BelievesATenantOnlyFromATrustedPeer) {
  document.routes.tenant = "t1";
  load();
  EXPECT_EQ(ask("X-Sluice-Tenant: t1\r\n").outcome, Outcome::no_route);
  EXPECT_EQ(ask("X-Sluice-Tenant: t1\r\n", true).outcome, Outcome::routed);
}

}  // namespace dispatch_test
}  // namespace sluice::router
