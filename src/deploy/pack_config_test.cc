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

TEST(FirstWeek06, SettingsAreCarriedOverUntilTheyAreSetOrUnset) {
  const std::string before = R"({"non_secret":{"color":"blue","limit":3,"gone":1},"runtime_refs":{}})";
  EXPECT_EQ(carried_config(shop(), before, "", {}), R"({"non_secret":{"color":"blue","limit":3},"runtime_refs":{}})");
  EXPECT_EQ(carried_config(shop(), before, R"({"non_secret":{"limit":4}})", {"color"}),
            R"({"non_secret":{"limit":4},"runtime_refs":{}})");
  EXPECT_EQ(carried_config(shop(), before, R"({"runtime_refs":{"color":"runtime://prod/discovered/c"}})", {"limit"}),
            R"({"non_secret":{},"runtime_refs":{"color":"runtime://prod/discovered/c"}})");
  EXPECT_EQ(carried_config(shop(), "", "", {}), R"({"non_secret":{},"runtime_refs":{}})");
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

TEST(PackConfig, OnlySettingsAreUnset) {
  EXPECT_TRUE(check_unset(shop(), "", {"color"}));
  EXPECT_TRUE(check_unset(shop(), R"({"non_secret":{"old":1}})", {"old"})) << "the version before had it";
  EXPECT_EQ(check_unset(shop(), "", {"colr"}).error().message, "shop has no setting colr; did you mean color?");
}

TEST(PackConfig, SaysWhatHasNoAnswerOrNoQuestion) {
  EXPECT_EQ(refused(""), "config limit has no answer: How many?");
  EXPECT_EQ(refused(R"({"non_secret":{"limit":"3"}})"), "config limit: expected a whole number, not \"3\"");
  EXPECT_EQ(refused(R"({"non_secret":{"limit":3,"color":"green"}})"),
            "config color: \"green\" is none of the choices: \"red\", \"blue\"");
  EXPECT_EQ(refused(R"({"non_secret":{"limit":3,"colour":"red"}})"), "shop has no setting colour; did you mean color?");
  EXPECT_EQ(refused(R"({"secret_refs":{}})"), "the config has non_secret, runtime_refs and running, not secret_refs");
  EXPECT_EQ(refused(R"({"non_secret":{"limit":3},"runtime_refs":{"dns":"runtime://other/discovered/x"}})"),
            "'runtime://other/discovered/x' is not runtime://prod/discovered/…");
  EXPECT_EQ(refused(R"({"non_secret":{"limit":3}})", R"({"shop":{"none":1}})"), "shop has no setting none");
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

TEST(PackConfig, TheEnvironmentsAnswersAreBeneathTheDeploymentsOwn) {
  ConfigRequest asked = request(R"({"non_secret":{"limit":3}})");
  asked.answers = {{"limit", 5}, {"color", "blue"}, {"unknown", 1}};
  auto config = resolve_config(shop(), asked).value();
  EXPECT_EQ(config.non_secret, (json::object{{"color", "blue"}, {"limit", 3}}));
  EXPECT_EQ(config.from.at("color"), SettingFrom::environment);
  EXPECT_EQ(config.from.at("limit"), SettingFrom::deployment);
}

TEST(PackConfig, SecretQuestionsAreAnsweredByReferenceAlone) {
  Asks asks{.bundle = "shop"};
  asks.questions = {{.name = {"api_key"}, .question = "Which?", .secret = true}};
  EXPECT_EQ(resolve_config(asks, request("")).value().secret_refs.at("API_KEY"), "secret://prod/shop/shop/API_KEY");
  EXPECT_EQ(resolve_config(asks, request(R"({"non_secret":{"api_key":"secret://prod/shared/KEY"}})"))
                .value()
                .secret_refs.at("API_KEY"),
            "secret://prod/shared/KEY");
  auto plain = resolve_config(asks, request(R"({"non_secret":{"api_key":"hunter2"}})"));
  EXPECT_EQ(plain.error().message, "config api_key is a secret, and its value is no setting");
  EXPECT_EQ(plain.error().next, "keep it among the secrets of prod, as shop/API_KEY");
  EXPECT_EQ(resolve_config(asks, request(R"({"non_secret":{"api_key":"secret://test/shop/KEY"}})")).error().message,
            "config api_key: a secret of test is none of prod");
}

TEST(PackConfig, AnAnswerMayBeWhatIsFoundOut) {
  auto config =
      resolve_config(shop(), request(R"({"non_secret":{"limit":"runtime://prod/discovered/limit"}})")).value();
  EXPECT_EQ(config.runtime_refs.at("limit"), "runtime://prod/discovered/limit");
  EXPECT_EQ(program_config(config), (json::object{{"color", "red"}, {"limit", "runtime://prod/discovered/limit"}}));
}

}  // namespace pack_config_test
}  // namespace sluice::deploy
