// What callers from outside may not say.
#include "deploy/admission.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "deploy/deploy_kit.h"

namespace sluice::deploy {
namespace admission_test {

const lang::ActionBinding* action_named(std::string_view name) {
  const size_t slash = name.find('/');
  for (const lang::ConceptBinding* each : concepts()) {
    if (each->name == name.substr(0, slash)) return each->action(name.substr(slash + 1));
  }
  return nullptr;
}

TEST(Admission, ARefusedHostValueIsRefusedBeforeItIsRecorded) {
  const lang::ActionBinding* set = action_named("Config/set");
  auto ask = [](const char* key, const char* value) {
    return json::object{{"environment", "local"},
                        {"values", json::array{json::object{{"key", key}, {"value", value}}}}};
  };
  EXPECT_TRUE(set->check(ask("redis_url", "redis://cache.example:6379/0")));
  auto refused = set->check(ask("redis_url", "redis://user:pw@cache.example"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_EQ(refused.error().message.find("redis_url stays as it was: it holds no password"), 0U);
  EXPECT_EQ(refused.error().next.find("name a Redis that asks for none"), 0U);
  EXPECT_EQ(set->check(ask("region", "a/b")).error().code, Code::invalid);
  auto elsewhere = set->check(ask("public_hostname", "redis://user:pw@cache.example"));
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().message.find("pw@"), std::string::npos) << elsewhere.error().message;
  EXPECT_FALSE(set->check({{"environment", "local"}})) << "arguments are checked as ever";
}

}  // namespace admission_test
}  // namespace sluice::deploy
