// Of the way that a certificate takes; the way itself is tested with Certificate and its providers.
#include "deploy/shown_certificate.h"

#include <gtest/gtest.h>

namespace sluice::deploy {
namespace shown_certificate_test {

TEST(ShownCertificate, AsksTheRoutersOfAllEnvironments) {
  const auto members =
      members_of({{.environment = "local", .member = {.router = "r1", .name = "main", .control = "/a"}},
                  {.environment = "prod", .member = {.router = "r2", .name = "prod", .control = "/b"}}});
  ASSERT_EQ(members.size(), 2U);
  EXPECT_EQ(members[1].name + members[1].control, "prod/b");
}

}  // namespace shown_certificate_test
}  // namespace sluice::deploy
