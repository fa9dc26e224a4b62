// URLs of routes with and without hosts and paths.
#include "cli/urls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::cli {
namespace urls_test {

using testing::ElementsAre;

TEST(Urls, EachHostAndPathAtEachAddress) {
  EXPECT_THAT(urls_of({"127.0.0.1:8080", "unix:/run/x"}, {}), ElementsAre("http://127.0.0.1:8080/"));
  EXPECT_THAT(urls_of({"127.0.0.1:8443,tls"}, {.hosts = {"a.example"}}), ElementsAre("https://a.example:8443/"));
  EXPECT_THAT(urls_of({"127.0.0.1:8080"}, {.hosts = {"a.example", "*.b.example"}, .path_prefixes = {"/x", "/y"}}),
              ElementsAre("http://a.example:8080/x", "http://a.example:8080/y"));
}

}  // namespace urls_test
}  // namespace sluice::cli
