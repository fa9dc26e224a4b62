// What refers to secrets, and what stands there instead.
#include "deploy/executor/secret_references.h"

#include <gtest/gtest.h>

namespace sluice::deploy::executor {
namespace secret_references_test {

namespace json = boost::json;

TEST(SecretReferences, EachIsFoundOnceWhereverItStands) {
  std::vector<SecretWanted> wanted;
  const json::value values = json::parse(
      R"({"a":"secret://local/shop/KEY","b":[{"c":"secret://local/shop/db/KEY"}],"d":"secret://local/shop/KEY",)"
      R"("e":"see secret://local/shop/OTHER"})");
  ASSERT_TRUE(add_secrets_wanted(values, "values", "local", wanted));
  EXPECT_EQ(wanted, (std::vector<SecretWanted>{{"secret://local/shop/KEY", "shop/KEY"},
                                               {"secret://local/shop/db/KEY", "shop/db/KEY"}}));
}

TEST(SecretReferences, ThoseOfAnotherEnvironmentAndNonsenseAreRefused) {
  std::vector<SecretWanted> wanted;
  EXPECT_EQ(
      add_secrets_wanted(json::parse(R"({"a":["secret://prod/shop/KEY"]})"), "values", "local", wanted).error().message,
      "values/a/0: secret://prod/shop/KEY is a secret of prod, and the request is one in local; nothing was changed");
  EXPECT_EQ(add_secrets_wanted(json::parse(R"("secret://prod")"), "values", "local", wanted).error().code,
            Code::invalid);
  EXPECT_TRUE(wanted.empty());
}

TEST(SecretReferences, ValuesStandInTheirPlace) {
  EXPECT_EQ(with_secrets(json::parse(R"({"a":["secret://local/shop/KEY",1],"b":"secret://local/shop/OTHER"})"),
                         {{"secret://local/shop/KEY", "x"}}),
            json::parse(R"({"a":[{"$secret":"x"},1],"b":{"$secret":"c2VjcmV0"}})"));
}

}  // namespace secret_references_test
}  // namespace sluice::deploy::executor
