// libsquashfs's file on Sluice's disks.
#include "bundle/archive/squash_io.h"

#include <gtest/gtest.h>
#include <sqfs/error.h>

#include "base/testing_faulty_disk.h"
#include "base/testing_volatile_disk.h"

namespace sluice::bundle {
namespace squash_io_test {

TEST(SquashIo, ReadsWholeRangesOrSaysThatTheyAreNotThere) {
  auto source = source_of_bytes("hello");
  SquashIo io(*source);
  char buffer[5] = {};
  EXPECT_EQ(io.size(), 5u);
  EXPECT_EQ(io.get()->read_at(io.get(), 1, buffer, 4), 0);
  EXPECT_EQ(std::string(buffer, 4), "ello");
  EXPECT_EQ(io.get()->read_at(io.get(), 1, buffer, 5), SQFS_ERROR_OUT_OF_BOUNDS);
  EXPECT_EQ(io.explain(SQFS_ERROR_OUT_OF_BOUNDS).message, "the archive is damaged: it refers to what is not in it");
  EXPECT_EQ(io.get()->write_at(io.get(), 0, "x", 1), SQFS_ERROR_IO);
  EXPECT_EQ(io.get()->truncate(io.get(), 0), SQFS_ERROR_IO);
}

TEST(SquashIo, WritesAndKnowsItsSize) {
  VolatileDisk disk;
  auto file = disk.open("/f", {.write = true, .create = true});
  SquashIo io(**file);
  EXPECT_EQ(io.get()->write_at(io.get(), 3, "abc", 3), 0);
  EXPECT_EQ(io.get()->get_size(io.get()), 6u);
  EXPECT_EQ(io.get()->truncate(io.get(), 4), 0);
  EXPECT_EQ(io.size(), 4u);
  EXPECT_EQ(*(*file)->size(), 4u);
}

TEST(SquashIo, KeepsWhatTheDiskSaid) {
  VolatileDisk under;
  FaultyDisk disk(under, {.at = 2, .code = Code::limit});
  auto file = disk.open("/f", {.write = true, .create = true});
  SquashIo io(**file);
  EXPECT_EQ(io.get()->write_at(io.get(), 0, "abc", 3), SQFS_ERROR_IO);
  EXPECT_EQ(io.explain(SQFS_ERROR_IO).code, Code::limit);
}

TEST(SquashIo, ExplainsEachStatus) {
  auto source = source_of_bytes("");
  SquashIo io(*source);
  EXPECT_EQ(io.explain(SQFS_ERROR_ALLOC).code, Code::limit);
  EXPECT_EQ(io.explain(SQFS_ERROR_COMPRESSOR).message, "the archive is damaged: a block cannot be decompressed");
  EXPECT_EQ(io.explain(SQFS_ERROR_UNSUPPORTED).message,
            "the archive uses a part of SquashFS that Sluice does not read");
  EXPECT_EQ(io.explain(SFQS_ERROR_SUPER_VERSION).message, "it is not SquashFS version 4.0");
  EXPECT_EQ(io.explain(SQFS_ERROR_SUPER_BLOCK_SIZE).message, "the archive is damaged: its block size is impossible");
  EXPECT_EQ(io.explain(SQFS_ERROR_CORRUPTED).message, "the archive is damaged");
}

}  // namespace squash_io_test
}  // namespace sluice::bundle
