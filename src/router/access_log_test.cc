// A line a request, whatever is in it.
#include "router/access_log.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace sluice::router {
namespace access_log_test {

TEST(AccessLog, WritesALineOfJsonWhateverTheClientSent) {
  Deployment deployment;
  deployment.id = "d1";
  deployment.customer = "acme";
  std::string line;
  write_log_line({.wall_ms = 1'700'000'000'125,
                  .environment = "local",
                  .deployment = &deployment,
                  .revision = "r1",
                  .generation = 7,
                  .reason = Reason::cookie,
                  .method = "GET",
                  .path = "/a\"\n{",
                  .status = 200,
                  .duration_us = 812},
                 line);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  auto parsed = parse_json(std::string_view(line).substr(0, line.size() - 1));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->root.at("time"), "2023-11-14T22:13:20.125Z");
  EXPECT_EQ(parsed->root.at("path"), "/a\"\n{");
  EXPECT_EQ(parsed->root.at("customer_id"), "acme");
  EXPECT_EQ(parsed->root.at("reason"), "cookie");
  EXPECT_EQ(parsed->root.at("generation"), 7);
}

TEST(AccessLog, DropsWhatNobodyFetches) {
  LogExchange exchange;
  std::string lines(3 << 20, 'x');
  exchange.hand_over(lines);
  EXPECT_TRUE(lines.empty());
  lines.assign(3 << 20, 'y');
  exchange.hand_over(lines);
  EXPECT_EQ(exchange.dropped(), size_t{3} << 20);
  EXPECT_EQ(exchange.fetch(), std::string(3 << 20, 'x'));
  EXPECT_EQ(exchange.fetch(), "");
}

}  // namespace access_log_test
}  // namespace sluice::router
