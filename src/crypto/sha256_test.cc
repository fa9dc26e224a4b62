// The FIPS 180-4 examples, whole and in pieces, and the strict reader of digests.
#include "crypto/sha256.h"

#include <gtest/gtest.h>

namespace sluice::crypto {
namespace sha256_test {

struct Example {
  std::string message;
  std::string digest;
};

std::vector<Example> fips_examples() {
  return {{"", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
          {"abc", "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
          {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
           "sha256:248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
          {std::string(1000000, 'a'), "sha256:cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"}};
}

TEST(Sha256, GivesThePublishedDigests) {
  for (const Example& example : fips_examples()) EXPECT_EQ(to_string(sha256(example.message)), example.digest);
}

TEST(Sha256, AStreamGivesTheSameHoweverItIsCut) {
  for (const Example& example : fips_examples()) {
    for (size_t piece : {1, 7, 63, 64, 65, 4096}) {
      if (example.message.size() / piece > 20000) continue;
      Sha256Stream stream;
      for (size_t at = 0; at < example.message.size(); at += piece) {
        stream.update(std::string_view(example.message).substr(at, piece));
      }
      EXPECT_EQ(to_string(stream.finish()), example.digest) << piece;
    }
  }
}

TEST(Sha256, AStreamIsAsNewAfterFinish) {
  Sha256Stream stream;
  stream.update("something else");
  stream.finish();
  stream.update("abc");
  EXPECT_EQ(stream.finish(), sha256("abc"));
}

TEST(Sha256, AStreamCarriesItsStateWhenMoved) {
  Sha256Stream first;
  first.update("ab");
  Sha256Stream second = std::move(first);
  second.update("c");
  EXPECT_EQ(second.finish(), sha256("abc"));
}

TEST(Sha256, ReadsWhatItWrites) {
  for (const Example& example : fips_examples()) {
    EXPECT_EQ(parse_sha256(example.digest).value(), sha256(example.message));
  }
}

TEST(Sha256, RefusesDigestsInAnyOtherForm) {
  const std::string digits(64, 'a');
  EXPECT_EQ(parse_sha256("").error().message, R"(a digest must begin with "sha256:")");
  EXPECT_EQ(parse_sha256(digits).error().message, R"(a digest must begin with "sha256:")");
  EXPECT_EQ(parse_sha256("SHA256:" + digits).error().message, R"(a digest must begin with "sha256:")");
  EXPECT_EQ(parse_sha256("sha512:" + digits).error().message, R"(a digest must begin with "sha256:")");
  EXPECT_EQ(parse_sha256("sha256:" + digits.substr(1)).error().message,
            R"(a digest has 64 hex digits after "sha256:", this one has 63)");
  EXPECT_EQ(parse_sha256("sha256:" + digits + "\n").error().message,
            R"(a digest has 64 hex digits after "sha256:", this one has 65)");
  EXPECT_EQ(parse_sha256("sha256:A" + digits.substr(1)).error().message,
            R"(in the digest after "sha256:", character 1 is not a lowercase hex digit (0-9, a-f))");
  EXPECT_EQ(parse_sha256("sha256:" + digits.substr(1) + " ").error().code, Code::invalid);
}

}  // namespace sha256_test
}  // namespace sluice::crypto
