// The doctor on contents, folders and archives.
#include "bundle/secret_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "bundle/testing_archives.h"

namespace sluice::bundle {
namespace secret_scan_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A made-up secret, put together so that no other doctor takes this file for one.
const std::string kCanary = std::string("AKIA") + "Q3EGLU2R7XVNTP4H";

std::vector<std::string> found_in(std::string_view content, size_t piece = 1 << 20) {
  SecretReport report;
  std::set<std::string> allowed;
  ContentScanner scanner("f", report, allowed);
  for (size_t at = 0; at < content.size(); at += piece) scanner.feed(content.substr(at, piece));
  scanner.finish();
  std::vector<std::string> places;
  for (const SecretFinding& finding : report.findings)
    places.push_back(std::to_string(finding.line) + " " + finding.kind);
  return places;
}

std::vector<std::string> places(const SecretReport& report) {
  std::vector<std::string> result;
  for (const SecretFinding& finding : report.findings) {
    result.push_back(finding.path + ":" + std::to_string(finding.line) + " " + finding.kind);
  }
  return result;
}

TEST(ContentScanner, SaysTheLine) {
  EXPECT_THAT(found_in("one\ntwo\nkey " + kCanary + "\n"), ElementsAre("3 an AWS access key"));
  EXPECT_THAT(found_in("password: \"f7Kq0vXz91Lm\"\n\ntoken = abcd1234efgh5678\n"),
              ElementsAre("1 a secret in an assignment", "3 a secret in an assignment"));
  EXPECT_THAT(found_in("aws_secret = \"" + kCanary + "\""), ElementsAre("1 an AWS access key")) << "once";
}

TEST(ContentScanner, FindsWhatLiesAcrossPieces) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "line " + std::to_string(i) + " of something harmless\n";
  text += "key " + kCanary + "\n" + text;
  for (size_t piece : {size_t{1}, size_t{7}, size_t{4096}, size_t{65536}, text.size()}) {
    EXPECT_THAT(found_in(text, piece), ElementsAre("3001 an AWS access key")) << piece;
  }
}

TEST(ContentScanner, KnowsEnvironmentFilesByTheirLines) {
  EXPECT_THAT(found_in("# settings\nHOST=db.example\nexport DB_PASSWORD=hunter22\n"),
              ElementsAre("3 an environment file's secret"));
  EXPECT_THAT(found_in("HOST=db.example\nDB_PASSWORD=changeme\n"), IsEmpty());
  EXPECT_THAT(found_in("if x:\n  y()\nz()\nfor a in b:\n  c\nDB_PASSWORD=hunter22\n"), IsEmpty());
}

TEST(ContentScanner, LeavesBinariesAloneButForWhatCannotBeChance) {
  std::string binary(10'000, '\0');
  EXPECT_THAT(found_in(binary + "password=f7Kq0vXz91Lm" + binary), IsEmpty());
  EXPECT_THAT(found_in(binary + " " + kCanary + binary), ElementsAre("1 an AWS access key"));
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
  EXPECT_THAT(report->not_looked_into,
              ElementsAre("big.zip: an archive of more than 4000 bytes",
                          "cut.zip: the archive ends too early: the directory at its end is missing"));
  std::string nested = zip;
  for (int i = 0; i < 5; ++i) nested = zip_of({{.name = "n", .content = nested}});
  ASSERT_TRUE(write_atomically(disk, "/nested.zip", nested, 0644));
  report = scan_archive(disk, "/nested.zip");
  ASSERT_TRUE(report);
  EXPECT_THAT(report->not_looked_into, ElementsAre("n!n!n!n!n: an archive in more than 4 others"));
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

TEST(SecretScan, ReportsAreBounded) {
  std::string many;
  for (int i = 0; i < 5000; ++i) many += kCanary + "\n";
  EXPECT_EQ(found_in(many).size(), kMaxFindings);
}

}  // namespace secret_scan_test
}  // namespace sluice::bundle
