// The tables are made and told by their format in tests/store, on a server; here is what holds without one.
#include "store/postgres_schema.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_source.h"

namespace sluice::store::postgres {
namespace postgres_schema_test {

TEST(PostgresSchema, ThePagesHaveEveryTable) {
  RealDisk disk;
  const std::string pages = std::string(kSourceDir) + "/docs/internals/";
  const auto page = *read_file(disk, pages + "store.md", 1 << 20) + *read_file(disk, pages + "postgres.md", 1 << 20);
  const auto source = *read_file(disk, std::string(kSourceDir) + "/src/store/postgres_schema.cc", 1 << 20);
  size_t tables = 0;
  for (size_t at = source.find("CREATE TABLE sluice."); at != source.npos;
       at = source.find("CREATE TABLE sluice.", at + 1)) {
    const auto name = source.substr(at + 20, source.find(' ', at + 20) - at - 20);
    EXPECT_NE(page.find("`" + name + "`"), page.npos) << name;
    ++tables;
  }
  EXPECT_EQ(tables, 14u);
}

}  // namespace postgres_schema_test
}  // namespace sluice::store::postgres
