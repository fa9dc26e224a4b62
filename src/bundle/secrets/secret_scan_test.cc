// The doctor on folders and archives.
#include "bundle/secrets/secret_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "bundle/archive/testing_archives.h"
#include "bundle/secrets/testing_secrets.h"

namespace sluice::bundle {
namespace secret_scan_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> places(const SecretReport& report) {
  std::vector<std::string> result;
  for (const SecretFinding& finding : report.findings) {
    result.push_back(finding.path + ":" + std::to_string(finding.line) + " " + finding.kind);
  }
  return result;
}

std::vector<std::string> unknown(const SecretReport& report) {
  std::vector<std::string> result;
  for (const SecretFinding& each : report.not_looked_into) result.push_back(each.path + ": " + each.kind);
  return result;
}

SecretReport of_file(const std::string& content, const SecretScanOptions& options = {}) {
  SecretScan scan(options);
  EXPECT_TRUE(scan.begin_file("f") && scan.content(content) && scan.end_file());
  return scan.report();
}

TEST(SecretScan, LooksIntoArchivesInsideArchives) {
  std::string inner =
      zip_of({{.name = "config/keys.txt", .content = "x\n" + kCanary + "\n"}, {.name = ".env", .content = "A=b\n"}});
  std::string middle = squeezed(tar_of({{.name = "inner.zip", .content = inner}}), Squeeze::gzip);
  std::string notes = squeezed("just\n" + kCanary, Squeeze::zstd);
  VolatileDisk disk;
  ASSERT_TRUE(write_atomically(disk, "/app.bundle",
                               squash_of({{"lib/middle.tgz", middle}, {"notes.zst", notes}, {"fine.txt", "nothing"}}),
                               0644));
  auto report = scan_archive(disk, "/app.bundle");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(places(*report), ElementsAre("lib/middle.tgz!inner.zip!config/keys.txt:2 an AWS access key",
                                           "lib/middle.tgz!inner.zip!.env:0 an environment file",
                                           "notes.zst!content:2 an AWS access key"));
  EXPECT_THAT(report->not_looked_into, IsEmpty());
}

TEST(SecretScan, SaysWhatItCouldNotLookInto) {
  VolatileDisk disk;
  std::string zip = zip_of({{.name = "a", .content = std::string(5000, 'a')}});
  ASSERT_TRUE(write_atomically(
      disk, "/app.tar",
      tar_of({{.name = "big.zip", .content = zip}, {.name = "cut.zip", .content = zip.substr(0, 900)}}), 0644));
  auto report = scan_archive(disk, "/app.tar", {.max_nested_bytes = 4000});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(unknown(*report),
              ElementsAre("big.zip: an archive of more than 4000 bytes",
                          "cut.zip: the archive ends too early: the directory at its end is missing"));
  std::string nested = zip;
  for (int i = 0; i < 5; ++i) nested = zip_of({{.name = "n", .content = nested}});
  ASSERT_TRUE(write_atomically(disk, "/nested.zip", nested, 0644));
  report = scan_archive(disk, "/nested.zip");
  ASSERT_TRUE(report);
  EXPECT_THAT(unknown(*report), ElementsAre("n!n!n!n!n: an archive in more than 4 others"));
  ASSERT_TRUE(
      write_atomically(disk, "/x.tar", tar_of({{.name = "x.7z", .content = "7z\xbc\xaf\x27\x1c and so on"}}), 0644));
  report = scan_archive(disk, "/x.tar");
  ASSERT_TRUE(report);
  EXPECT_THAT(unknown(*report), ElementsAre("x.7z: an archive that is not looked into (7z)"));
  auto error = refusal(*report);
  ASSERT_TRUE(error) << "nobody vouches for it";
  EXPECT_EQ(error->code, Code::verification_failed);
  EXPECT_EQ(error->message, "this could not be searched for secrets:\n" + to_string(report->not_looked_into[0]));
  report = scan_archive(disk, "/x.tar", {.allowed = {report->not_looked_into[0].hash}});
  ASSERT_TRUE(report);
  EXPECT_FALSE(refusal(*report));
  EXPECT_EQ(report->allowed, 1u);
}

// What cannot be unpacked can be searched: no link, no name and no size hides what lies behind it.
TEST(SecretScan, FindsWhatLiesBehindWhatExtractionRefuses) {
  const TarMember canary{.name = "s.txt", .content = "key = " + kCanary + "\n"};
  const std::vector<std::vector<TarMember>> tars = {
      {{.name = "a"}, {.name = "b", .type = '1', .link = "a"}, canary},
      {{.name = "l", .type = '2', .link = "/bin"}, canary},
      {{.name = "a"}, {.name = "a"}, canary},
      {{.name = "README"}, {.name = "readme"}, canary},
      {{.name = "/etc/x"}, canary},
      {{.name = "../x"}, canary},
      {{.name = "d", .type = '3'}, canary},
      {{.name = "zeros", .content = std::string(2 << 20, '\0')}, canary},
  };
  for (const auto& members : tars) {
    for (Squeeze by : {Squeeze::gzip, Squeeze::xz, Squeeze::bzip2, Squeeze::lz4, Squeeze::zstd, Squeeze::lzma}) {
      SecretReport report = of_file(squeezed(tar_of(members), by), {.limits = {.ratio_free_bytes = 1000}});
      EXPECT_THAT(places(report), ElementsAre("f!s.txt:1 an AWS access key")) << members[0].name;
      EXPECT_THAT(unknown(report), IsEmpty()) << members[0].name;
    }
  }
  const std::string zip = zip_of({{.name = "README"}, {.name = "readme"}, {.name = "s", .content = kCanary}});
  EXPECT_THAT(places(of_file(zip)), ElementsAre("f!s:1 an AWS access key"));
}

TEST(SecretScan, FindsWhatLiesBesideTheEntriesOfAnArchive) {
  const std::string zip = zip_of({{.name = "a", .content = "1"}});
  std::string commented = zip + " " + kCanary;
  commented[zip.size() - 2] = static_cast<char>(1 + kCanary.size());
  EXPECT_THAT(places(of_file(commented)), ElementsAre("f!comment:1 an AWS access key"));
  EXPECT_THAT(places(of_file("#!/usr/bin/python3\n" + zip_of({{.name = "m.py", .content = kCanary}}))),
              ElementsAre("f!m.py:1 an AWS access key"));
  const std::string tar = tar_of({{.name = "a"}});
  const std::string second = tar_of({{.name = "b", .content = kCanary}});
  EXPECT_THAT(places(of_file(squeezed(tar, Squeeze::gzip) + squeezed(second, Squeeze::gzip))),
              ElementsAre("f!b:1 an AWS access key"));
  EXPECT_THAT(places(of_file(squeezed(tar + second, Squeeze::gzip))), ElementsAre("f!b:1 an AWS access key"));
}

// Text that no compressor leaves as it is, around a canary.
std::string secret_text() {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "a line of text that is there often\n";
  return text + "key = " + kCanary + "\n" + text;
}

TEST(SecretScan, FindsArchivesBehindTheEndOfOthers) {
  const std::vector<std::string> ends = {squeezed(tar_of({{.name = "a"}}), Squeeze::gzip),
                                         squeezed("text", Squeeze::gzip),
                                         squeezed("text", Squeeze::zstd),
                                         squeezed("text", Squeeze::bzip2),
                                         squeezed("text", Squeeze::lz4),
                                         squash_of({{"a", "1"}})};
  const std::vector<std::string> archives = {
      squash_of({{"s.txt", secret_text()}}), squeezed(secret_text(), Squeeze::xz),
      squeezed(secret_text(), Squeeze::bzip2), squeezed(secret_text(), Squeeze::lzma),
      zip_of({{.name = "s.gz", .content = squeezed(secret_text(), Squeeze::gzip)}})};
  for (const std::string& before : ends) {
    for (const std::string& behind : archives) {
      SecretReport report = of_file(before + behind);
      ASSERT_EQ(report.findings.size(), 1u) << before.substr(0, 4) << " " << behind.substr(0, 4);
      EXPECT_EQ(report.findings[0].kind, "an AWS access key");
      EXPECT_EQ(report.findings[0].line, 401u);
      EXPECT_THAT(unknown(report), IsEmpty());
    }
  }
  EXPECT_THAT(places(of_file(ends[0] + archives[1])),
              ElementsAre("f!behind what is compressed!content:401 an AWS access key"));
  EXPECT_THAT(places(of_file(ends[5] + archives[0])), ElementsAre("f!behind its end!s.txt:401 an AWS access key"));
  // As deep as others nest, and no deeper.
  std::string row;
  for (int i = 0; i < 6; ++i) row += squeezed("text", Squeeze::bzip2) + squeezed("text", Squeeze::gzip);
  EXPECT_EQ(unknown(of_file(row)).size(), 1u);
}

TEST(SecretScan, FindsArchivesInTheMiddleOfAnything) {
  const std::string program = std::string(
                                  "\x7f"
                                  "ELF\0\0",
                                  6) +
                              std::string(20'000, '\x90');
  const std::vector<std::string> archives = {
      squash_of({{"s.txt", secret_text()}}),
      squeezed(tar_of({{.name = "s.txt", .content = secret_text()}}), Squeeze::gzip),
      squeezed(secret_text(), Squeeze::gzip),
      squeezed(secret_text(), Squeeze::zstd),
      squeezed(secret_text(), Squeeze::xz),
      squeezed(secret_text(), Squeeze::bzip2),
      squeezed(secret_text(), Squeeze::lz4),
      zip_of({{.name = "s.gz", .content = squeezed(secret_text(), Squeeze::gzip)}})};
  for (const std::string& archive : archives) {
    for (const std::string& before : {program, std::string("#!/bin/sh\nexit 0\n"), std::string("!<arch>\nmember\n")}) {
      for (const std::string& behind : {std::string(), program, archives[4]}) {
        SecretReport report = of_file(before + archive + behind);
        // What a compressor has left as it is, is found in the file's own bytes as well.
        std::erase_if(report.findings, [](const SecretFinding& each) { return each.path == "f"; });
        ASSERT_EQ(report.findings.size(), behind == archives[4] ? 2u : 1u) << before.size() << archive.substr(0, 4);
        EXPECT_EQ(report.findings[0].line, 401u);
        EXPECT_THAT(unknown(report), IsEmpty());
      }
    }
  }
  // What only begins like one is none.
  for (const std::string& archive : archives) {
    SecretReport report = of_file(program + archive.substr(0, 40) + program);
    EXPECT_THAT(places(report), IsEmpty()) << archive.substr(0, 4);
    EXPECT_THAT(unknown(report), IsEmpty()) << archive.substr(0, 4);
  }
}

TEST(SecretScan, FindsAnEntryThatAZipDoesNotList) {
  const std::string zip = zip_of({{.name = "s.gz", .content = squeezed(secret_text(), Squeeze::gzip)}, {.name = "b"}});
  const size_t first = zip.find("PK\x01\x02"), second = zip.find("PK\x01\x02", first + 1);
  std::string orphan = zip.substr(0, first) + zip.substr(second);
  const size_t end = orphan.rfind("PK\x05\x06");
  orphan[end + 8] = orphan[end + 10] = 1;
  orphan[end + 12] = static_cast<char>(end - first);
  EXPECT_THAT(unknown(of_file(orphan)),
              ElementsAre("f!between its entries: the archive ends too early: the directory at its end is missing"));
}

TEST(SecretScan, FindsWhatStandsInTheHeadersOfACompressedTar) {
  const std::string filler(5'000, 'x');
  const std::string pax = tar_of({pax_member({{"comment", kCanary}}), {.name = "a", .content = filler}});
  const std::string link = tar_of({{.name = "a", .content = filler}, {.name = "l", .type = '2', .link = kCanary}});
  for (Squeeze by : {Squeeze::gzip, Squeeze::xz, Squeeze::zstd}) {
    EXPECT_THAT(places(of_file(squeezed(pax, by))), ElementsAre("f:0 an AWS access key"));
    EXPECT_THAT(places(of_file(squeezed(link, by))), ElementsAre("f!l:1 an AWS access key"));
  }
  EXPECT_THAT(places(of_file(squash_of({{"a", filler}}, {tree_symlink("l", kCanary)}))),
              ElementsAre("f!l:1 an AWS access key"));
}

TEST(SecretScan, FindsWhatStandsInNamesAndDoesNotShowIt) {
  const std::string filler(5'000, 'x'), name = "d/" + kCanary + ".txt";
  for (const std::string& archive : {tar_of({{.name = name, .content = filler}}),
                                     squeezed(tar_of({{.name = name, .content = filler}}), Squeeze::zstd),
                                     zip_of({{.name = name, .content = filler}}), squash_of({{name, filler}})}) {
    EXPECT_THAT(places(of_file(archive)), ElementsAre("f!d/…:0 an AWS access key"));
  }
  const std::string two = "d/" + kCanary + "/";
  EXPECT_THAT(places(of_file(zip_of({{.name = two + "a", .content = filler}, {.name = two + "b", .content = filler}}))),
              ElementsAre("f!d/…/a:0 an AWS access key"))
      << "once is enough";
}

TEST(SecretScan, SeesNamesAndTargetsWhileAFolderIsPacked) {
  VolatileDisk disk;
  ASSERT_TRUE(disk.make_folder("/src", 0755));
  ASSERT_TRUE(disk.make_folder("/src/" + kCanary, 0755));
  ASSERT_TRUE(write_atomically(disk, "/src/" + kCanary + "/a", "x", 0644));
  SecretScan named;
  ASSERT_TRUE(pack(disk, "/src", {kCanary + "/a"}, "/out", {.watcher = &named}));
  EXPECT_THAT(places(named.report()), ElementsAre("…/a:0 an AWS access key"));
  ASSERT_TRUE(disk.symlink(kCanary, "/src/l"));
  SecretScan linked;
  ASSERT_TRUE(pack(disk, "/src", {"l"}, "/out", {.watcher = &linked}));
  EXPECT_THAT(places(linked.report()), ElementsAre("l:1 an AWS access key"));
}

TEST(SecretScan, CountsNamesOfFoldersThatAreOnlyImplied) {
  EXPECT_THAT(places(of_file(zip_of({{.name = ".docker/config.json", .content = "{}"},
                                     {.name = ".docker/other", .content = "{}"},
                                     {.name = "home/.ssh/config", .content = ""}}))),
              ElementsAre("f!.docker:0 a file with credentials", "f!home/.ssh:0 a store of secrets"));
}

TEST(SecretScan, AllowsFindingsByTheirHash) {
  VolatileDisk disk;
  ASSERT_TRUE(disk.make_folder("/src", 0755));
  ASSERT_TRUE(write_atomically(disk, "/src/a", kCanary, 0644));
  auto report = scan_folder(disk, "/src", {"a"});
  ASSERT_TRUE(report);
  ASSERT_THAT(places(*report), ElementsAre("a:1 an AWS access key"));
  EXPECT_EQ(to_string(report->findings[0]), "a:1: an AWS access key (" + report->findings[0].hash + ")");
  EXPECT_EQ(report->findings[0].hash,
            crypto::to_string(crypto::sha256("sluice.finding.v1\nan AWS access key\n" + kCanary)));
  auto error = refusal(*report);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, Code::verification_failed);
  EXPECT_EQ(error->message, "there is a secret in it:\n" + to_string(report->findings[0]));
  EXPECT_EQ(error->message.find(kCanary), std::string::npos) << "a report never tells the secret";
  auto allowed = scan_folder(disk, "/src", {"a"}, {.allowed = {report->findings[0].hash}});
  ASSERT_TRUE(allowed);
  EXPECT_THAT(allowed->findings, IsEmpty());
  EXPECT_EQ(allowed->allowed, 1u);
  EXPECT_FALSE(refusal(*allowed));
}

TEST(SecretScan, WatchesWhileAFolderIsPacked) {
  VolatileDisk disk;
  ASSERT_TRUE(disk.make_folder("/src", 0755));
  ASSERT_TRUE(write_atomically(disk, "/src/a.txt", "x\n" + kCanary, 0644));
  ASSERT_TRUE(write_atomically(disk, "/src/b.zip", zip_of({{.name = "k", .content = kCanary}}), 0644));
  SecretScan scan;
  ASSERT_TRUE(pack(disk, "/src", {"a.txt", "b.zip"}, "/out", {.watcher = &scan}));
  EXPECT_THAT(places(scan.report()), ElementsAre("a.txt:2 an AWS access key", "b.zip!k:1 an AWS access key"));
  EXPECT_EQ(scan.report().files, 3u);
}

}  // namespace secret_scan_test
}  // namespace sluice::bundle
