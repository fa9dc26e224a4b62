// Names and values that are secrets, and those that are not.
#include "bundle/secrets/secret_assignments.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::bundle {
namespace secret_assignments_test {

TEST(SecretAssignments, AreReadInEverySpelling) {
  auto read = [](std::string_view text, char sign = '=') {
    auto found = assignment_at(text, text.find(sign));
    return found ? std::string(found->name) + "|" + std::string(found->value) : "";
  };
  EXPECT_EQ(read("password = \"a b\""), "password|a b");
  EXPECT_EQ(read("PASSWORD=abc # x"), "PASSWORD|abc");
  EXPECT_EQ(read("\"token\": \"abc\",", ':'), "token|abc");
  EXPECT_EQ(read("config['secret'] = 'abc'"), "secret|abc");
  EXPECT_EQ(read("secret := \"abc\""), "secret|abc");
  EXPECT_EQ(read("a == b"), "");
  EXPECT_EQ(read("= b"), "");
  EXPECT_EQ(read("a ="), "");
  EXPECT_TRUE(assignment_at("x\nexport A=b", 10)->at_line_start);
}

TEST(SecretAssignments, AreJudgedByNamesAndValues) {
  EXPECT_TRUE(names_a_secret("DB_PASSWORD"));
  EXPECT_TRUE(names_a_secret("clientSecret"));
  EXPECT_TRUE(names_a_secret("github-token"));
  EXPECT_FALSE(names_a_secret("password_file"));
  EXPECT_FALSE(names_a_secret("PWD"));
  EXPECT_FALSE(names_a_secret("secretName"));
  EXPECT_FALSE(names_a_secret("monkey"));
  for (const char* value : {"changeme", "${DB}", "<your-token>", "example-password", "xxxxxxxxxxxx", "$TOKEN",
                            "{{ secret }}", "secret://db/password", ""}) {
    EXPECT_TRUE(is_placeholder(value)) << value;
  }
  EXPECT_FALSE(is_placeholder("f7Kq0vXz"));
  EXPECT_TRUE(looks_random("f7Kq0vXz91Lm"));
  EXPECT_FALSE(looks_random("correct-horse-battery"));
  EXPECT_FALSE(looks_random("getToken(request2)"));
  EXPECT_FALSE(looks_random("short1"));
}

}  // namespace secret_assignments_test
}  // namespace sluice::bundle
