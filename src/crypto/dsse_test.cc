// The published DSSE example, the strict reader, and which signatures count.
#include "crypto/dsse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crypto/base64.h"

namespace sluice::crypto {
namespace dsse_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kType = "http://example.com/HelloWorld";

std::string refusal(std::string_view text) {
  auto envelope = parse_envelope(text, "e.json");
  return envelope ? "accepted" : to_string(envelope.error());
}

std::string with_signatures(const std::string& signatures) {
  return R"({"payloadType":"text/plain","payload":"aGVsbG8=","signatures":)" + signatures + "}";
}

std::vector<PrivateKey> new_keys(int count) {
  std::vector<PrivateKey> keys;
  for (int i = 0; i < count; ++i) keys.push_back(PrivateKey::generate());
  return keys;
}

TEST(Dsse, EncodesThePublishedExample) {
  EXPECT_EQ(pre_authentication_encoding(kType, "hello world"),
            "DSSEv1 29 http://example.com/HelloWorld 11 hello world");
}

TEST(Dsse, EncodingCountsBytesAndKeepsThemAll) {
  EXPECT_EQ(pre_authentication_encoding("", ""), "DSSEv1 0  0 ");
  EXPECT_EQ(pre_authentication_encoding("\xc3\xa9", std::string_view("a\0 b", 4)),
            std::string("DSSEv1 2 \xc3\xa9 4 a\0 b", 18));
  // What moves from one field to the other changes the encoding.
  EXPECT_NE(pre_authentication_encoding("a", "b 1 c"), pre_authentication_encoding("a b", "1 c"));
}

TEST(Dsse, WhatIsSignedVerifiesAfterWritingAndReading) {
  std::vector<PrivateKey> keys = new_keys(2);
  Envelope envelope = sign_envelope(kType, "hello world", keys).value();
  EXPECT_TRUE(keys[0].public_key().verify("DSSEv1 29 http://example.com/HelloWorld 11 hello world",
                                          envelope.signatures[0].signature));
  const std::string text = write_envelope(envelope);
  EXPECT_EQ(text,
            R"({"payloadType":"http://example.com/HelloWorld","payload":"aGVsbG8gd29ybGQ=","signatures":[{"keyid":")" +
                keys[0].public_key().key_id() + R"(","sig":")" + to_base64(envelope.signatures[0].signature) +
                R"("},{"keyid":")" + keys[1].public_key().key_id() + R"(","sig":")" +
                to_base64(envelope.signatures[1].signature) + R"("}]})");
  Envelope again = parse_envelope(text).value();
  EXPECT_EQ(again, envelope);
  const PublicKey trusted[] = {keys[1].public_key(), keys[0].public_key()};
  EXPECT_THAT(verified_key_ids(again, trusted),
              ElementsAre(keys[1].public_key().key_id(), keys[0].public_key().key_id()));
}

TEST(Dsse, ReadsBothAlphabetsOfBase64) {
  const std::string bytes = "\xfb\xff\xfe\x01";
  for (std::string payload : {"+//+AQ==", "-__-AQ=="}) {
    auto envelope = parse_envelope(R"({"payloadType":"t","payload":")" + payload + R"(","signatures":[{"sig":")" +
                                   payload + R"("}]})");
    EXPECT_EQ(envelope.value().payload, bytes);
    EXPECT_THAT(envelope->signatures, ElementsAre(EnvelopeSignature{.key_id = "", .signature = bytes}));
  }
}

TEST(Dsse, RefusesChangedTypesPayloadsAndSignatures) {
  std::vector<PrivateKey> keys = new_keys(1);
  const PublicKey trusted[] = {keys[0].public_key()};
  const Envelope envelope = sign_envelope(kType, "hello world", keys).value();
  ASSERT_EQ(verified_key_ids(envelope, trusted).size(), 1U);

  Envelope changed = envelope;
  changed.payload_type += "x";
  EXPECT_THAT(verified_key_ids(changed, trusted), IsEmpty());
  changed = envelope;
  changed.payload = "hello World";
  EXPECT_THAT(verified_key_ids(changed, trusted), IsEmpty());
  changed = envelope;
  changed.signatures[0].signature[5] ^= 1;
  EXPECT_THAT(verified_key_ids(changed, trusted), IsEmpty());
  changed = envelope;
  changed.signatures[0].signature += '\0';
  EXPECT_THAT(verified_key_ids(changed, trusted), IsEmpty());
}

