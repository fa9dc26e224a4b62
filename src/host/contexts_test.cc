// Servers are kept with their tokens, where only their owner can read them.
#include "host/contexts.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/real_disk.h"
#include "base/testing_folder.h"

namespace sluice::host {
namespace contexts_test {

TEST(Contexts, AreKeptForTheirOwnerAlone) {
  TestingFolder folder;
  RealDisk disk;
  Home home(disk, folder.path("home"));
  EXPECT_FALSE(read_contexts(disk, home)->server());
  Contexts contexts{.current = "team", .servers = {{"team", {"http://127.0.0.1:8400", "slt_a_b"}}}};
  ASSERT_TRUE(write_contexts(disk, home, contexts));
  auto read = read_contexts(disk, home);
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->server(), (ServerContext{"http://127.0.0.1:8400", "slt_a_b"}));
  const auto mode = std::filesystem::status(folder.path("home/keys/contexts.json")).permissions();
  EXPECT_EQ(mode, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  contexts.current = std::string(kLocalContext);
  EXPECT_FALSE(contexts.server());
}

TEST(Contexts, AServerIsOnThisMachine) {
  EXPECT_EQ(address_in("http://127.0.0.1:8400/")->port, 8400);
  EXPECT_EQ(address_in("http://[::1]:1")->address, "::1");
  EXPECT_EQ(address_in("http://localhost:1")->address, "127.0.0.1");
  for (const char* each : {"", "127.0.0.1:1", "http://127.0.0.1", "http://127.0.0.1:x", "ftp://127.0.0.1:1"}) {
    EXPECT_EQ(address_in(each).error().code, Code::usage) << each;
  }
  EXPECT_EQ(address_in("http://192.0.2.1:80").error().message,
            "http://192.0.2.1:80 is not on this machine, and the token would cross the network in the clear");
}

}  // namespace contexts_test
}  // namespace sluice::host
