// What goes over the wire, and addresses that lead nowhere. What needs a server is in tests/store.
#include "store/postgres_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::store::postgres {
namespace postgres_connection_test {

TEST(PostgresParameters, AreInTheServersBinaryForm) {
  EXPECT_EQ(parameter(int64_t{-2}).value, std::string("\xff\xff\xff\xff\xff\xff\xff\xfe"));
  EXPECT_EQ(parameter(std::string_view("a\0b", 3)).value, std::string("a\0b", 3));
  const std::string head("\0\0\0\1\0\0\0\0\0\0\0\x11\0\0\0\2\0\0\0\1", 20);
  EXPECT_EQ(parameter(std::vector<std::string>{"x", ""}).value, head + std::string("\0\0\0\1x\0\0\0\0", 9));
  EXPECT_EQ(parameter(std::vector<int64_t>{}).value, std::string("\0\0\0\0\0\0\0\0\0\0\0\x14", 12));
}

TEST(PostgresConnectionTest, AnAddressThatCannotBeReadIsNotRepeated) {
  auto opened = PostgresConnection::open("postgresql://me:s3cret@[/x");
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, testing::Not(testing::HasSubstr("s3cret")));
}

}  // namespace postgres_connection_test
}  // namespace sluice::store::postgres
