// Directories of zips, before libarchive sees them.
#include "bundle/archive/zip_directory.h"

#include <gtest/gtest.h>

#include "bundle/archive/testing_archives.h"

namespace sluice::bundle {
namespace zip_directory_test {

std::string verdict(const std::string& zip, uint64_t max_entries = 100) {
  auto source = source_of_view(zip);
  auto counted = count_zip_entries(*source, max_entries);
  if (!counted) return counted.error().message;
  auto listed = read_zip_directory(*source, {.max_entries = max_entries});
  EXPECT_EQ(*counted > max_entries, !listed && listed.error().code == Code::limit);
  return listed ? "sound" : listed.error().message;
}

TEST(ZipDirectory, CountsItsEntries) {
  std::string zip = zip_of({{.name = "a"}, {.name = "b"}, {.name = "c"}});
  EXPECT_EQ(verdict(zip, 3), "sound");
  EXPECT_EQ(verdict(zip, 2), "it has more than 2 entries");
  EXPECT_EQ(verdict(zip + "a comment", 2), "it has more than 2 entries");
  EXPECT_EQ(verdict("a program before it" + zip, 2), "it has more than 2 entries");
}

TEST(ZipDirectory, NamesAFifo) {
  EXPECT_EQ(verdict(zip_of({{.name = "a"}, {.name = "pipe", .mode = 010644}})), R"("pipe": it is a FIFO)");
}

TEST(ZipDirectory, ListsNamesAndLinksByteByByte) {
  const std::string zip = zip_of({{.name = std::string("a\0b", 3), .content = "12"},
                                  {.name = "l", .content = std::string("x\0y", 3), .mode = 0120777},
                                  {.name = "local", .listed_name = "listed"}});
  auto source = source_of_view(zip);
  auto listed = read_zip_directory(*source, {});
  ASSERT_TRUE(listed && *listed);
  ASSERT_EQ((*listed)->size(), 3u);
  EXPECT_EQ((**listed)[0].name, std::string("a\0b", 3));
  EXPECT_EQ((**listed)[0].size, 2u);
  EXPECT_EQ((**listed)[0].target, std::nullopt);
  EXPECT_EQ((**listed)[1].target, std::string("x\0y", 3));
  EXPECT_EQ((**listed)[2].name, "listed");
}

TEST(ZipDirectory, RefusesTwoEntriesInOnePlace) {
  std::string zip = zip_of({{.name = "a"}, {.name = "b"}});
  const size_t second = zip.rfind("PK\x01\x02");
  zip.replace(second + 42, 4, std::string(4, '\0'));
  EXPECT_EQ(verdict(zip), R"("b": it lies in the same place as "a")");
}

TEST(ZipDirectory, RefusesWhatIsToldInTwoWays) {
  const std::string zip = zip_of({{.name = "a", .content = "1"}, {.name = "b", .content = "2"}});
  const size_t listed = zip.find("PK\x01\x02"), end = zip.rfind("PK\x05\x06");
  std::string lying = zip;
  lying[listed + 10] = 8;
  EXPECT_EQ(verdict(lying), R"("a": its directory says otherwise how it is compressed)");
  lying = zip;
  lying[listed + 8] ^= 1;
  EXPECT_EQ(verdict(lying), R"("a": its directory says otherwise whether it is encrypted)");
  for (char count : {0, 1, 5}) {
    lying = zip;
    lying[end + 10] = count;
    EXPECT_EQ(verdict(lying), "its end says that it has " + std::to_string(count) + " entries, its directory has 2");
  }
}

TEST(FirstWeek26, ZipSizesBehindAnEntryThatContradictAreRefused) {
  const std::string zip = zip_of({{.name = "a", .content = "12345", .sizes_behind = true}, {.name = "b"}});
  EXPECT_EQ(verdict(zip), "sound");
  const size_t behind = zip.find("PK\x07\x08");
  // The sum, the packed size and the size.
  for (size_t field : {4, 8, 12}) {
    std::string lying = zip;
    lying[behind + field] ^= 1;
    EXPECT_EQ(verdict(lying), R"("a": its directory says otherwise how large it is, or what its sum is)") << field;
  }
  // The same where they stand before it.
  const std::string plain = zip_of({{.name = "a", .content = "12345"}});
  for (size_t field : {14, 18, 22}) {
    std::string lying = plain;
    lying[field] ^= 1;
    EXPECT_EQ(verdict(lying), R"("a": its directory says otherwise how large it is, or what its sum is)") << field;
  }
  // Whether there are any.
  std::string lying = zip;
  lying[6] ^= 8;
  EXPECT_EQ(verdict(lying), R"("a": its directory says otherwise whether its sizes stand behind it)");
}

std::vector<ByteRange> gaps(const std::string& zip) {
  auto source = source_of_view(zip);
  auto found = zip_gaps(*source, 100);
  EXPECT_TRUE(found) << found.error().message;
  return found ? *found : std::vector<ByteRange>();
}

TEST(ZipDirectory, SaysWhatLiesBetweenItsEntries) {
  const std::string zip = zip_of({{.name = "a", .content = "1"}, {.name = "b", .content = "2"}});
  EXPECT_TRUE(gaps(zip).empty());
  EXPECT_TRUE(gaps(zip + std::string(9, '\0')).empty()) << "padding";
  // The directory without its first record: one entry is in it, and two are there.
  const size_t first = zip.find("PK\x01\x02"), second = zip.find("PK\x01\x02", first + 1);
  const size_t b = zip.find("PK\x03\x04", 1);
  std::string orphan = zip.substr(0, first) + zip.substr(second);
  const size_t end = orphan.rfind("PK\x05\x06");
  orphan[end + 8] = orphan[end + 10] = 1;
  orphan[end + 12] = static_cast<char>(end - first);
  EXPECT_EQ(gaps(orphan), (std::vector<ByteRange>{{0, b, "between its entries"}}));
  EXPECT_EQ(refusal_of_bytes(orphan), "app: there is something between its entries");
  // Something behind its end, and before its beginning.
  EXPECT_EQ(gaps(zip + "more"), (std::vector<ByteRange>{{zip.size(), zip.size() + 4, "between its entries"}}));
  EXPECT_EQ(gaps("#!/bin/sh\n" + zip), (std::vector<ByteRange>{{0, 10, "between its entries"}}));
}

TEST(ZipDirectory, SaysWhereTheCommentBegins) {
  const std::string zip = zip_of({{.name = "a"}});
  EXPECT_EQ(zip_comment_at(zip), zip.size());
  EXPECT_EQ(zip_comment_at(zip + "note"), zip.size());
  EXPECT_EQ(zip_comment_at("no zip"), std::nullopt);
}

TEST(ZipDirectory, KnowsAZipBySomethingBeforeIt) {
  const std::string zip = zip_of({{.name = "a"}});
  EXPECT_TRUE(ends_as_zip(zip));
  EXPECT_TRUE(ends_as_zip("#!/usr/bin/python3\n" + zip));
  EXPECT_FALSE(ends_as_zip(zip + "more"));
  EXPECT_FALSE(ends_as_zip("PK\x03\x04 and PK\x05\x06" + std::string(18, '\0')));
}

TEST(ZipDirectory, CountsThoseOfALargeZip) {
  // Far beyond the window, and with the record that zips of more than 65,535 entries have.
  std::vector<ZipMember> members;
  for (int i = 0; i < 6'000; ++i) members.push_back({.name = "file-" + std::to_string(i)});
  std::string zip = zip_of(members);
  auto number = [](uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
  };
  const size_t end = zip.size() - 22;
  const uint64_t directory = static_cast<unsigned char>(zip[end + 16]) |
                             static_cast<unsigned char>(zip[end + 17]) << 8 |
                             static_cast<unsigned char>(zip[end + 18]) << 16 |
                             static_cast<uint64_t>(static_cast<unsigned char>(zip[end + 19])) << 24;
  std::string record = "PK\x06\x06" + number(44, 8) + number(45, 2) + number(45, 2) + number(0, 8) +
                       number(members.size(), 8) + number(members.size(), 8) + number(end - directory, 8) +
                       number(directory, 8);
  std::string locator = "PK\x06\x07" + number(0, 4) + number(end, 8) + number(1, 4);
  std::string large = zip.substr(0, end) + record + locator + "PK\x05\x06" + number(0, 4) + number(0xffff, 2) +
                      number(0xffff, 2) + number(0xffffffff, 4) + number(0xffffffff, 4) + number(0, 2);
  EXPECT_EQ(verdict(large, 6'000), "sound");
  EXPECT_EQ(verdict(large, 5'999), "it has more than 5999 entries");
  // Offsets that lie, of the record and of the directory.
  for (uint64_t lie : {~uint64_t{0}, ~uint64_t{0} - 40, uint64_t{1} << 63, uint64_t{large.size()}}) {
    std::string lying = large;
    lying.replace(end + record.size() + 8, 8, number(lie, 8));
    EXPECT_EQ(verdict(lying, 5'999), "sound");
    lying = large;
    lying.replace(end + 48, 8, number(lie, 8));
    EXPECT_EQ(verdict(lying, 5'999), "its end says that it has 6000 entries, its directory has 0");
  }
}

TEST(ZipDirectory, LeavesWhatIsNoneToOthers) {
  std::string zip = zip_of({{.name = "a"}});
  for (size_t size : {size_t{0}, size_t{10}, zip.size() - 1, zip.size() - 30}) {
    EXPECT_EQ(verdict(zip.substr(0, size)), "sound");
  }
  std::string lying = zip;
  lying[zip.size() - 22 + 12] = '\xff';  // the directory's size
  EXPECT_EQ(verdict(lying), "sound");
}

}  // namespace zip_directory_test
}  // namespace sluice::bundle
