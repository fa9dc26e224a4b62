// What is told when a provider has another version, and that nobody is asked before it is time.
#include "deploy/secret_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/json.hpp>
#include <mutex>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/testing_volatile_disk.h"
#include "base/testing_wait.h"
#include "deploy/testing_views.h"
#include "env.gen.h"
#include "revision.gen.h"

namespace sluice::deploy {
namespace secret_watch_test {

TEST(SecretWatch, VersionsOfVariablesAndFilesFollowTheirValues) {
  VolatileDisk disk;
  SeededRandom random(1);
  ValueVersions versions(disk, random, "/versions.key");
  std::string value = "one";
  const auto variable = newest_variable(
      [&](const std::string& name) { return name == "MY_HELLO_KEY" ? std::optional(value) : std::nullopt; }, versions);
  auto answer = [](std::string_view name) { return std::string(name == "prefix" ? "MY_" : "/app.env"); };
  const auto first = variable("local", "hello/KEY", answer).value();
  ASSERT_TRUE(first);
  value = "two";
  EXPECT_NE(variable("local", "hello/KEY", answer).value(), first);
  EXPECT_FALSE(variable("local", "hello/OTHER", answer).value());
  const auto file = newest_in_file(disk, versions);
  EXPECT_FALSE(file("local", "hello/KEY", answer));
  ASSERT_TRUE(write_atomically(disk, "/app.env", "HELLO_KEY=one\n", 0600));
  EXPECT_EQ(file("local", "hello/KEY", answer).value(), first);
  ASSERT_TRUE(write_atomically(disk, "/app.env", "what\n", 0600));
  EXPECT_FALSE(file("local", "hello/KEY", answer));
}

class SecretWatchTest : public testing::Test {
 protected:
  SecretWatchTest() {
    rows.environment("local", {.name = "local", .secretsType = "env"});
    const revision::RevisionId id(rows.revision("r1", "d1", 1));
    revision::State state(rows.rows);
    state.edit(id,
               [](revision::RevisionRecord& record) { record.needs.secretRefs = {"secret://local/hello/hello/KEY"}; });
    state.secret_versions(id).push({.variable = "KEY", .name = "hello/KEY", .version = "1"});
  }
  void look() {
    watch.look([&](const std::string& action, const json::object& input) { told.push_back(action + write(input)); });
  }

  RowsInMemory rows;
  VolatileDisk disk;
  ManualClock clock;
  void now(const std::string& version) {
    std::lock_guard lock(mutex);
    newest = version;
  }
  std::mutex mutex;
  std::string newest = "1";
  std::atomic<int> asked = 0;
  SecretWatch watch{disk, clock, {{"env", [&](const auto&, const auto&, const auto&) {
                                     std::lock_guard lock(mutex);
                                     asked++;
                                     return Result<std::optional<std::string>>(std::optional(newest));
                                   }}}};
  std::vector<std::string> told;
};

TEST_F(SecretWatchTest, ABindingOfAnEarlierVersionIsMadeAgain) {
  const env::EnvId old("old");
  rows.environment("old", {.name = "old"});
  env::State(rows.rows).packs(old).push({.slot = "secrets", .kind = "sluice.secrets.store@1.0.0"});
  auto tell = [&](const std::string& action, const json::object& input) { told.push_back(action + write(input)); };
  watch.compare(rows, tell);
  watch.compare(rows, tell);
  EXPECT_EQ(told, std::vector<std::string>{
                      R"(Env/rebind{"environment":"old","slot":"secrets","kind":"sluice.secrets.store@1.0.0"})"});
}

TEST_F(SecretWatchTest, ANewerVersionIsTold) {
  watch.compare(rows, {});
  look();
  EXPECT_EQ(asked, 0) << "a short command waits for no provider";
  clock.advance_ms(15'001);
  look();
  now("2");
  clock.advance_ms(15'001);
  ASSERT_TRUE(eventually([&] {
    look();
    clock.advance_ms(15'001);
    return !told.empty();
  }));
  EXPECT_EQ(told.front(), R"(Secret/noticed{"name":"hello/KEY","provider":"env","environment":"local","version":"2"})");
  for (int i = 0; i < 5; ++i) {
    look();
    clock.advance_ms(15'001);
  }
  EXPECT_EQ(told.size(), 1U) << "what did not work is not tried again and again";
}

TEST_F(SecretWatchTest, AVersionThatComesBackIsToldAgain) {
  watch.compare(rows, {});
  auto look_again = [&] {
    const int before = asked;
    return eventually([&] {
      clock.advance_ms(15'001);
      look();
      return asked > before + 1;  // the look before this one was told of
    });
  };
  // Somebody takes a value back, and sets it once more.
  for (const char* each : {"2", "1", "2"}) {
    now(each);
    ASSERT_TRUE(look_again());
  }
  EXPECT_EQ(told.size(), 2U);
}

}  // namespace secret_watch_test
}  // namespace sluice::deploy
