// Contents, piece by piece.
#include "bundle/secrets/content_scanner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bundle/secrets/testing_secrets.h"

namespace sluice::bundle {
namespace content_scanner_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

TEST(ContentScanner, FindsKeysInEveryForm) {
  // PKCS #1, a key of 512 bits that was made for this: a sequence as long as it says, a version, a long number.
  const std::string body = std::string("\x02\x01\x00\x02\x41\x00", 6) + std::string(300, '\x5a');
  const std::string der = std::string("\x30\x82\x01\x32", 4) + body;
  EXPECT_THAT(found_in(der), ElementsAre("0 a private key"));
  EXPECT_THAT(found_in(der, 7), ElementsAre("0 a private key"));
  EXPECT_THAT(found_in(der + "\n"), ElementsAre("0 a private key"));
  EXPECT_THAT(found_in(der + std::string(65, 'x')), IsEmpty()) << "longer than it says";
  const std::string letters = "MIIBMgIBAAJBAFpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpa";
  std::string pem = "-----BEGIN RSA PRIVATE KEY-----\n" + letters + "\n-----END RSA PRIVATE KEY-----\n";
  std::string wide = "\xff\xfe";
  for (char c : pem) wide += std::string{c, '\0'};
  EXPECT_THAT(found_in(pem), ElementsAre("1 a private key"));
  EXPECT_THAT(found_in(wide), ElementsAre("1 a private key"));
  EXPECT_THAT(found_in(wide.substr(2), 3), ElementsAre("1 a private key")) << "without the mark";
  const std::string ed =
      "-----BEGIN PRIVATE KEY-----\n> MC4CAQAwBQYDK2VwBCIEIFpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpa\n";
  EXPECT_THAT(found_in("> " + ed + "> -----END PRIVATE KEY-----\n"), ElementsAre("1 a private key"));
  EXPECT_THAT(
      found_in("-----BEGIN PRIVATE KEY-----\n * is what stands before a key that is written in base64 letters\n"),
      IsEmpty());
  // The same, encoded once more.
  const std::string encoded =
      "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1DNENBUUF3QlFZREsyVndCQ0lFSUZwYVdscGFXbHBhV2xwYVdscGFXbHBhV2xwYVdscGFXbHBh"
      "V2xw"
      "YVdscGEKLS0tLS1FTkQgUFJJVkFURSBLRVktLS0tLQo=";
  EXPECT_THAT(found_in("data:\n  tls.key: " + encoded + "\n"), ElementsAre("2 a private key"));
  EXPECT_THAT(found_in("tls.key: |\n  " + encoded.substr(0, 76) + "\n  " + encoded.substr(76) + "\n"),
              ElementsAre("2 a private key"));
  EXPECT_THAT(found_in("tls.crt: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJ" + std::string(200, 'B') + "\n"),
              IsEmpty());
  std::string ed25519 =
      "\"-----BEGIN PRIVATE KEY-----\\n\"\n  \"MC4CAQAwBQYDK2VwBCIEIFpa\"\n  "
      "\"WlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpa\\n\"\n";
  EXPECT_THAT(found_in("key = " + ed25519 + "\"-----END PRIVATE KEY-----\";\n"), ElementsAre("1 a private key"));
  EXPECT_THAT(found_in("text = '-----BEGIN PRIVATE KEY-----' + which marks the beginning of a key of some kind\n"),
              IsEmpty());
  const std::string jwk = R"("kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")";
  EXPECT_THAT(found_in("{" + jwk + "}"), IsEmpty()) << "its public half";
  EXPECT_THAT(found_in("{" + jwk + R"(, "d": "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"})"),
              ElementsAre("1 a private key"));
  EXPECT_THAT(found_in(R"({"d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",)" + jwk + "}"),
              ElementsAre("1 a private key"));
}

TEST(ContentScanner, TakesAnySecretInWhatIsNamedAsAnEnvironmentFile) {
  SecretReport report;
  std::set<std::string> allowed;
  ContentScanner scanner("app/.env.example", report, allowed);
  scanner.feed("# how to set it up\n#\n#\nDATABASE_PASSWORD=tr0ub4dor\n");
  scanner.finish();
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].path, "app/.env.example");
  EXPECT_EQ(report.findings[0].line, 4u);
  EXPECT_EQ(report.findings[0].kind, "an environment file's secret");
}

TEST(ContentScanner, ReportsAreBounded) {
  std::string many;
  for (int i = 0; i < 5000; ++i) many += kCanary + "\n";
  EXPECT_EQ(found_in(many).size(), kMaxFindings);
}

}  // namespace content_scanner_test
}  // namespace sluice::bundle
