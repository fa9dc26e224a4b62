// Which processes belong to a home, and that nothing is done where there are none. Starting and stopping them is tested
// end to end.
#include "host/background.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/lock_file.h"
#include "host/testing_opening.h"

namespace sluice::host {
namespace background_test {

using testing::ElementsAre;
using testing::IsEmpty;

class Background : public testing::Test {
 protected:
  void record(int pid) {
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/router.json") << write(json::object{{"name", "main"},
                                                                 {"router", "01J"},
                                                                 {"pid", pid},
                                                                 {"listen", json::array{"127.0.0.1:8080"}},
                                                                 {"control", folder + "/control.sock"},
                                                                 {"kept", true}});
  }

  TestingOpening world{{}};
  Home& home = world.home;
  std::string folder = world.folder.path("home/router/main");
  RealClock clock;
};

TEST_F(Background, ARouterRunsIfItsProcessHoldsTheLock) {
  EXPECT_THAT(running_routers(world.disk, home), IsEmpty());
  record(::getpid());
  EXPECT_THAT(running_routers(world.disk, home), IsEmpty()) << "a record alone says nothing";
  auto lock = LockFile::acquire(world.disk, clock, folder + "/lock", 0);
  ASSERT_TRUE(lock);
  auto routers = running_routers(world.disk, home);
  ASSERT_EQ(routers.size(), 1U);
  EXPECT_EQ(routers[0].name, "main");
  EXPECT_EQ(routers[0].pid, ::getpid());
  EXPECT_THAT(routers[0].listen, ElementsAre("127.0.0.1:8080"));
  record(1);
  EXPECT_THAT(running_routers(world.disk, home), IsEmpty()) << "the record is of another process";
}

TEST_F(Background, ARouterWhoseMasterWasKilledRunsAsLongAsItsWorkerDoes) {
  record(1);
  auto worker = LockFile::acquire(world.disk, clock, folder + "/worker.lock", 0);
  ASSERT_TRUE(worker);
  auto routers = running_routers(world.disk, home);
  ASSERT_EQ(routers.size(), 1U);
  EXPECT_EQ(routers[0].pid, ::getpid()) << "who is asked to stop";
  EXPECT_THAT(routers[0].listen, ElementsAre("127.0.0.1:8080"));
}

TEST_F(Background, ARouterThatWasStoppedIsNotStarted) {
  record(1);
  ASSERT_TRUE(stop_routers(world.disk, home, clock, 1'000));
  EXPECT_EQ(read_file(world.disk, folder + "/kept.json", 1'000).value(),
            R"({"listen":["127.0.0.1:8080"],"wanted":false})")
      << "the next one listens there again";
  RouterKeeper keeper(world.disk, home, clock);
  EXPECT_EQ(keeper.look(), std::nullopt);
  EXPECT_EQ(keeper.look(), std::nullopt);
  auto lock = LockFile::acquire(world.disk, clock, folder + "/lock", 0);
  ASSERT_TRUE(lock);
  EXPECT_EQ(keeper.look(), std::nullopt) << "it runs";
}

TEST_F(Background, NothingIsStoppedWhereNothingRuns) {
  EXPECT_FALSE(serve_runs(home, clock));
  EXPECT_THAT(stop_routers(world.disk, home, clock, 1'000).value(), IsEmpty());
  EXPECT_EQ(stop_serve(world.disk, home, clock, "", 1'000).value(), 0);
  EXPECT_EQ(stop_workloads(world.disk, home, world.loaded).value(), 0U);
  EXPECT_FALSE(std::filesystem::exists(home.root()));
}

}  // namespace background_test
}  // namespace sluice::host
