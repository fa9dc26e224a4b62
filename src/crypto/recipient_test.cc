// What is sealed for a recipient is opened with its key alone.
#include "crypto/recipient.h"

#include <gtest/gtest.h>

namespace sluice::crypto::recipient_test {

class RecipientTest : public testing::Test {
 protected:
  RealRandom random;
  SecretBuffer key = SecretBuffer::copy_of("the key of a backup");
  RecipientKey pair = RecipientKey::generate();
};

TEST_F(RecipientTest, OpensWhatWasSealedToIt) {
  auto sealed = seal_to(pair.recipient(), key, "one", random);
  ASSERT_TRUE(sealed);
  EXPECT_EQ(pair.open(*sealed, "one")->reveal(), key.reveal());
  auto again = RecipientKey::from_text(std::string(pair.text().reveal()) + "\n");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->recipient(), pair.recipient());
  EXPECT_EQ(again->open(*sealed, "one")->reveal(), key.reveal());
}

TEST_F(RecipientTest, OpensNothingElse) {
  auto sealed = seal_to(pair.recipient(), key, "one", random);
  ASSERT_TRUE(sealed);
  EXPECT_EQ(pair.open(*sealed, "two").error().code, Code::verification_failed);
  auto other = RecipientKey::generate();
  EXPECT_EQ(other.open(*sealed, "one").error().message,
            "it is sealed for " + pair.recipient() + ", and this key is that of " + other.recipient());
  SealedKey passed_off = *sealed;
  passed_off.recipient = other.recipient();
  EXPECT_EQ(other.open(passed_off, "one").error().code, Code::verification_failed);
  sealed->sealed.front() = sealed->sealed.front() == 'A' ? 'B' : 'A';
  EXPECT_EQ(pair.open(*sealed, "one").error().code, Code::verification_failed);
}

TEST_F(RecipientTest, TextsThatAreNoneAreRefused) {
  for (const std::string text : {"", "slr_", "slr_AAAA", "slrk_AAAA"}) {
    EXPECT_EQ(check_recipient(text).error().code, Code::invalid) << text;
    EXPECT_EQ(RecipientKey::from_text(text).error().code, Code::invalid) << text;
  }
  // Of these the shared secret is known to everybody.
  EXPECT_EQ(seal_to("slr_" + std::string(43, 'A'), key, "one", random).error().code, Code::verification_failed);
}

}  // namespace sluice::crypto::recipient_test
