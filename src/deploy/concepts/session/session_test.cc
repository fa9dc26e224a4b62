// Session through the harness: one test a variant.
#include <gtest/gtest.h>

#include "lang/run/harness.h"
#include "session.gen.h"

namespace sluice::deploy::session {
namespace session_test {

class SessionTest : public ::testing::Test {
 protected:
  SessionId open(const std::string& subject, const std::string& token = "t1", int64_t expires_ms = kFar_ms) {
    return harness
        .invoke(Open{.subject = subject,
                     .token = token,
                     .digest = "sha256:x",
                     .address = "127.0.0.1",
                     .expires = lang::DateTime{expires_ms}})
        .as<Open::Ok>()
        .session;
  }
  std::string status(const SessionId& id) {
    for (const auto& each : harness.invoke(List{}).as<List::Ok>().sessions) {
      if (each.session == id) return each.status;
    }
    return "gone";
  }

  static constexpr int64_t kFar_ms = int64_t{4} * 1000 * 1000 * 1000 * 1000;
  lang::Harness harness{session_binding()};
};

TEST_F(SessionTest, OpensAndListsThem) {
  auto one = open("user:ann");
  auto late = open("user:ann", "t1", 1);
  EXPECT_NE(one, late);
  EXPECT_EQ(status(one), "open");
  harness.invoke(NoteUse{.sessions = {one, SessionId("gone")}}).as<NoteUse::Ok>();
  auto listed = harness.invoke(List{}).as<List::Ok>().sessions;
  EXPECT_TRUE(std::ranges::any_of(listed, [](const auto& each) { return each.lastUsed.has_value(); }));
  EXPECT_EQ(listed[0].subject, "user:ann");
  EXPECT_EQ(listed[0].token, "t1");
  EXPECT_EQ(status(late), "expired");
}

TEST_F(SessionTest, OneTooManyEndsTheOldest) {
  std::vector<SessionId> all;
  for (int i = 0; i < 21; ++i) all.push_back(open("user:ann"));
  EXPECT_EQ(status(all[0]), "ended");
  EXPECT_EQ(status(all[1]), "open");
  EXPECT_EQ(status(all[20]), "open");
}

TEST_F(SessionTest, EndWithTheirToken) {
  auto one = open("user:ann", "t1"), other = open("user:ann", "t2");
  harness.invoke(EndOf{.token = "t1"}).as<EndOf::Ok>();
  EXPECT_EQ(status(one), "ended");
  EXPECT_EQ(status(other), "open");
}

TEST_F(SessionTest, PeopleLeaveTheirOwn) {
  auto one = open("user:ann");
  EXPECT_EQ(harness.invoke(Leave{.session = one, .caller = "user:bob"}).as<Leave::NotFound>().message,
            "you have no session " + one.text());
  EXPECT_EQ(status(one), "open");
  harness.invoke(Leave{.session = one, .caller = "user:ann"}).as<Leave::Ok>();
  harness.invoke(Leave{.session = one, .caller = "user:ann"}).as<Leave::Ok>();
  EXPECT_EQ(status(one), "ended");
}

TEST_F(SessionTest, AnAdminEndsAny) {
  auto one = open("user:ann");
  EXPECT_EQ(harness.invoke(End{.session = one, .caller = "user:root"}).as<End::Ok>().subject, "user:ann");
  EXPECT_EQ(status(one), "ended");
  EXPECT_EQ(harness.invoke(End{.session = SessionId("x")}).as<End::NotFound>().message, "there is no session x");
}

}  // namespace session_test
}  // namespace sluice::deploy::session
