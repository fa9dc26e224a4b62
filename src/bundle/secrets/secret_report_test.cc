// What is said of findings.
#include "bundle/secrets/secret_report.h"

#include <gtest/gtest.h>

namespace sluice::bundle {
namespace secret_report_test {

TEST(SecretReport, HasEachFindingThatIsNotAllowed) {
  SecretReport report;
  SecretFinding key{"a.txt", 3, "a private key", finding_hash("a private key", "k")};
  SecretFinding token{"b.txt", 0, "a GitHub token", finding_hash("a GitHub token", "k")};
  EXPECT_NE(key.hash, token.hash) << "the kind counts";
  add_finding(report, {token.hash}, key);
  add_finding(report, {token.hash}, token);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0], key);
  EXPECT_EQ(report.allowed, 1u);
  EXPECT_EQ(to_string(key), "a.txt:3: a private key (" + key.hash + ")");
  EXPECT_EQ(to_string(token), "b.txt: a GitHub token (" + token.hash + ")");
}

TEST(SecretReport, RefusesWithTheFirstTwenty) {
  SecretReport report;
  EXPECT_FALSE(refusal(report));
  for (int i = 0; i < 25; ++i) add_finding(report, {}, {"f" + std::to_string(i), 0, "a key", std::to_string(i)});
  report.not_looked_into.push_back({"x.zip", 0, "it is encrypted", "h"});
  auto error = refusal(report);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, Code::verification_failed);
  EXPECT_TRUE(error->message.starts_with("there are 25 secrets in it:\nf0: a key (0)\n")) << error->message;
  EXPECT_TRUE(
      error->message.ends_with("\nf19: a key (19)\n… and 5 more\nthis could not be searched for secrets:\n"
                               "x.zip: it is encrypted (h)"))
      << error->message;
}

}  // namespace secret_report_test
}  // namespace sluice::bundle
