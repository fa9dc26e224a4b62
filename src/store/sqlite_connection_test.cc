// Statements and errors of a connection.
#include "store/sqlite_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/testing_faulty_disk.h"
#include "base/testing_volatile_disk.h"
#include "store/store_conformance.h"

namespace sluice::store {
namespace sqlite_connection_test {

class SqliteConnection : public testing::Test {
 protected:
  SqliteConnection() : vfs_(disk_) {
    auto opened = Connection::open(vfs_, "/d.db", Connection::Access::create);
    if (!opened) ADD_FAILURE() << opened.error().message;
    connection_ = std::move(*opened);
    EXPECT_TRUE(connection_->execute("CREATE TABLE t (i INTEGER, b BLOB, id BLOB) STRICT"));
  }

  VolatileDisk disk_;
  SqliteVfs vfs_;
  std::unique_ptr<Connection> connection_;
};

constexpr const char* kInsert = "INSERT INTO t VALUES (?, ?, ?)";
constexpr const char* kSelect = "SELECT i, b, id FROM t ORDER BY i";

TEST_F(SqliteConnection, BindsAndReadsBytesAsTheyAre) {
  Ulid id = Ulid::from(0x0123456789ab, std::array<uint8_t, 10>{0xff, 1, 2, 3, 4, 5, 6, 7, 8, 0xfe});
  {
    auto insert = connection_->prepared(kInsert);
    ASSERT_TRUE(insert);
    ASSERT_TRUE(insert->bind(int64_t{-5}).bind(std::string_view()).bind(Ulid()).run());
    ASSERT_TRUE(insert->bind(uint64_t{7}).bind(std::string_view("a\0\xff", 3)).bind(id).run());
  }
  auto select = connection_->prepared(kSelect);
  ASSERT_TRUE(*select->step());
  EXPECT_EQ(select->integer(0), -5);
  EXPECT_EQ(select->bytes(1), "");
  EXPECT_EQ(select->id(2), Ulid());
  ASSERT_TRUE(*select->step());
  EXPECT_EQ(select->count(0), 7u);
  EXPECT_EQ(select->bytes(1), std::string("a\0\xff", 3));
  EXPECT_EQ(select->id(2), id);
  EXPECT_FALSE(*select->step());
  EXPECT_EQ(*connection_->query_integer("SELECT count(*) FROM t WHERE b IS NULL"), 0) << "an empty string is no NULL";
}

TEST_F(SqliteConnection, IdsSortAsBytes) {
  auto insert = connection_->prepared(kInsert);
  for (int64_t n : {3, 1, 2, 300}) ASSERT_TRUE(insert->bind(n).bind(std::string_view("x")).bind(test_id(n)).run());
  auto select = connection_->prepared("SELECT i FROM t ORDER BY id");
  std::vector<int64_t> order;
  while (*select->step()) order.push_back(select->integer(0));
  EXPECT_THAT(order, testing::ElementsAre(1, 2, 3, 300));
}

TEST_F(SqliteConnection, AStatementThatIsLentCanBeHadASecondTime) {
  ASSERT_TRUE(connection_->execute("INSERT INTO t (i) VALUES (1), (2)"));
  auto outer = connection_->prepared(kSelect);
  ASSERT_TRUE(*outer->step());
  {
    auto inner = connection_->prepared(kSelect);
    ASSERT_TRUE(*inner->step());
    ASSERT_TRUE(*inner->step());
    EXPECT_EQ(inner->integer(0), 2);
  }
  EXPECT_EQ(outer->integer(0), 1);
  EXPECT_TRUE(*outer->step());
}

TEST_F(SqliteConnection, ErrorsSayWhatIsWrong) {
  EXPECT_EQ(connection_->execute("SELECT * FROM absent").error().message, "/d.db: no such table: absent");
  EXPECT_EQ(connection_->prepared("SELECT absent").error().message, "/d.db: no such column: absent");
  auto absent = Connection::open(vfs_, "/none.db", Connection::Access::read_write);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().message, "cannot open /none.db: No such file or directory");
}

TEST_F(SqliteConnection, ADamagedFileIsCalledThat) {
  ASSERT_TRUE(write_atomically(disk_, "/bad.db", std::string(8192, 'x'), 0600));
  auto opened = Connection::open(vfs_, "/bad.db", Connection::Access::read_write);
  auto error = opened ? (*opened)->query_integer("SELECT count(*) FROM sqlite_schema").error() : opened.error();
  EXPECT_EQ(error.code, Code::invalid);
  EXPECT_EQ(error.message, "/bad.db is damaged: file is not a database");
  EXPECT_EQ(error.next, "keep the file as it is and restore the newest backup");
}

TEST(SqliteConnectionFaults, AreTheDisksOwnWords) {
  VolatileDisk under;
  FaultyDisk disk(under, {.kind = FaultKind::fail, .at = 1, .only = DiskOperation::write, .code = Code::limit});
  SqliteVfs vfs(disk);
  auto connection = Connection::open(vfs, "/d.db", Connection::Access::create);
  ASSERT_TRUE(connection);
  auto full = (*connection)->execute("CREATE TABLE t (x)");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Code::limit);
  EXPECT_THAT(full.error().message, testing::StartsWith("the disk is full: cannot write /d.db"));
}

}  // namespace sqlite_connection_test
}  // namespace sluice::store
