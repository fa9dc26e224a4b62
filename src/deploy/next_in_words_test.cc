// Messages that end with a next step, one or two of them.
#include "deploy/next_in_words.h"

#include <gtest/gtest.h>

namespace sluice::deploy {
namespace next_in_words_test {

TEST(NextInWords, MoreIsSaidBeforeTheNextStep) {
  EXPECT_EQ(with_words("it ended", "; traffic stays as it was"), "it ended; traffic stays as it was");
  EXPECT_EQ(with_words("no key; next: put it", "; traffic stays as it was"),
            "no key; traffic stays as it was; next: put it");
}

TEST(NextInWords, TwoMessagesAreOne) {
  EXPECT_EQ(both_said("", "no key; next: put it"), "no key; next: put it");
  EXPECT_EQ(both_said("no key", "no lock"), "no key; no lock");
  EXPECT_EQ(both_said("no key; next: put it", "no lock"), "no key; no lock; next: put it");
  EXPECT_EQ(both_said("no key; next: put it", "no lock; next: put that"),
            "no key; no lock; next: put it, then put that");
}

}  // namespace next_in_words_test
}  // namespace sluice::deploy
