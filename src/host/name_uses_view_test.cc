// What the view needs; uses are found in deploy/views/name_search_test.cc and
// cli/nouns/env/env_migrate_commands_test.cc.
#include "host/name_uses_view.h"

#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "store/memory_store.h"

namespace sluice::host {
namespace name_uses_view_test {

TEST(NameUsesView, NeedsTheEnvironmentThatTakesOver) {
  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  const Home home(disk, folder.path());
  const Beside beside{disk, home, clock};
  store::MemoryStore store;
  const lang::Tools tools;
  auto moment = Moment::of(store, nullptr, tools, 1'000, &beside);
  auto read = (*find_view("name-uses"))->read((*moment)->reading(), {{"name", "dev"}, {"environment", "local"}});
  EXPECT_EQ(read.error().code, Code::not_found);
}

}  // namespace name_uses_view_test
}  // namespace sluice::host
