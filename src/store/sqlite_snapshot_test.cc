// What a snapshot does with its connection; what it reads is tested by the tests of every store.
#include "store/sqlite_snapshot.h"

#include <gtest/gtest.h>

#include "base/testing_faulty_disk.h"
#include "base/testing_volatile_disk.h"
#include "store/sqlite_schema.h"
#include "store/store_conformance.h"

namespace sluice::store {
namespace sqlite_snapshot_test {

TEST(SqliteSnapshot, GivesItsConnectionBackReadyForTheNextMoment) {
  VolatileDisk disk;
  ASSERT_TRUE(create_database(disk, "/store.db", current_schema()));
  SqliteVfs vfs(disk);
  auto writer = Connection::open(vfs, "/store.db", Connection::Access::read_write);
  std::unique_ptr<Connection> returned;
  auto open = [&](std::unique_ptr<Connection> connection) {
    return open_snapshot(std::move(connection), [&](std::unique_ptr<Connection> used, bool reusable) {
      EXPECT_TRUE(reusable);
      returned = std::move(used);
    });
  };
  auto snapshot = open(std::move(*Connection::open(vfs, "/store.db", Connection::Access::read_write)));
  ASSERT_TRUE(snapshot);
  ASSERT_TRUE((*writer)->execute("INSERT INTO journal (seq, flow, prev, record) VALUES (1, x'', 0, x'')"));
  EXPECT_EQ((*snapshot)->position(), 0u);
  EXPECT_EQ(*(*snapshot)->journal(1), std::nullopt);
  snapshot->reset();
  ASSERT_NE(returned, nullptr);
  auto next = open(std::move(returned));
  ASSERT_TRUE(next);
  EXPECT_EQ((*next)->position(), 1u);
  EXPECT_EQ((*(*next)->journal(1))->flow, Ulid());
}

TEST(SqliteSnapshot, AFailedReadingIsAnErrorAndTheNextOneWorks) {
  VolatileDisk under;
  ASSERT_TRUE(create_database(under, "/store.db", current_schema()));
  bool failed_once = false;
  for (uint64_t n = 1; n < 20; ++n) {
    FaultyDisk disk(under, {.kind = FaultKind::fail, .at = n, .only = DiskOperation::read});
    SqliteVfs vfs(disk);
    auto connection = Connection::open(vfs, "/store.db", Connection::Access::read_write);
    if (!connection) continue;
    auto snapshot = open_snapshot(std::move(*connection), [](std::unique_ptr<Connection>, bool) {});
    if (!snapshot) continue;
    auto row = (*snapshot)->get("A", "a");
    if (row) continue;
    failed_once = true;
    EXPECT_EQ(row.error().code, Code::failed);
    EXPECT_TRUE(row.error().message.starts_with("cannot read /store.db")) << row.error().message;
    EXPECT_EQ(*(*snapshot)->get("A", "a"), std::nullopt);
  }
  EXPECT_TRUE(failed_once);
}

}  // namespace sqlite_snapshot_test
}  // namespace sluice::store
