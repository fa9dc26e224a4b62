// sluice config on a home of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "cli/testing_objects.h"

namespace sluice::cli {
namespace config_commands_test {

using testing::HasSubstr;
using testing::Not;

TEST(ConfigCommands, SetAndShow) {
  ObjectsHome home;
  EXPECT_EQ(home.run({"config", "show", "local"}).out, "Nothing is configured.\n");
  EXPECT_EQ(home.run({"config", "set", "local", "region=eu", "listen_addr=127.0.0.1:8080"}).out,
            "set  local, generation 1\n");
  EXPECT_EQ(home.data({"config", "show", "local"}).at("host_config").at("region"), json::value("eu"));
  EXPECT_THAT(home.run({"config", "show", "local"}).out, HasSubstr("region       eu              operator"));
  EXPECT_EQ(home.run({"config", "set", "local", "region"}).exit, 2);
  EXPECT_EQ(home.run({"config", "set", "local"}).exit, 2);
  EXPECT_THAT(home.run({"config", "set", "local", "regoin=eu"}).err, HasSubstr("did you mean region?"));
  EXPECT_EQ(home.run({"config", "set", "none", "region=eu"}).exit, 5);
}

TEST(ConfigCommands, KeepNothingOfARefusedPassword) {
  ObjectsHome home;
  home.run({"env", "list"});
  Ran refused = home.run({"config", "set", "local", "redis_url=redis://user:hunter2@cache.example"});
  EXPECT_EQ(refused.exit, 1);
  EXPECT_THAT(refused.err, HasSubstr("redis_url stays as it was: it holds no password"));
  EXPECT_THAT(refused.err, HasSubstr("next:  name a Redis that asks for none"));
  EXPECT_THAT(home.run({"audit", "list", "-o", "json"}).out, Not(HasSubstr("hunter2")));
  RealDisk disk;
  for (const char* file : {"home/store/store.db", "home/store/store.db-wal"}) {
    auto bytes = read_file(disk, home.folder.path(file), size_t{64} << 20U);
    EXPECT_TRUE(!bytes || bytes->find("hunter2") == std::string::npos) << file;
  }
}

TEST(ConfigCommands, RefuseARedisThatNoRouterCanUse) {
  ObjectsHome home;
  home.run({"env", "list"});
  for (const char* url : {"rediss://127.0.0.1", "redis://127.0.0.1/99999999999"}) {
    Ran refused = home.run({"config", "set", "local", std::string("redis_url=") + url});
    EXPECT_EQ(refused.exit, 1);
    EXPECT_THAT(refused.err, HasSubstr("error: redis_url stays as it was: "));
    EXPECT_THAT(refused.err, HasSubstr("next:  redis_url=redis://HOST"));
  }
  EXPECT_FALSE(home.data({"config", "show", "local"}).at("host_config").as_object().contains("redis_url"));
}

TEST(ConfigCommands, ShowWhatPacksAreSetUpWith) {
  ObjectsHome home;
  RealDisk disk;
  const std::string file = home.folder.path("otlp.yaml");
  EXPECT_EQ(home.run({"env-packs", "update", "local", "acme.telemetry.otlp@1.0.0", "--answers-ref", file}).exit, 5);
  ASSERT_TRUE(write_atomically(disk, file, "endpoint: http://otel.example\nrate: 0.5\n", 0644));
  EXPECT_EQ(home.run({"env-packs", "update", "local", "acme.telemetry.otlp@1.0.0", "--answers-ref", file}).exit, 0);
  EXPECT_EQ(home.data({"config", "show", "local"}).at("setup").as_array()[0].at("answers").at("endpoint"),
            json::value("http://otel.example"));
  EXPECT_THAT(home.run({"config", "show", "local"}).out, HasSubstr("telemetry.rate"));
  ASSERT_TRUE(disk.remove(file));
  EXPECT_THAT(home.run({"config", "show", "local"}).err, HasSubstr("warning: the answers of acme.telemetry.otlp"));
  EXPECT_THAT(home.run({"env", "doctor", "local"}).err, HasSubstr("the answers of acme.telemetry.otlp@1.0.0 cannot"));
}

}  // namespace config_commands_test
}  // namespace sluice::cli
