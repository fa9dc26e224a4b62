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

TEST(SecretAssignments, AreReadFromXmlAndDockerfiles) {
  auto read = [](const std::optional<Assignment>& found) {
    return found ? std::string(found->name) + "|" + std::string(found->value) : "";
  };
  auto element = [&](std::string_view text) { return read(element_at(text, text.find('>'))); };
  EXPECT_EQ(element("<password>abc</password>"), "password|abc");
  EXPECT_EQ(element("<db:password>abc</db:password>"), "password|abc");
  EXPECT_EQ(element("<string name=\"token\">abc</string>"), "token|abc");
  EXPECT_EQ(element("<string lang=\"token\">abc</string>"), "");
  EXPECT_EQ(element("<a><b>"), "");
  EXPECT_EQ(element("x->password"), "");
  EXPECT_EQ(element(">"), "");
  auto line = [&](std::string_view text) { return read(docker_env_at(text, 0)); };
  EXPECT_EQ(line("ENV DB_PASSWORD abc"), "DB_PASSWORD|abc");
  EXPECT_EQ(line("  env DB_PASSWORD \"abc\"\r\nX"), "DB_PASSWORD|abc");
  EXPECT_EQ(line("ENV DB_PASSWORD=abc"), "") << "that is an assignment";
  EXPECT_EQ(line("ENV a b c"), "");
  EXPECT_EQ(line("ENV "), "");
  EXPECT_EQ(line("ENVOY a b"), "");
}

TEST(SecretAssignments, AValueIsCalledByTheNameBesideIt) {
  auto called = [](std::string_view text) {
    const size_t at = std::min(text.find("value"), text.find("string"));
    return name_of_value(text, text.substr(at, text[at] == 'v' ? 5 : 6), at);
  };
  EXPECT_EQ(called("- name: DB_PASSWORD\n  value: x"), "DB_PASSWORD");
  EXPECT_EQ(called("{\"name\": \"DB_PASSWORD\", \"value\": \"x\"}"), "DB_PASSWORD");
  EXPECT_EQ(called("<add key=\"DbPassword\" value=\"x\"/>"), "DbPassword");
  EXPECT_EQ(called("<key>DbPassword</key>\n<string>x</string>"), "DbPassword");
  EXPECT_EQ(called("host: DB_PASSWORD\n  value: x"), "");
  EXPECT_EQ(called("value: x"), "");
  EXPECT_EQ(name_of_value("name: a\nport: 1", "port", 8), "");
}

TEST(SecretAssignments, KnowLoginsAndPasswordsThatWereThoughtUp) {
  EXPECT_TRUE(is_login("ZGVwbG95OmY3S3Ewdlh6"));  // deploy:f7Kq0vXz
  EXPECT_FALSE(is_login("dXNlcjpwYXNzd29yZA==")) << "user:password";
  EXPECT_FALSE(is_login("ZGVwbG95"));
  EXPECT_FALSE(is_login("not base64 at all"));
  EXPECT_TRUE(looks_thought_up("Tr0ub4dor&3"));
  EXPECT_FALSE(looks_thought_up("trombone"));
  EXPECT_FALSE(looks_thought_up("Tr0ub"));
  EXPECT_FALSE(looks_random("https://login.example/oauth2/v2.0/token"));
  EXPECT_FALSE(looks_random("/run/secrets/db1_password"));
  EXPECT_FALSE(looks_random("color.text.accent.blue2"));
  EXPECT_TRUE(looks_random("a1-b2c3d4e5-f6g7h8"));
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
