// Answers, references and the digest over exactly these.
#include "deploy/pack_config.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sluice::deploy {
namespace pack_config_test {

bundle::Manifest shop() {
  return bundle::parse_manifest(R"(
name: shop
version: "1.0.0"
run: [./shop]
config:
  - { name: color, question: Which color?, choices: [red, blue], default: red }
  - { name: limit, question: How many?, type: integer }
secrets: [DB_PASSWORD]
)")
      .value();
}

ConfigRequest request(const std::string& asked, const std::string& overrides = "") {
  return {.environment = "prod", .asked = asked, .overrides = overrides};
}
std::string refused(const std::string& asked, const std::string& overrides = "") {
  return resolve_config(shop(), request(asked, overrides)).error().message;
}

TEST(PackConfig, AnswersByOverrideThenByWhatWasAskedThenByDefault) {
  auto config = resolve_config(shop(), request(R"({"non_secret":{"limit":3}})")).value();
  EXPECT_EQ(config.non_secret, (json::object{{"color", "red"}, {"limit", 3}}));
  EXPECT_EQ(config.secret_refs.at("DB_PASSWORD"), "secret://prod/shop/shop/DB_PASSWORD");
  config =
      resolve_config(shop(), request(R"({"non_secret":{"limit":3,"color":"red"}})", R"({"shop":{"color":"blue"}})"))
          .value();
  EXPECT_EQ(config.non_secret.at("color"), json::value("blue"));
}

TEST(PackConfig, SaysWhatHasNoAnswerOrNoQuestion) {
  EXPECT_EQ(refused(""), "config limit has no answer: How many?");
  EXPECT_EQ(refused(R"({"non_secret":{"limit":"3"}})"), "config limit is a whole number, not \"3\"");
  EXPECT_EQ(refused(R"({"non_secret":{"limit":3,"color":"green"}})"), "config color cannot be \"green\"");
  EXPECT_EQ(refused(R"({"non_secret":{"limit":3,"colour":"red"}})"), "shop asks for no config colour");
  EXPECT_EQ(refused(R"({"secret_refs":{}})"), "the config has non_secret and runtime_refs, not secret_refs");
  EXPECT_EQ(refused(R"({"non_secret":{"limit":3},"runtime_refs":{"dns":"runtime://other/discovered/x"}})"),
            "'runtime://other/discovered/x' is not runtime://prod/discovered/…");
  EXPECT_EQ(refused(R"({"non_secret":{"limit":3}})", R"({"shop":{"none":1}})"), "shop asks for no config none");
  EXPECT_EQ(refused("[]"), "the config is a JSON object");
}

TEST(PackConfig, TheDigestIsOverTheThreeSpacesAndNothingElse) {
  const std::string asked = R"({"non_secret":{"limit":3},"runtime_refs":{"dns":"runtime://prod/discovered/alb"}})";
  auto config = resolve_config(shop(), request(asked)).value();
  json::object document = pack_config_document(config, "shop", "r1");
  EXPECT_EQ(document.at("schema"), json::value("sluice.pack-config.v1"));
  EXPECT_EQ(document.at("revision_id"), json::value("r1"));
  std::string digest = config_digest(config);
  EXPECT_EQ(digest.substr(0, 7), "sha256:");
  EXPECT_EQ(config_digest(resolve_config(shop(), request(asked)).value()), digest);
  for (const char* other : {R"({"non_secret":{"limit":4},"runtime_refs":{"dns":"runtime://prod/discovered/alb"}})",
                            R"({"non_secret":{"limit":3},"runtime_refs":{"dns":"runtime://prod/discovered/nlb"}})"}) {
    EXPECT_NE(config_digest(resolve_config(shop(), request(other)).value()), digest) << other;
  }
  auto elsewhere = resolve_config(shop(), {.environment = "test", .asked = R"({"non_secret":{"limit":3}})"}).value();
  auto here = resolve_config(shop(), request(R"({"non_secret":{"limit":3}})")).value();
  EXPECT_NE(config_digest(elsewhere), config_digest(here)) << "secrets of another environment are others";
}

}  // namespace pack_config_test
}  // namespace sluice::deploy
