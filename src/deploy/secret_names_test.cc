// Names of secrets, and references to them.
#include "deploy/secret_names.h"

#include <gtest/gtest.h>

namespace sluice::deploy {
namespace secret_names_test {

TEST(SecretNames, AReferenceLeadsToANameInItsEnvironment) {
  EXPECT_EQ(parse_secret_reference("secret://local/hello/hello/API_KEY").value(),
            (SecretReference{"local", "hello/API_KEY"}));
  EXPECT_EQ(parse_secret_reference("secret://prod-eu/customer.support/telegram/bot_token").value(),
            (SecretReference{"prod-eu", "customer.support/telegram/bot_token"}));
  EXPECT_EQ(parse_secret_reference("secret://prod-eu/credentials/k8s-sa-token").value(),
            (SecretReference{"prod-eu", "credentials/k8s-sa-token"}));
}

TEST(SecretNames, WhatIsNoReferenceIsRefused) {
  for (const char* text : {"", "secret://", "secret://local/hello", "http://local/hello/KEY", "secret://a/../b/c",
                           "secret://a/b/c/d/e", "secret://a/b//c"}) {
    EXPECT_FALSE(parse_secret_reference(text)) << text;
  }
}

TEST(SecretNames, NamesHaveTwoOrThreeWords) {
  EXPECT_EQ(fault_of_secret_name("hello/API_KEY"), "");
  EXPECT_EQ(fault_of_secret_name("hello/telegram/API_KEY"), "");
  EXPECT_EQ(fault_of_secret_name("API_KEY"), "'API_KEY' names no secret: expected BUNDLE/NAME, such as hello/API_KEY");
  EXPECT_EQ(fault_of_secret_name("hello/.."),
            "'hello/..' names no secret: its words have letters, digits, _, - and . alone");
  EXPECT_EQ(fault_of_secret_name("hello/a b"),
            "'hello/a b' names no secret: its words have letters, digits, _, - and . alone");
  EXPECT_NE(fault_of_secret_name("hello/" + std::string(300, 'a')), "");
}

TEST(SecretNames, VariablesAreInCapitals) { EXPECT_EQ(variable_of_secret("my-shop/api_key"), "MY_SHOP_API_KEY"); }

}  // namespace secret_names_test
}  // namespace sluice::deploy
