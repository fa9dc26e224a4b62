// What comes with a request is one text and back.
#include "deploy/executor/request.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace sluice::deploy::executor {
namespace request_test {

TEST(Sent, IsKeptAsOneText) {
  auto sent = read_sent(R"({"a":1})", "", R"([{"path":"a.yaml","text":"x: 1"}])");
  ASSERT_TRUE(sent);
  auto again = read_sent(std::string_view(write_sent(*sent)));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->values, sent->values);
  EXPECT_TRUE(again->runtime_values.is_null());
  EXPECT_EQ(again->files.at(0).text, "x: 1");
  EXPECT_EQ(read_sent("[1]", "", "").error().message, "the values are no JSON object");
  EXPECT_FALSE(read_sent("", "", R"([{"path":"a"}])"));
  EXPECT_EQ(*hash_of(again->values), *hash_of(sent->values));
}

}  // namespace request_test
}  // namespace sluice::deploy::executor
