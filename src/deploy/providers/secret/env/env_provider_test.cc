// EnvProvider through the harness, with variables of a test.
#include <gtest/gtest.h>

#include "base/terminal.h"
#include "base/testing_volatile_disk.h"
#include "deploy/providers/secret/env/env_provider_work.h"
#include "deploy/value_versions.h"
#include "lang/run/harness.h"

namespace sluice::deploy::env_provider {

void prepare(lang::Harness&) {}

namespace env_provider_test {

class EnvProviderTest : public testing::Test {
 protected:
  EnvProviderTest() {
    harness.tools().add<Variables>(variables);
    harness.tools().add<Disk>(disk);
    harness.tools().add(versions);
  }
  auto fetch(std::optional<std::string> version = {}) {
    return harness.invoke(Fetch{.environment = "local", .name = "hello/api_key", .version = version});
  }
  auto head() { return harness.invoke(Head{.environment = "local", .name = "hello/api_key"}).as<Head::Ok>(); }

  std::optional<std::string> value;
  Variables variables = [this](const std::string& name) { return name == "HELLO_API_KEY" ? value : std::nullopt; };
  VolatileDisk disk;
  SeededRandom random{1};
  ValueVersions versions{disk, random, "/keys/versions.key"};
  lang::Harness harness{env_provider_binding()};
};

TEST_F(EnvProviderTest, AVariableIsASecret) {
  value = "hunter2";
  auto ok = fetch().as<Fetch::Ok>();
  EXPECT_EQ(harness.opened(ok.value), "hunter2");
  EXPECT_EQ(head().version, ok.version);
  EXPECT_EQ(fetch(ok.version).as<Fetch::Ok>().version, ok.version);
  value = "hunter3";
  EXPECT_NE(head().version, ok.version);
  EXPECT_EQ(fetch(ok.version).as<Fetch::Changed>().message.find("the variable HELLO_API_KEY has another value"), 0U);
}

TEST_F(EnvProviderTest, VariableNotSet) {
  EXPECT_EQ(fetch().as<Fetch::VariableNotSet>().message,
            "the variable HELLO_API_KEY, which has hello/api_key, is not set");
  EXPECT_FALSE(head().exists);
}

}  // namespace env_provider_test
}  // namespace sluice::deploy::env_provider
