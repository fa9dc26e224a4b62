// Where a control plane may listen, and what it is called there.
#include "host/listening.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::host {
namespace listening_test {

TEST(Listening, AnAddressHasAPortAndOthersReachItThroughTlsAlone) {
  EXPECT_EQ(where_in("127.0.0.1:8400", false)->port, 8400);
  EXPECT_EQ(where_in("[::1]:8400", false)->address, "::1");
  EXPECT_EQ(where_in("0.0.0.0:8443", true)->address, "0.0.0.0");
  EXPECT_EQ(where_in("0.0.0.0:8443", false).error().code, Code::usage);
  EXPECT_EQ(where_in("127.0.0.1", false).error().message, "'127.0.0.1' is no address to listen at");
  EXPECT_FALSE(where_in("127.0.0.1:99999", false));
}

TEST(Listening, ItsUrlNamesTheMachineWhereTheAddressIsAny) {
  EXPECT_EQ(url_of({"10.0.0.1", 8443}, true), "https://10.0.0.1:8443");
  EXPECT_EQ(url_of({"::1", 8400}, false), "http://[::1]:8400");
  EXPECT_EQ(url_of({"0.0.0.0", 8443}, true).find("0.0.0.0"), std::string::npos);
}

TEST(Listening, TheMachinesOwnNamesAreAddedOnce) {
  std::vector<std::string> names{"localhost"};
  add_own_names(names, "10.0.0.1");
  EXPECT_THAT(names, testing::IsSupersetOf({"localhost", "127.0.0.1", "::1", "10.0.0.1"}));
  EXPECT_EQ(std::ranges::count(names, "localhost"), 1);
}

}  // namespace listening_test
}  // namespace sluice::host
