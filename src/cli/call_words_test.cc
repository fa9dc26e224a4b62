// Keys of calls, and what is said when nobody knows how one ended.
#include "cli/call_words.h"

#include <gtest/gtest.h>

#include "base/testing_source.h"
#include "cli/opening.h"
#include "cli/testing_context.h"
#include "orders/orders_kit.h"

namespace sluice::cli {
namespace call_words_test {

struct CallWordsTest : testing::Test, TestingContext {
  explicit CallWordsTest(const char* command = "kit run") : TestingContext(orders::concepts(), command) {
    words.emplace(given, door, "orders");
  }

  host::HomeDoor door{*opening_of(context),
                      {.folder = std::string(kSourceDir) + "/examples/kits/orders",
                       .check = [this]() -> Result<std::shared_ptr<const lang::CheckedKit>> {
                         auto place = kit_place_of(context, std::string(kSourceDir) + "/examples/kits/orders");
                         return std::make_shared<const lang::CheckedKit>(*check_kit_at(context, *place).kit);
                       }}};
  std::optional<CallWords> words;
};

TEST_F(CallWordsTest, AKeyIsMadeOnceAndPartsTellCallsApart) {
  const std::string key = words->key().value();
  EXPECT_EQ(key.size(), 26U);
  EXPECT_EQ(words->key().value(), key);
  EXPECT_EQ(words->key("route").value(), key + ".route");
  given.set("idempotency-key", "");
  EXPECT_EQ(words->key().error().message, "an idempotency key is not empty; nothing was changed");
}

TEST_F(CallWordsTest, WhatMayNotHaveBeenHeardCanBeRepeated) {
  given.line = {"kit", "run", "orders"};
  const std::string key = words->key().value();
  EXPECT_EQ(words->unheard({.code = Code::timeout, .message = "it broke"}).next,
            "sluice kit run orders --idempotency-key " + key);
  EXPECT_EQ(words->unheard({.code = Code::denied, .message = "no", .next = "ask"}).next, "ask");
}

struct ReadingWordsTest : CallWordsTest {
  ReadingWordsTest() : CallWordsTest("tls list") {}
};

TEST_F(ReadingWordsTest, WhatOnlyReadsHasNoKeyToBeRepeatedWith) {
  given.line = {"tls", "list"};
  EXPECT_EQ(words->key().value().size(), 26U);
  EXPECT_EQ(words->unheard({.code = Code::timeout, .message = "it broke", .next = "again"}).next, "again");
}

TEST_F(CallWordsTest, AFlowThatIsLeftGoesOnSomewhere) {
  EXPECT_EQ(words->goes_on(), "it goes on in sluice serve");
  ASSERT_TRUE(door.start());
  EXPECT_EQ(words->goes_on(), "sluice kit run orders goes on with it");
  EXPECT_EQ(words->stopped_early(Ulid()).next, "sluice kit run orders goes on with it");
  EXPECT_EQ(CallWords(given, door).stopped_early(Ulid()).next, "sluice serve goes on with it");
  EXPECT_EQ(words->kept_for_now({.code = Code::limit, .message = "full"}, Ulid()).next,
            "make room on the disk; sluice kit run orders then goes on with it");
}

}  // namespace call_words_test
}  // namespace sluice::cli
