// Which format it is, and what every reader promises.
#include "bundle/archive/archive_reader.h"

#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "bundle/archive/inspect.h"
#include "bundle/archive/testing_archives.h"

namespace sluice::bundle {
namespace archive_reader_test {

TEST(Sniff, TellsFormatsByTheirFirstBytes) {
  std::string tar = tar_of({{.name = "a", .content = "1"}});
  EXPECT_EQ(sniff(tar), ArchiveFormat::tar);
  EXPECT_EQ(sniff(std::string(1024, '\0')), ArchiveFormat::tar);
  EXPECT_EQ(sniff(squeezed(tar, Squeeze::gzip)), ArchiveFormat::tar_gz);
  EXPECT_EQ(sniff(squeezed(tar, Squeeze::zstd)), ArchiveFormat::tar_zst);
  const std::string passed_over("\x50\x2a\x4d\x18\x04\0\0\0abcd", 12);
  EXPECT_EQ(sniff(passed_over + squeezed(tar, Squeeze::zstd)), ArchiveFormat::tar_zst);
  EXPECT_EQ(sniff(passed_over + squeezed(tar, Squeeze::lz4)), std::nullopt);
  EXPECT_EQ(sniff_for_search(passed_over + squeezed(tar, Squeeze::lz4)), ArchiveFormat::tar_lz4);
  EXPECT_EQ(sniff_for_search(squeezed(tar, Squeeze::lzma)), ArchiveFormat::tar_lzma);
  EXPECT_EQ(sniff_for_search("] is only a bracket"), std::nullopt);
  EXPECT_EQ(sniff(zip_of({{.name = "a"}})), ArchiveFormat::zip);
  EXPECT_EQ(sniff(squash_of({{"a", "1"}})), ArchiveFormat::squashfs);
  EXPECT_EQ(sniff(std::string(1024, 'x')), std::nullopt);
  EXPECT_EQ(sniff(tar.substr(0, 511)), std::nullopt);
  EXPECT_EQ(sniff(""), std::nullopt);
}

TEST(OpenArchive, RefusesWhatIsNoArchive) {
  EXPECT_EQ(refusal_of_bytes(""), "app: it is empty");
  EXPECT_EQ(refusal_of_bytes("#!/bin/sh\n"), "app: it is no bundle, tar, tar.gz, tar.zst or zip");
  VolatileDisk disk;
  auto missing = open_archive(disk, "/missing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::not_found);
}

TEST(ArchiveReader, PassesOverWhatIsNotRead) {
  for (const std::string& bytes :
       {tar_of({{.name = "a", .content = std::string(5000, 'a')}, {.name = "b", .content = "bb"}}),
        squash_of({{"a", std::string(5000, 'a')}, {"b", "bb"}}),
        zip_of({{.name = "a", .content = std::string(5000, 'a')}, {.name = "b", .content = "bb"}})}) {
    auto reader = open_archive(source_of_bytes(bytes), "app");
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_EQ((**(*reader)->next()).path, "a");
    auto second = (*reader)->next();
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_EQ((**second).path, "b");
    EXPECT_EQ((**second).size, 2u);
    EXPECT_EQ(*(*reader)->read(), "bb");
    EXPECT_EQ(*(*reader)->read(), "");
    EXPECT_FALSE((*reader)->next()->has_value());
  }
}

TEST(ArchiveReader, SaysItsErrorAgain) {
  auto reader = open_archive(source_of_bytes(tar_of({{.name = "../x"}, {.name = "fine"}})), "app");
  ASSERT_TRUE(reader);
  auto first = (*reader)->next();
  auto second = (*reader)->next();
  ASSERT_FALSE(first);
  ASSERT_FALSE(second);
  EXPECT_EQ(first.error(), second.error());
  EXPECT_FALSE((*reader)->read());
}

TEST(ArchiveReader, GivesTheSameTreeInEveryFormat) {
  std::string tar =
      tar_of({{.name = "bin/app", .content = "hello", .mode = 0755}, {.name = "l", .type = '2', .link = "bin"}});
  std::string zip = zip_of(
      {{.name = "l", .content = "bin", .mode = 0120777}, {.name = "bin/app", .content = "hello", .mode = 0100700}});
  TreeDigest digest = tree_of_bytes(tar)->digest();
  EXPECT_EQ(tree_of_bytes(zip)->digest(), digest);
  EXPECT_EQ(tree_of_bytes(squeezed(tar, Squeeze::gzip))->digest(), digest);
  EXPECT_EQ(tree_of_bytes(squeezed(tar, Squeeze::zstd))->digest(), digest);
  EXPECT_EQ(tree_of_bytes(squash_of({}, {tree_symlink("l", "bin"), tree_folder("bin")}))->find("l")->target, "bin");
}

TEST(ArchiveReader, NamesItsFormat) {
  EXPECT_EQ(to_string(ArchiveFormat::squashfs), "squashfs");
  EXPECT_EQ(to_string(ArchiveFormat::tar), "tar");
  EXPECT_EQ(to_string(ArchiveFormat::tar_gz), "tar.gz");
  EXPECT_EQ(to_string(ArchiveFormat::tar_zst), "tar.zst");
  EXPECT_EQ(to_string(ArchiveFormat::zip), "zip");
  auto reader = open_archive(source_of_bytes(squash_of({{"a", "1"}})), "app");
  EXPECT_EQ((*reader)->format(), ArchiveFormat::squashfs);
}

TEST(OpenArchive, RefusesWhatHasNoEnd) {
  RealDisk disk;
  for (const auto& [path, why] : {std::pair{"/dev/zero", "/dev/zero is a device, a FIFO or a socket, not an archive"},
                                  std::pair{"/", "/ is a folder, not an archive"}}) {
    auto opened = open_archive(disk, path);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().message, why);
    EXPECT_EQ(sha256_of_file(disk, path).error().message, why);
    EXPECT_EQ(inspect_archive(disk, path).error().message, why);
  }
}

}  // namespace archive_reader_test
}  // namespace sluice::bundle
