// The engine on a home: who calls, what is kept beside the journal.
#include "host/home_engine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/testing_source.h"
#include "host/testing_opening.h"
#include "lang/check/testing_kit.h"
#include "orders/orders_kit.h"

namespace sluice::host {
namespace home_engine_test {

struct HomeEngines : testing::Test, TestingOpening {
  HomeEngines() : TestingOpening(orders::concepts()) { opening.reason = "tea time"; }
  std::unique_ptr<HomeEngine> start() {
    lang::Checked checked = lang::check(
        lang::load_kit(kKit, [this](const std::string& path) { return read_file(disk, path, size_t{1} << 20U); }));
    EXPECT_TRUE(checked.kit);
    auto home = HomeEngine::start(opening, std::make_shared<const lang::CheckedKit>(*std::move(checked.kit)), kKit);
    EXPECT_TRUE(home) << to_string(home.error());
    return *std::move(home);
  }

  const std::string kKit = std::string(kSourceDir) + "/examples/kits/orders";
};

TEST_F(HomeEngines, TheHomesOwnerMayCallAndNobodyElse) {
  auto home = start();
  EXPECT_EQ(home->caller(), (engine::Caller{"uid:" + std::to_string(::getuid()), "tea time"}));
  EXPECT_TRUE(home->may(home->caller()));
  engine::Request add{.action = "Stock/add", .input = {{"item", "tea"}, {"count", 5}}, .caller = {"uid:4711", ""}};
  auto denied = home->engine().start(add);
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code, Code::denied);
  EXPECT_EQ(denied.error().message, "uid:4711 may not call Stock/add");
  auto snapshot = home->store().read();
  ASSERT_TRUE(snapshot);
  auto row = (*snapshot)->journal(1);
  ASSERT_TRUE(row && *row);
  auto step = engine::read_step((*row)->record);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->kind, engine::Step::Kind::denied);
  EXPECT_EQ(step->caller.name, "uid:4711");
}

TEST_F(HomeEngines, TheJournalIsSignedAndTheKitRemembered) {
  {
    auto home = start();
    auto ended = home->engine().invoke(
        {.action = "Stock/add", .input = {{"item", "tea"}, {"count", 5}}, .caller = home->caller()});
    ASSERT_TRUE(ended) << to_string(ended.error());
    EXPECT_EQ(ended->end.variant, "ok");
    auto snapshot = home->store().read();
    ASSERT_TRUE(snapshot);
    EXPECT_EQ((*snapshot)->meta("kit").value(), kKit);
  }
  auto heads = engine::read_heads(disk, folder.path("home/store/audit.heads"));
  ASSERT_TRUE(heads);
  ASSERT_EQ(heads->heads.size(), 1);
  EXPECT_EQ(heads->heads[0].head.seq, 1);
  EXPECT_EQ(narrator.said, "");
}

}  // namespace home_engine_test
}  // namespace sluice::host
