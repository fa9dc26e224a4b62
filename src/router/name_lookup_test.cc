// Names and literal addresses, and names that lead nowhere.
#include "router/name_lookup.h"

#include <gtest/gtest.h>

#include <chrono>

namespace sluice::router {
namespace name_lookup_test {

Result<Address> found(const std::string& host) {
  auto lookup = look_up_name(host, 6379);
  EXPECT_EQ(lookup.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  return lookup.get();
}

TEST(NameLookup, ALiteralAddressIsThereAtOnce) {
  auto lookup = look_up_name("127.0.0.1", 7000);
  ASSERT_EQ(lookup.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  EXPECT_EQ(to_string(lookup.get().value()), "127.0.0.1:7000");
  EXPECT_EQ(to_string(found("::1").value()), "[::1]:6379");
}

TEST(NameLookup, FindsANameOrSaysThatItLeadsNowhere) {
  std::string here = to_string(found("localhost").value());
  EXPECT_TRUE(here == "127.0.0.1:6379" || here == "[::1]:6379") << here;
  auto nowhere = found("no such name");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, Code::not_found);
}

}  // namespace name_lookup_test
}  // namespace sluice::router
