// The config of an instance, and what is wrong with one.
#include "deploy/providers/runtime/local/local_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::deploy::local_runtime {
namespace local_settings_test {

std::string fault_of(const std::string& text) {
  auto parsed = parse_local_settings(text);
  return parsed ? "" : to_string(parsed.error());
}

TEST(LocalSettings, HaveDefaults) {
  for (const char* text : {"", "{}"}) {
    auto parsed = parse_local_settings(text);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->replicas, 1U);
    EXPECT_FALSE(parsed->port);
    EXPECT_EQ(parsed->config_text(), "{}");
    EXPECT_FALSE(parsed->storage);
  }
}

TEST(LocalSettings, AreRead) {
  auto parsed = parse_local_settings(R"({"replicas":2,"port":8080,"config":{"color":"blue"},"storage":"shop"})");
  ASSERT_TRUE(parsed) << to_string(parsed.error());
  EXPECT_EQ(parsed->replicas, 2U);
  EXPECT_EQ(parsed->port, 8080);
  EXPECT_EQ(parsed->config_text(), R"({"color":"blue"})");
  EXPECT_EQ(parsed->storage->text, "shop");
}

TEST(LocalSettings, SayWhatIsWrong) {
  EXPECT_EQ(parse_local_settings(R"({"variables":{"SLUICE_REVISION":"r1"}})")->variables.at("SLUICE_REVISION"), "r1");
  EXPECT_EQ(fault_of(R"({"replicas":0})"), "/replicas: expected 1 to 1000 replicas");
  EXPECT_EQ(fault_of(R"({"replicas":1001})"), "/replicas: expected 1 to 1000 replicas");
  EXPECT_EQ(fault_of(R"({"port":65535})"), "/port: there are not twice as many ports as replicas");
  EXPECT_EQ(fault_of(R"({"port":0})"), "/port: expected a port from 1 to 65535");
  EXPECT_EQ(fault_of(R"({"config":[]})"), "/config: expected an object");
  EXPECT_THAT(fault_of(R"({"storage":"../x"})"), testing::HasSubstr("/storage"));
  EXPECT_THAT(fault_of(R"({"replica":1})"), testing::HasSubstr("did you mean \"replicas\"?"));
  EXPECT_THAT(fault_of("{"), testing::HasSubstr("config:1:2"));
}

}  // namespace local_settings_test
}  // namespace sluice::deploy::local_runtime
