// Keys of an hour, the same for everybody who began with one secret.
#include "router/tls/ticket_keys.h"

#include <gtest/gtest.h>

namespace sluice::router {
namespace ticket_keys_test {

constexpr int64_t kNoon_s = 1'700'002'800;  // a full hour

TEST(TicketKeys, AreTheSameInAllWorkersOfOneSecret) {
  SeededRandom random{1};
  const TicketSecret secret = TicketSecret::make(random, kNoon_s);
  TicketKeys one(secret), other(secret);
  EXPECT_EQ(one.current(kNoon_s).name, other.current(kNoon_s + 10).name);
  TicketSecret later = secret;
  later.advance_to(kNoon_s + 7'200);
  TicketKeys next(later);
  EXPECT_EQ(one.current(kNoon_s + 7'200).cipher, next.current(kNoon_s + 7'200).cipher);
}

TEST(TicketKeys, ChangeEveryHourAndTakeThoseOfTheHourBefore) {
  SeededRandom random{1};
  TicketKeys keys(TicketSecret::make(random, kNoon_s));
  const TicketKey first = keys.current(kNoon_s + 3'599);
  bool renew = true;
  ASSERT_TRUE(keys.named(first.name.data(), kNoon_s + 3'599, renew));
  EXPECT_FALSE(renew);
  EXPECT_NE(keys.current(kNoon_s + 3'600).name, first.name);
  auto before = keys.named(first.name.data(), kNoon_s + 3'600, renew);
  ASSERT_TRUE(before);
  EXPECT_TRUE(renew);
  EXPECT_EQ(before->mac, first.mac);
  EXPECT_FALSE(keys.named(first.name.data(), kNoon_s + 7'200, renew));
}

TEST(TicketKeys, WhatIsKeptSaysNothingOfHoursThatAreOver) {
  SeededRandom random{1};
  const TicketSecret secret = TicketSecret::make(random, kNoon_s);
  TicketKeys keys(secret);
  keys.current(kNoon_s + 36'000);
  EXPECT_EQ(keys.secret().hour, secret.hour + 10);
  EXPECT_NE(keys.secret().secret, secret.secret);
  keys.current(kNoon_s);  // a clock that goes back
  EXPECT_EQ(keys.secret().hour, secret.hour + 10);
}

}  // namespace ticket_keys_test
}  // namespace sluice::router
