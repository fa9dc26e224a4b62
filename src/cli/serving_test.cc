// sluice serve within this process: commands find it, and the store is free again after it. tests/serve runs the
// program.
#include "host/serving.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>
#include <thread>

#include "api/service.h"
#include "base/atomic_file.h"
#include "base/testing_source.h"
#include "cli/opening.h"
#include "cli/testing_commands.h"
#include "cli/testing_context.h"
#include "orders/orders_kit.h"

namespace sluice::cli {
namespace serving_test {

using testing::HasSubstr;
using testing::StartsWith;

struct ServingTest : testing::Test, TestingContext {
  ServingTest() : TestingContext(orders::concepts(), "serve") { place = *kit_place_of(context, kKit); }
  Result<std::unique_ptr<host::Serving>> start() {
    lang::Checked checked = check_kit_at(context, place);
    EXPECT_TRUE(checked.kit);
    return host::Serving::start(
        *opening_of(context), place, std::make_shared<const lang::CheckedKit>(*std::move(checked.kit)), "0.1.0",
        [](host::ServiceParts parts) { return std::make_unique<api::Service>(std::move(parts)); });
  }
  Ran run(const std::vector<std::string>& words) {
    return run_line(commands, words, {}, {{{"SLUICE_HOME", folder.path("home")}}, "", &loaded});
  }
  Ran kit(std::vector<std::string> words) {
    words.insert(words.begin(), {"kit", "run", kKit});
    return run(words);
  }

  const std::string kKit = std::string(kSourceDir) + "/examples/kits/orders";
  host::KitPlace place;
};

TEST_F(ServingTest, CommandsGoThroughItAndItsEndFreesTheStore) {
  {
    auto serving = start();
    ASSERT_TRUE(serving) << to_string(serving.error());
    EXPECT_EQ((*serving)->socket(), folder.path("home/run/sluice.sock"));
    EXPECT_EQ(kit({"Stock/add", "item=tea", "count=5"}).out, "ok  item=tea onShelf=5\n");
    EXPECT_EQ(kit({"Stock/look", "item=tea"}).out, "ok  item=tea onShelf=5\n");
    Ran listed = run({"flow", "list", "-o", "json"});
    EXPECT_EQ(json::parse(listed.out).at(0).at("action"), "Stock/add") << listed.err;
    EXPECT_EQ(kit({}).err, "Nothing was left to do.\n");
    Ran status = run({"status", "-o", "json"});
    EXPECT_EQ(status.exit, 0);
    EXPECT_EQ(json::parse(status.out).at("pid"), ::getpid());
    EXPECT_EQ(json::parse(status.out).at("kitFolder"), json::value(kKit));
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path("home/run/sluice.sock")));
  EXPECT_EQ(kit({"Stock/look", "item=tea"}).out, "ok  item=tea onShelf=5\n");
  EXPECT_THAT(err.str(), HasSubstr(" serving the kit orders at " + folder.path("home/run/sluice.sock") + ", pid "));
  EXPECT_THAT(err.str(), HasSubstr(" Stock/add => ok in "));
  EXPECT_TRUE(err.str().ends_with(" stopped\n")) << err.str();
}

TEST_F(ServingTest, ASecondOneIsAConflict) {
  auto first = start();
  ASSERT_TRUE(first);
  auto second = start();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::conflict);
  EXPECT_THAT(second.error().message,
              StartsWith("sluice serve runs already: pid " + std::to_string(::getpid()) + " on "));
  EXPECT_EQ(second.error().next, "sluice stop");
}

TEST_F(ServingTest, AnotherKitIsAConflict) {
  auto serving = start();
  ASSERT_TRUE(serving);
  std::filesystem::copy(kKit, folder.path("other"));
  Ran done = run({"kit", "run", folder.path("other"), "Stock/add", "item=tea", "count=5"});
  EXPECT_EQ(done.exit, 6);
  EXPECT_EQ(done.err, "error: sluice serve runs the kit " + kKit + ", and this command needs " + folder.path("other") +
                          "\nnext:  sluice stop, then run the command again\n");
}

TEST_F(ServingTest, RunsUntilSomebodyAsks) {
  std::optional<host::StopSignal> stop(std::in_place);
  auto serving = start();
  ASSERT_TRUE(serving);
  host::KitReload reload(disk, output, place, loaded);
  std::thread running([&] { (*serving)->run(*stop, reload); });
  Ran asked = run({"stop", "--timeout", "0s"});
  running.join();
  EXPECT_EQ(asked.exit, 8) << "this process does not end";
  EXPECT_THAT(asked.err, HasSubstr("was asked to stop and has not ended yet"));
  EXPECT_THAT(err.str(), HasSubstr(" asked to stop\n"));
  EXPECT_THAT(err.str(), HasSubstr(" stopping\n"));
}

TEST_F(ServingTest, SaysThatTheHomesPathIsTooLong) {
  std::string deep = folder.path(std::string(100, 'a'));
  variables = [&](const std::string& name) -> std::optional<std::string> {
    return name == "SLUICE_HOME" ? std::optional(deep) : std::nullopt;
  };
  auto refused = start();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_THAT(refused.error().message, StartsWith("the path of the home's socket has "));
  EXPECT_FALSE(std::filesystem::exists(deep));
}

}  // namespace serving_test
}  // namespace sluice::cli
