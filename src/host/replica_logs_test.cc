// Whose logs are read is what the view says.
#include "host/replica_logs.h"

#include <gtest/gtest.h>

#include "host/testing_work.h"

namespace sluice::host {
namespace replica_logs_test {

TEST(ReplicaLogs, OfWhatDoesNotRunAreNotFound) {
  TestingWork work;
  EngineDoor door(work.door_parts(), {.name = work.owner});
  auto read = door.read_logs(
      {.names = {"hello"}}, [](const SaidLine&) { return true; }, [] { return true; });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::not_found);
  EXPECT_EQ(read.error().message, "nothing that runs is called hello");
}

}  // namespace replica_logs_test
}  // namespace sluice::host
