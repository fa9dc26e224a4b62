// The frame of PEM: what is accepted and what each damage is called.
#include "crypto/pem.h"

#include <gtest/gtest.h>

namespace sluice::crypto {
namespace pem_test {

std::string refusal(std::string_view text) {
  auto block = parse_pem(text);
  return block ? "accepted" : to_string(block.error());
}

TEST(Pem, ReadsOneBlockOverSeveralLines) {
  auto block = parse_pem("-----BEGIN SOME THING-----\nZm9v\nYmFy\n-----END SOME THING-----\n").value();
  EXPECT_EQ(block.label, "SOME THING");
  EXPECT_EQ(block.der.reveal(), "foobar");
}

TEST(Pem, ReadsLinesThatEndInCrlfAndALastLineWithoutEnd) {
  EXPECT_EQ(parse_pem("-----BEGIN X-----\r\nZm9v\r\n-----END X-----\r\n\r\n").value().der.reveal(), "foo");
  EXPECT_EQ(parse_pem("-----BEGIN X-----\nZm9v\n-----END X-----").value().der.reveal(), "foo");
}

TEST(Pem, SaysWhatIsWrongWithTheFrame) {
  const std::string begin = "1:1: expected PEM, which begins with a line like \"-----BEGIN PRIVATE KEY-----\"";
  EXPECT_EQ(refusal(""), "there is nothing here; expected PEM, which begins with \"-----BEGIN \"");
  EXPECT_EQ(refusal(" \r\n\t"), "there is nothing here; expected PEM, which begins with \"-----BEGIN \"");
  EXPECT_EQ(refusal("garbage"), begin);
  EXPECT_EQ(refusal("note\n-----BEGIN X-----\nZm9v\n-----END X-----\n"), begin);
  EXPECT_EQ(refusal("-----BEGIN X\nZm9v\n-----END X-----\n"), begin);
  EXPECT_EQ(refusal("-----BEGIN -----\nZm9v\n-----END -----\n"), begin);
  EXPECT_EQ(refusal("-----BEGIN lower-----\nZm9v\n-----END lower-----\n"), begin);
  EXPECT_EQ(refusal("-----BEGIN " + std::string(65, 'X') + "-----\n"), begin);
  EXPECT_EQ(refusal("-----BEGIN X-----\nZm9v\n"), "the PEM is cut off: expected \"-----END X-----\"");
  EXPECT_EQ(refusal("-----BEGIN X-----"), "the PEM is cut off: expected \"-----END X-----\"");
  EXPECT_EQ(refusal("-----BEGIN X-----\nZm9v\n-----END Y-----\n"), "3:1: expected \"-----END X-----\"");
  EXPECT_EQ(refusal("-----BEGIN X-----\nZm9v\n-----BEGIN X-----\n"), "3:1: expected \"-----END X-----\"");
  EXPECT_EQ(refusal("-----BEGIN X-----\nZm9v\n-----END X-----\nmore\n"),
            "4:1: expected nothing after \"-----END X-----\"");
  EXPECT_EQ(refusal("-----BEGIN X-----\n-----END X-----\n"), "there is no base64 between BEGIN and END");
  EXPECT_EQ(refusal("-----BEGIN X-----\nComment: hello\nZm9v\n-----END X-----\n"),
            "2:1: expected base64, found a header; a PEM key has none");
}

TEST(Pem, RefusesWhatIsNotStrictBase64) {
  EXPECT_EQ(refusal("-----BEGIN X-----\nZm9!\n-----END X-----\n"),
            "in the lines between BEGIN and END, character 4 is not of the standard base64 alphabet");
  EXPECT_EQ(refusal("-----BEGIN X-----\nZm9\n-----END X-----\n"),
            "in the lines between BEGIN and END, expected base64 whose length is a multiple of 4, padded with '=', "
            "found 3 characters");
  EXPECT_EQ(refusal("-----BEGIN X-----\n Zm9v\n-----END X-----\n").substr(0, 35),
            "in the lines between BEGIN and END,");
}

TEST(Pem, NamesAPassphraseInTheOldForm) {
  auto block = parse_pem(
      "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nZm9v\n"
      "-----END RSA PRIVATE KEY-----\n");
  EXPECT_EQ(to_string(block.error()), "2:1: the key is encrypted with a passphrase, expected one that is not");
  EXPECT_EQ(block.error().next, "decrypt it with: openssl pkey -in KEY -out PLAIN-KEY");
}

TEST(Pem, RefusesNulBytesAndTextsThatAreTooLong) {
  EXPECT_EQ(refusal(std::string_view("-----BEGIN\0X-----", 17)), "byte 11 is NUL; expected PEM, which is text");
  auto longest = parse_pem(std::string(kMaxPemBytes + 1, 'A'));
  EXPECT_EQ(to_string(longest.error()), "this is 32769 bytes long; a PEM key has at most 32768");
  EXPECT_EQ(longest.error().code, Code::limit);
}

}  // namespace pem_test
}  // namespace sluice::crypto