TEST(Dsse, ASignatureOfThePayloadAloneIsWorthNothing) {
  PrivateKey key = PrivateKey::generate();
  const PublicKey trusted[] = {key.public_key()};
  Envelope envelope{.payload_type = "t", .payload = "p"};
  envelope.signatures.push_back(
      {.key_id = key.public_key().key_id(), .signature = std::string(as_view(key.sign("p")))});
  EXPECT_THAT(verified_key_ids(envelope, trusted), IsEmpty());
}

TEST(Dsse, TheKeyIdIsOnlyAHint) {
  std::vector<PrivateKey> keys = new_keys(2);
  const std::string first = keys[0].public_key().key_id();
  const std::string second = keys[1].public_key().key_id();
  const PublicKey trusted[] = {keys[0].public_key(), keys[1].public_key()};
  Envelope envelope = sign_envelope(kType, "p", std::span(keys).first(1)).value();

  envelope.signatures[0].key_id = "";
  EXPECT_THAT(verified_key_ids(envelope, trusted), ElementsAre(first));
  envelope.signatures[0].key_id = "a name from elsewhere";
  EXPECT_THAT(verified_key_ids(envelope, trusted), ElementsAre(first));
  // A claim to be the second key makes it neither the second's nor the first's.
  envelope.signatures[0].key_id = second;
  EXPECT_THAT(verified_key_ids(envelope, trusted), IsEmpty());
}

TEST(Dsse, OneKeyCountsOnceHoweverOftenItSigned) {
  std::vector<PrivateKey> keys = new_keys(1);
  const PublicKey trusted[] = {keys[0].public_key(), keys[0].public_key()};
  Envelope envelope = sign_envelope(kType, "p", keys).value();
  envelope.signatures.push_back({.key_id = "", .signature = envelope.signatures[0].signature});
  EXPECT_THAT(verified_key_ids(envelope, trusted), ElementsAre(keys[0].public_key().key_id()));
}

TEST(Dsse, SignaturesOfStrangersAreIgnored) {
  std::vector<PrivateKey> keys = new_keys(2);
  const PublicKey trusted[] = {keys[1].public_key()};
  Envelope envelope = sign_envelope(kType, "p", keys).value();
  EXPECT_THAT(verified_key_ids(envelope, trusted), ElementsAre(keys[1].public_key().key_id()));
  EXPECT_THAT(verified_key_ids(envelope, {}), IsEmpty());
}

TEST(Dsse, RefusesToSignWhatItWouldNotRead) {
  std::vector<PrivateKey> keys = new_keys(1);
  EXPECT_EQ(to_string(sign_envelope("", "p", keys).error()),
            "/payloadType: expected a media type or a URI, found nothing");
  EXPECT_EQ(to_string(sign_envelope("t\xff", "p", keys).error()),
            "/payloadType: expected a media type or a URI, found characters that are not printable ASCII");
  EXPECT_EQ(to_string(sign_envelope("t", "p", {}).error()), "/signatures: expected at least one signature, found none");
  EXPECT_EQ(to_string(sign_envelope("t", std::string(kMaxEnvelopePayloadBytes + 1, 'x'), keys).error()),
            "/payload: at most 4194304 bytes of payload are allowed, found 4194305");
  keys.push_back(PrivateKey::from_pem(keys[0].to_pem().reveal()).value());
  EXPECT_EQ(to_string(sign_envelope("t", "p", keys).error()),
            "/signatures/1/keyid: an earlier signature has the same key id");
}

TEST(Dsse, ReadsTheLargestPayload) {
  std::vector<PrivateKey> keys = new_keys(1);
  Envelope envelope = sign_envelope("t", std::string(kMaxEnvelopePayloadBytes, 'x'), keys).value();
  EXPECT_EQ(parse_envelope(write_envelope(envelope)).value(), envelope);
}

TEST(Dsse, RefusesUnknownMissingAndRepeatedFields) {
  EXPECT_EQ(refusal(R"({"payloadType":"t","payload":"","signatures":[{"sig":"AAAA"}],"more":1})"),
            "e.json:1:63: /more: unknown field, expected one of payloadType, payload, signatures");
  EXPECT_EQ(refusal(with_signatures(R"([{"sig":"AAAA","cert":""}])")),
            "e.json:1:78: /signatures/0/cert: unknown field, expected one of keyid, sig");
  EXPECT_EQ(refusal(R"({"payload":"","signatures":[{"sig":"AAAA"}]})"),
            "e.json:1:1: /payloadType: missing field, expected a string");
  EXPECT_EQ(refusal(with_signatures(R"([{"keyid":"a"}])")),
            "e.json:1:64: /signatures/0/sig: missing field, expected a string");
  EXPECT_EQ(refusal(R"({"payloadType":"t","payloadType":"u","payload":"","signatures":[{"sig":"AAAA"}]})"),
            "e.json:1:20: /payloadType: duplicate key \"payloadType\"");
  EXPECT_EQ(refusal(with_signatures(R"([{"sig":"AAAA","sig":"BBBB"}])")),
            "e.json:1:78: /signatures/0/sig: duplicate key \"sig\"");
}

