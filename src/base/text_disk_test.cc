// Reads like any other disk; nothing can be written.
#include "base/text_disk.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"

namespace sluice {
namespace text_disk_test {

TEST(TextDisk, IsReadLikeAnyOther) {
  TextDisk disk({{"mesh/rete.yaml", "rete:"}, {"mesh/certs/ca.crt", "PEM"}, {"mesh/certs/a/b", ""}, {"mesh2/x", ""}});
  EXPECT_EQ(read_file(disk, "mesh/rete.yaml", 100).value(), "rete:");
  EXPECT_EQ(read_file(disk, "mesh/none.yaml", 100).error().code, Code::not_found);
  EXPECT_EQ(read_file(disk, "mesh/rete.yaml", 3).error().code, Code::limit);
  const std::vector<FolderEntry> expected = {{"certs", FileKind::folder}, {"rete.yaml", FileKind::file}};
  EXPECT_EQ(disk.list("mesh").value(), expected);
  EXPECT_EQ(disk.list("none").error().code, Code::not_found);
  EXPECT_TRUE(disk.exists("mesh/certs").value());
  EXPECT_EQ(disk.stat("mesh/certs/a", FollowLinks::no)->kind, FileKind::folder);
  EXPECT_FALSE(disk.exists("mesh/cert").value());
}

TEST(TextDisk, CannotBeWritten) {
  TextDisk disk(std::map<std::string, std::string>{{"a", "text"}});
  EXPECT_EQ(write_atomically(disk, "a", "other", 0644).error().code, Code::limit);
  EXPECT_EQ(disk.remove("a").error().code, Code::limit);
  EXPECT_EQ(disk.make_folder("b", 0755).error().code, Code::limit);
  EXPECT_EQ(read_file(disk, "a", 100).value(), "text");
}

}  // namespace text_disk_test
}  // namespace sluice
