// How much memory an envelope or a key that is made to hurt can ask for.
#include <gtest/gtest.h>

#include "base/testing_memory.h"
#include "crypto/dsse.h"
#include "crypto/ed25519.h"
#include "crypto/pem.h"

namespace sluice::crypto {
namespace memory_test {

constexpr size_t kLittle = 256 << 10;

size_t envelope_memory_of(const std::string& text, std::string& problem) {
  return peak_memory([&] {
    auto parsed = parse_envelope(text, "e.json");
    problem = parsed ? "no error" : to_string(parsed.error());
  });
}

size_t key_memory_of(const std::string& text, std::string& problem) {
  return peak_memory([&] {
    auto parsed = PrivateKey::from_pem(text);
    problem = parsed ? "no error" : to_string(parsed.error());
  });
}

TEST(Dsse, NestingTakesNoMemory) {
  std::string problem;
  EXPECT_LT(envelope_memory_of(std::string(1'000'000, '['), problem), kLittle);
  EXPECT_EQ(problem, "e.json:1:5: arrays and objects are nested deeper than 4 levels");
}

TEST(Dsse, AFloodOfSignaturesTakesNoMemory) {
  std::string text = R"({"payloadType": "t", "payload": "", "signatures": [)";
  while (text.size() < 4'000'000) text += R"({"sig":""},)";
  std::string problem;
  EXPECT_LT(envelope_memory_of(text, problem), kLittle);
  EXPECT_EQ(problem, "e.json:1:5530: /signatures/498: the JSON text has more than 1000 values");
}

TEST(Dsse, ALongTokenTakesAFewTimesItsLength) {
  const std::string token(1'000'000, 'A');
  std::string problem;
  EXPECT_LT(envelope_memory_of(R"({"payloadType": ")" + token, problem), 4 * token.size());
  EXPECT_EQ(problem, "e.json:1:1000018: the JSON text ends too early");
  EXPECT_LT(envelope_memory_of(R"({"payloadType": "t", "payload": "", "signatures": [{"sig": ")" + token + R"("}]})",
                               problem),
            5 * token.size());
  EXPECT_EQ(problem, "e.json:1:53: /signatures/0/sig: at most 1024 bytes of signature are allowed, found 750000");
}

TEST(Dsse, ATextBeyondTheLimitIsNotLookedAt) {
  std::string problem;
  EXPECT_LT(envelope_memory_of(std::string(kMaxEnvelopeBytes + 1, ' '), problem), kLittle);
  EXPECT_EQ(problem, "e.json:1:1: the JSON text is larger than 8388608 bytes");
}

TEST(Pem, NoTextTakesMuchMemory) {
  std::string problem;
  EXPECT_LT(key_memory_of(std::string(1'000'000, '-'), problem), kLittle);
  EXPECT_EQ(problem, "this is 1000000 bytes long; a PEM key has at most 32768");
  const std::string begin = "-----BEGIN PRIVATE KEY-----\n";
  EXPECT_LT(key_memory_of(begin + std::string(30'000, 'A'), problem), kLittle);
  EXPECT_EQ(problem, "this is not an Ed25519 private key: the PEM is cut off: expected \"-----END PRIVATE KEY-----\"");
}

// The outermost length of the DER says 2 GB (84 7F FF FF FF); the text has eight bytes.
TEST(Pem, AHugeClaimedLengthTakesNoMemory) {
  std::string problem;
  EXPECT_LT(key_memory_of("-----BEGIN PRIVATE KEY-----\nMIR/////AgE=\n-----END PRIVATE KEY-----\n", problem), kLittle);
  EXPECT_EQ(problem, "the PEM does not hold a private key: its DER is damaged");
}

}  // namespace memory_test
}  // namespace sluice::crypto
