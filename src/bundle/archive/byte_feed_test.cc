// What libarchive gets to read, and what is said of its complaints.
#include "bundle/archive/byte_feed.h"

#include <gtest/gtest.h>

namespace sluice::bundle {
namespace byte_feed_test {

// Fails from some place on.
class BrokenSource final : public ByteSource {
 public:
  Result<size_t> read_at(uint64_t offset, std::span<char> into) override {
    if (offset > 0) return Error{.code = Code::failed, .message = "the disk is broken"};
    into[0] = 'x';
    return size_t{1};
  }
  uint64_t size() const override { return 10; }
};

TEST(ByteFeed, GivesAllBytesAndThenNone) {
  std::string bytes(600'000, 'a');
  bytes.back() = 'z';
  ByteFeed feed(source_of_bytes(bytes));
  std::string got;
  for (std::string_view piece = feed.next(); !piece.empty(); piece = feed.next()) got += piece;
  EXPECT_EQ(got, bytes);
  EXPECT_TRUE(feed.at_end());
  EXPECT_FALSE(feed.failed());
}

TEST(ByteFeed, SkipsAndSeeksWithinItsBytes) {
  ByteFeed feed(source_of_bytes("0123456789"));
  EXPECT_EQ(ByteFeed::on_skip(nullptr, &feed, 4), 4);
  EXPECT_EQ(ByteFeed::on_skip(nullptr, &feed, 100), 6) << "no further than the end";
  EXPECT_EQ(ByteFeed::on_seek(nullptr, &feed, -3, SEEK_END), 7);
  EXPECT_EQ(feed.next(), "789");
  EXPECT_EQ(ByteFeed::on_seek(nullptr, &feed, 2, SEEK_SET), 2);
  EXPECT_EQ(ByteFeed::on_seek(nullptr, &feed, -3, SEEK_CUR), ARCHIVE_FATAL) << "before the beginning";
  EXPECT_EQ(ByteFeed::on_seek(nullptr, &feed, 11, SEEK_SET), ARCHIVE_FATAL) << "behind the end";
}

TEST(ByteFeed, KeepsTheErrorOfItsSource) {
  ByteFeed feed(std::make_unique<BrokenSource>());
  ReadArchive reader(archive_read_new());
  const void* bytes = nullptr;
  EXPECT_EQ(ByteFeed::on_read(reader.get(), &feed, &bytes), 1);
  EXPECT_EQ(ByteFeed::on_read(reader.get(), &feed, &bytes), -1);
  ASSERT_TRUE(feed.failed());
  EXPECT_EQ(feed.failed()->message, "the disk is broken");
}

TEST(ByteFeed, ExplainsWhatLibarchiveSays) {
  auto said = [](const char* text, ArchiveFormat format = ArchiveFormat::tar) {
    ReadArchive reader(archive_read_new());
    archive_set_error(reader.get(), 1, "%s", text);
    return explain(reader.get(), format).message;
  };
  EXPECT_EQ(said("Truncated tar archive"), "the archive ends too early");
  EXPECT_EQ(said("Unrecognized archive format"), "there is no tar in it");
  EXPECT_EQ(said("Unrecognized archive format", ArchiveFormat::zip),
            "the archive ends too early: the directory at its end is missing");
  EXPECT_EQ(said("Passphrase required for this entry", ArchiveFormat::zip), "it is encrypted");
  EXPECT_EQ(said("Unsupported ZIP compression method (99)", ArchiveFormat::zip),
            "it is compressed in a way that Sluice does not read");
  EXPECT_EQ(said("Pathname can't be converted to UTF-8"), "a name in it is not UTF-8");
  EXPECT_EQ(said("something else"), "the archive is damaged: something else");
  EXPECT_EQ(said("something else\n"), "the archive is damaged: something else");
}

}  // namespace byte_feed_test
}  // namespace sluice::bundle
