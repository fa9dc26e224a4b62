// A thread of the worker: tasks, tables and its end.
#include "router/worker_thread.h"

#include <gtest/gtest.h>

#include "base/testing_folder.h"
#include "base/testing_wait.h"

namespace sluice::router {
namespace worker_thread_test {

TEST(WorkerThread, ObeysTablesRunsTasksAndEnds) {
  TestingFolder folder;
  RealClock clock;
  SeededRandom random{1};
  auto counters = *Counters::open(folder.path("counters"), "R", "E", 1);
  LogExchange log;
  AddressCounts addresses;
  auto thread = *WorkerThread::make(0, {}, clock, random, *counters, log, addresses);
  thread->start();
  Table table({1, 2});
  table.settings = std::make_shared<TableSettings>();
  thread->order_table(&table);
  EXPECT_TRUE(eventually([&] { return thread->has_caught_up(&table); }));
  bool ran = false;
  thread->ask([&](Proxy&) { ran = true; });
  EXPECT_TRUE(ran);
  EXPECT_FALSE(thread->has_ended());
  thread->begin_stop(0);
  EXPECT_TRUE(eventually([&] { return thread->has_ended(); }));
  thread->ask([&](Proxy&) { ADD_FAILURE() << "it has ended"; });
  thread->order_table(nullptr);
  EXPECT_TRUE(thread->has_caught_up(nullptr)) << "nothing looks at a table any more";
}

}  // namespace worker_thread_test
}  // namespace sluice::router
