// Keys of calls, and what is said when nobody knows how one ended.
#include "cli/call_words.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/testing_source.h"
#include "cli/opening.h"
#include "cli/testing_context.h"
#include "orders/orders_kit.h"

namespace sluice::cli {
namespace call_words_test {

struct CallWordsTest : testing::Test, TestingContext {
  CallWordsTest() : TestingContext(orders::concepts(), "kit run") {
    const std::string folder = std::string(kSourceDir) + "/examples/kits/orders";
    lang::Checked checked = check_kit_at(context, *kit_place_of(context, folder));
    home = *host::HomeEngine::start(*opening_of(context),
                                    std::make_shared<const lang::CheckedKit>(*std::move(checked.kit)), folder);
    words.emplace(given, *home);
  }

  std::unique_ptr<host::HomeEngine> home;
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

TEST_F(CallWordsTest, AFlowThatIsLeftGoesOnSomewhere) {
  EXPECT_EQ(words->goes_on("orders"), "sluice kit run orders goes on with it");
  EXPECT_EQ(words->stopped_early(Ulid(), "orders").next, "sluice kit run orders goes on with it");
  EXPECT_EQ(words->kept_for_now({.code = Code::limit, .message = "full"}, Ulid(), "orders").next,
            "make room on the disk; sluice kit run orders then goes on with it");
}

}  // namespace call_words_test
}  // namespace sluice::cli
