// How the failures of a disk read, and what their codes are.
#include "base/disk.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace sluice {
namespace disk_test {

TEST(Disk, ErrorsNameTheActionThePathAndWhatTheSystemSaid) {
  Error error = error_from(ENOENT, "open", "/etc/sluice.yaml");
  EXPECT_EQ(error.message, "cannot open /etc/sluice.yaml: No such file or directory");
  EXPECT_EQ(error.next, "");
  EXPECT_EQ(error_from(ENOSPC, "write", "/x").next, "make room on the disk, then run it again");
  EXPECT_EQ(error_from(EROFS, "write", "/x").next, "make the disk writable, or use another place, then run it again");
}

TEST(Disk, GivesEachErrnoItsCode) {
  struct Row {
    int errno_value;
    Code code;
  };
  for (Row row :
       {Row{ENOENT, Code::not_found}, Row{ENOTDIR, Code::not_found}, Row{EACCES, Code::denied},
        Row{EPERM, Code::denied}, Row{EROFS, Code::limit}, Row{EEXIST, Code::conflict}, Row{ENOTEMPTY, Code::conflict},
        Row{ENOSPC, Code::limit}, Row{EDQUOT, Code::limit}, Row{EMFILE, Code::limit}, Row{ELOOP, Code::invalid},
        Row{EISDIR, Code::invalid}, Row{EIO, Code::failed}}) {
    EXPECT_EQ(error_from(row.errno_value, "open", "/x").code, row.code) << row.errno_value;
  }
}

TEST(Disk, SplitsPathsIntoFolderAndName) {
  EXPECT_EQ(folder_of("/a/b"), "/a");
  EXPECT_EQ(folder_of("/a"), "/");
  EXPECT_EQ(folder_of("a"), ".");
  EXPECT_EQ(folder_of("a/b/c"), "a/b");
  EXPECT_EQ(name_of("/a/b"), "b");
  EXPECT_EQ(name_of("b"), "b");
}

}  // namespace disk_test
}  // namespace sluice
