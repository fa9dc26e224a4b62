// Challenges, whom a password may be told, and the files that have logins.
#include "oci/auth.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::oci {
namespace auth_test {

TEST(Challenge, IsReadFromItsHeader) {
  auto bearer = parse_challenge(
      R"(Bearer realm="https://auth.example/token",service="registry.example",scope="repository:a:pull")");
  ASSERT_TRUE(bearer);
  EXPECT_TRUE(bearer->bearer);
  EXPECT_EQ(bearer->realm, "https://auth.example/token");
  EXPECT_EQ(bearer->service, "registry.example");
  EXPECT_EQ(bearer->scope, "repository:a:pull");
  auto basic = parse_challenge("basic Realm=\"a \\\"quoted\\\" one\"");
  ASSERT_TRUE(basic);
  EXPECT_FALSE(basic->bearer);
  EXPECT_EQ(basic->realm, "a \"quoted\" one");
  auto second = parse_challenge(R"(Negotiate, Digest realm="x", nonce=y, Bearer realm="https://b.example")");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->realm, "https://b.example");
}

TEST(Challenge, NonsenseIsNone) {
  for (const char* text :
       {"", ",", "=", "Bearer realm=\"open", "Digest realm=\"x\"", "Bearer realm=\"a\\", "\"Bearer\""}) {
    EXPECT_FALSE(parse_challenge(text)) << text;
  }
}

TEST(Login, MayBeToldToTheRegistrysOwnPartyAlone) {
  EXPECT_TRUE(may_login_at("registry.example", "https://registry.example/token"));
  EXPECT_TRUE(may_login_at("registry.team.example", "https://auth.team.example/token"));
  EXPECT_TRUE(may_login_at("docker.io", "https://auth.docker.io/token"));
  EXPECT_TRUE(may_login_at("127.0.0.1:5000", "http://127.0.0.1:5001/token"));
  EXPECT_FALSE(may_login_at("registry.team.example", "https://auth.other.example/token"));
  EXPECT_FALSE(may_login_at("registry.team.example", "http://auth.team.example/token"));
  EXPECT_FALSE(may_login_at("registry.shop.co.uk", "https://evil.co.uk/token"));
  EXPECT_FALSE(may_login_at("127.0.0.1:5000", "https://elsewhere.example/token"));
  EXPECT_FALSE(may_login_at("10.0.0.1", "https://10.0.0.2/token"));
  EXPECT_FALSE(may_login_at("registry.example", "nonsense"));
}

TEST(Login, IsReadFromTheFilesThatPeopleHave) {
  const std::string text =
      R"({"auths": {"https://registry.example/v1/": {"auth": "Y2k6c2U6Y3JldA=="}, "broken.example": {"auth": "!"}}, "credsStore": "x"})";
  EXPECT_EQ(*login_in(text, "config.json", "registry.example"), (Login{"ci", "se:cret"}));
  EXPECT_EQ(*login_in(text, "config.json", "other.example"), std::nullopt);
  EXPECT_EQ(login_in(text, "config.json", "broken.example").error().message,
            "config.json: the login for broken.example is not USER:PASSWORD in base64");
  EXPECT_FALSE(login_in("{", "config.json", "registry.example"));
  TestingFolder folder;
  RealDisk disk;
  ASSERT_TRUE(write_atomically(disk, folder.path("config.json"), text, 0600));
  auto variables = [&](const std::string& wanted) -> Variables {
    return [&folder, wanted](const std::string& name) {
      const std::string value = folder.path() + (wanted == "REGISTRY_AUTH_FILE" ? "/config.json" : "");
      return name == wanted ? std::optional<std::string>(value) : std::nullopt;
    };
  };
  for (const char* name : {"REGISTRY_AUTH_FILE", "DOCKER_CONFIG"}) {
    EXPECT_EQ((*login_of_file(disk, variables(name), "registry.example"))->user, "ci") << name;
  }
  EXPECT_EQ(*login_of_file(disk, variables("HOME"), "registry.example"), std::nullopt);
  EXPECT_EQ(to_string(*parse_login("a:b")), "a:b");
  EXPECT_FALSE(parse_login("nobody"));
}

}  // namespace auth_test
}  // namespace sluice::oci