TEST(Dsse, RefusesWhatIsNotAnEnvelope) {
  EXPECT_EQ(refusal(""), "e.json:1:1: the JSON text ends too early");
  EXPECT_EQ(refusal("[]"), "e.json:1:1: expected an object, found an array");
  EXPECT_EQ(refusal(with_signatures("{}")), "e.json:1:50: /signatures: expected an array, found an object");
  EXPECT_EQ(refusal(with_signatures("[[[[[[[[1]]]]]]]]")),
            "e.json:1:66: arrays and objects are nested deeper than 4 levels");
  EXPECT_EQ(refusal(std::string(100000, '[')), "e.json:1:5: arrays and objects are nested deeper than 4 levels");
  EXPECT_EQ(refusal(with_signatures(R"([{"sig":null}])")),
            "e.json:1:65: /signatures/0/sig: expected a string, found null");
  EXPECT_EQ(refusal(std::string(kMaxEnvelopeBytes + 1, ' ')), "e.json:1:1: the JSON text is larger than 8388608 bytes");
}

TEST(Dsse, RefusesBadBase64AtItsPlace) {
  EXPECT_EQ(
      refusal("{\"payloadType\":\"t\",\n \"payload\":\"aGVsbG8\",\"signatures\":[{\"sig\":\"AAAA\"}]}"),
      "e.json:2:2: /payload: expected base64 whose length is a multiple of 4, padded with '=', found 7 characters");
  EXPECT_EQ(refusal(R"({"payloadType":"t","payload":"-_+/","signatures":[{"sig":"AAAA"}]})"),
            "e.json:1:20: /payload: character 3 is not of the URL-safe base64 alphabet");
  EXPECT_EQ(refusal(with_signatures(R"([{"sig":"AAAA"},{"sig":"AA\n="}])")),
            "e.json:1:80: /signatures/1/sig: character 3 is not of the standard base64 alphabet");
}

TEST(Dsse, RefusesTooFewTooManyAndTooLong) {
  EXPECT_EQ(refusal(with_signatures("[]")), "e.json:1:50: /signatures: expected at least one signature, found none");
  EXPECT_EQ(refusal(with_signatures(R"([{"sig":""}])")),
            "e.json:1:65: /signatures/0/sig: expected a signature, found nothing");
  EXPECT_EQ(refusal(with_signatures(R"([{"keyid":"a","sig":"AAAA"},{"keyid":"a","sig":"BBBB"}])")),
            "e.json:1:92: /signatures/1/keyid: an earlier signature has the same key id");
  std::string many = R"([{"sig":"AAAA"})";
  for (size_t i = 0; i < kMaxEnvelopeSignatures; ++i) many += R"(,{"sig":"AAAA"})";
  EXPECT_EQ(refusal(with_signatures(many + "]")),
            "e.json:1:50: /signatures: at most 16 signatures are allowed, found 17");
  EXPECT_EQ(refusal(with_signatures(R"([{"sig":")" + std::string(1368, 'A') + R"("}])")),
            "e.json:1:65: /signatures/0/sig: at most 1024 bytes of signature are allowed, found 1026");
  EXPECT_EQ(refusal(with_signatures(R"([{"sig":"AAAA","keyid":")" + std::string(257, 'k') + R"("}])")),
            "e.json:1:78: /signatures/0/keyid: at most 256 bytes of key id are allowed, found 257");
  EXPECT_EQ(refusal(R"({"payloadType":")" + std::string(257, 't') + R"(","payload":"","signatures":[{"sig":"AAAA"}]})"),
            "e.json:1:2: /payloadType: at most 256 bytes of payload type are allowed, found 257");
  EXPECT_EQ(refusal(R"({"payloadType":"","payload":"","signatures":[{"sig":"AAAA"}]})"),
            "e.json:1:2: /payloadType: expected a media type or a URI, found nothing");
}

}  // namespace dsse_test
}  // namespace sluice::crypto
