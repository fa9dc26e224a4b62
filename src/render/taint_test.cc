// Secrets are taken out of texts and trees, in every form in which they appear.
#include "render/taint.h"

#include <gtest/gtest.h>

#include "crypto/base64.h"

namespace sluice::rendering {
namespace taint_test {

TEST(Taint, PlainEncodedAndInsideOtherText) {
  Taint taint;
  taint.add("canary-7f3a");
  EXPECT_EQ(taint.redacted(std::string_view("the password canary-7f3a is wrong")), "the password <REDACTED> is wrong");
  EXPECT_EQ(taint.redacted(std::string_view("canary-7f3a")), "<REDACTED>");
  EXPECT_EQ(taint.redacted(crypto::to_base64("canary-7f3a")), "<REDACTED>");
  for (const std::string before : {"", "a", "ab", "abc", "user:"}) {
    const std::string shown = taint.redacted("x " + crypto::to_base64(before + "canary-7f3a" + "|more"));
    EXPECT_NE(shown.find("<REDACTED>"), std::string::npos) << before << " " << shown;
  }
}

TEST(Taint, WhatStandsInsideJson) {
  Taint taint;
  taint.add("pass\"word\n1");
  EXPECT_EQ(taint.redacted(std::string_view(R"({"a":"pass\"word\n1"})")), R"({"a":"<REDACTED>"})");
}

TEST(Taint, AShortTextOnlyAsAWhole) {
  Taint taint;
  taint.add("ab");
  EXPECT_EQ(taint.redacted(std::string_view("ab")), "<REDACTED>");
  EXPECT_EQ(taint.redacted(std::string_view("abacus")), "abacus");
}

TEST(Taint, ASecretObjectAndWhatItHolds) {
  Taint taint;
  const json::value secret =
      json::parse(R"({"kind":"Secret","data":{"a":"aHVudGVyMmh1bnRlcg=="},"stringData":{"b":"plainly"}})");
  taint.add_secret_object(secret);
  EXPECT_EQ(taint.redacted(secret),
            json::parse(R"({"kind":"Secret","data":{"a":"<REDACTED>"},"stringData":{"b":"<REDACTED>"}})"));
  EXPECT_EQ(taint.redacted(json::parse(R"({"env":["X=hunter2hunter","plainly"],"n":1})")),
            json::parse(R"({"env":["X=<REDACTED>","<REDACTED>"],"n":1})"));
  EXPECT_EQ(taint.redacted(json::parse(R"({"p":{"$secret":"x"}})")), json::parse(R"({"p":"<REDACTED>"})"));
  taint.add_secret_object(json::parse(R"({"kind":"ConfigMap","data":{"a":"not a secret"}})"));
  EXPECT_EQ(taint.redacted(std::string_view("not a secret")), "not a secret");
}

}  // namespace taint_test
}  // namespace sluice::rendering
