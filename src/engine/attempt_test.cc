// What an effect is given: sealed values, also those that were lost, and committed state.
#include "engine/attempt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing_journal.h"
#include "engine/testing_machine.h"

namespace sluice::engine {
namespace attempt_test {

struct AttemptTest : testing::Test {
  AttemptTest() {
    vault.name = "Vault";
    vault.actions = {{.name = "issue", .retry = lang::Retry::safe}, {.name = "once", .retry = lang::Retry::never}};
    for (lang::ActionBinding& action : vault.actions) {
      action.perform = [this](const json::value& work, lang::Attempt& attempt) { return perform(work, attempt); };
    }
    parts = {.store = &store,
             .clock = &clock,
             .tools = &tools,
             .sealed = &sealed,
             .concepts = {&vault},
             .indexed = std::make_shared<const IndexedFields>()};
  }

  Result<lang::PerformedAction> perform(const json::value& work, lang::Attempt& attempt) {
    ++performed;
    EXPECT_EQ(attempt.number(), 1);
    if (!fault.empty()) return Error{.code = Code::invalid, .message = fault};
    json::object fields;
    if (seals) fields["token"] = attempt.seal("token of " + std::string(work.as_string())).handle();
    last_id = attempt.id();
    return lang::PerformedAction(lang::Completion{"ok", fields});
  }

  // The invocation's first step is in the journal, as the engine writes it.
  Ulid begun(const std::string& action, std::optional<json::value> work) {
    Ulid id = Ulid::from(journal.now_ms() + 1000, std::array<uint8_t, Ulid::kRandomBytes>{});
    Step step{.flow = id, .invocation = id, .kind = Step::Kind::begin, .action = action};
    step.root = Root{.sync_set = "s"};
    step.work = std::move(work);
    journal.add(step);
    return id;
  }
  EngineAttempt attempt(const Ulid& id, int64_t number = 1) {
    return {parts, id, number, cancelled, {.flow = "f1", .caller = "uid:7"}};
  }

  // What opening a value says that is lost.
  std::string refusal(const std::string& handle) {
    try {
      return "opened " + attempt(test_id(9)).open(lang::Sealed::of_handle(handle));
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }

  FailingStore store;
  TestingJournal journal{store};
  ManualClock clock{1'900'000'000'000};
  lang::Tools tools;
  SealedValues sealed{clock};
  lang::ConceptBinding vault;
  AttemptParts parts;
  std::shared_ptr<std::atomic<bool>> cancelled = std::make_shared<std::atomic<bool>>(false);
  int performed = 0;
  bool seals = true;
  std::string fault, last_id;
};

TEST_F(AttemptTest, KnowsItselfAndWhetherItIsStillWanted) {
  std::string tool = "hammer";
  tools.add(tool);
  EngineAttempt one = attempt(test_id(7), 3);
  EXPECT_EQ(one.id(), to_string(test_id(7)));
  EXPECT_EQ(one.number(), 3);
  EXPECT_EQ(one.cause().flow, "f1");
  EXPECT_EQ(one.cause().caller, "uid:7");
  EXPECT_EQ(one.tool<std::string>(), "hammer");
  EXPECT_FALSE(one.cancelled());
  cancelled->store(true);
  EXPECT_TRUE(one.cancelled());
}

TEST_F(AttemptTest, OpensWhatItSealed) {
  EngineAttempt one = attempt(test_id(7));
  lang::Sealed first = one.seal("red");
  lang::Sealed second = one.seal("blue");
  EXPECT_EQ(first.handle(), "sealed:" + to_string(test_id(7)) + ":0");
  EXPECT_EQ(second.handle(), "sealed:" + to_string(test_id(7)) + ":1");
  EngineAttempt other = attempt(test_id(8));
  EXPECT_EQ(other.open(first), "red");
  EXPECT_EQ(other.open(second), "blue");
}

TEST_F(AttemptTest, MakesALostValueAgainByRepeatingASafeEffect) {
  Ulid id = begun("Vault/issue", "db");
  std::string handle = "sealed:" + to_string(id) + ":0";
  EXPECT_EQ(attempt(test_id(9)).open(lang::Sealed::of_handle(handle)), "token of db");
  EXPECT_EQ(performed, 1);
  EXPECT_EQ(last_id, to_string(id));
  EXPECT_EQ(attempt(test_id(9)).open(lang::Sealed::of_handle(handle)), "token of db");
  EXPECT_EQ(performed, 1);
  clock.advance_ms(SealedValues::kLife_ms);
  EXPECT_EQ(attempt(test_id(9)).open(lang::Sealed::of_handle(handle)), "token of db");
  EXPECT_EQ(performed, 2);
}

TEST_F(AttemptTest, RefusesToRepeatAnEffectThatIsNotSafe) {
  std::string handle = "sealed:" + to_string(begun("Vault/once", "db")) + ":0";
  EXPECT_EQ(refusal(handle), "the sealed value " + handle + " is gone, and Vault/once is not safe to repeat");
  handle = "sealed:" + to_string(begun("Gone/issue", "db")) + ":0";
  EXPECT_EQ(refusal(handle), "the sealed value " + handle + " is gone, and Gone/issue is not safe to repeat");
  handle = "sealed:" + to_string(begun("Vault/gone", "db")) + ":0";
  EXPECT_EQ(refusal(handle), "the sealed value " + handle + " is gone, and Vault/gone is not safe to repeat");
  EXPECT_EQ(performed, 0);
}

TEST_F(AttemptTest, SaysThatAValueCameWithACall) {
  std::string handle = to_string(SealedHandle{begun("Vault/issue", "db"), kSealedWithCall});
  EXPECT_EQ(refusal(handle), "the sealed value " + handle + " is gone: it came with a call; call again");
  handle = "sealed:" + to_string(begun("Vault/issue", std::nullopt)) + ":0";
  EXPECT_EQ(refusal(handle), "the sealed value " + handle + " is gone, and nothing can make it again");
  EXPECT_EQ(performed, 0);
}

TEST_F(AttemptTest, SaysThatARepeatDidNotBringItBack) {
  std::string handle = "sealed:" + to_string(begun("Vault/issue", "db")) + ":0";
  seals = false;
  EXPECT_EQ(refusal(handle), "the sealed value " + handle + " is gone, and could not be made again");
  fault = "the vault is shut";
  EXPECT_EQ(refusal(handle), "the vault is shut");
  EXPECT_EQ(performed, 2);
}

TEST_F(AttemptTest, RefusesWhatIsNoHandle) {
  EXPECT_EQ(refusal("open sesame"), "\"open sesame\" is no handle of a sealed value");
}

TEST_F(AttemptTest, ReadsOneCommittedMoment) {
  ASSERT_TRUE(store.commit({.state = {{"Shop", "a", 1, 1, "1"}}}));
  EngineAttempt one = attempt(test_id(7));
  EXPECT_EQ(one.read().rows_of("Shop").get("Shop", "a"), json::value(1));
  ASSERT_TRUE(store.commit({.state = {{"Shop", "a", 2, 2, "2"}}}));
  EXPECT_EQ(one.read().rows_of("Shop").get("Shop", "a"), json::value(1));
  EXPECT_EQ(attempt(test_id(8)).read().rows_of("Shop").get("Shop", "a"), json::value(2));
  EXPECT_EQ(one.read().rows_of("Shop").now().ms, 1'900'000'000'000);
}

TEST_F(AttemptTest, AStoreThatCannotBeReadEndsIt) {
  store.unreadable = true;
  EXPECT_THROW(attempt(test_id(7)).read(), UnreadableStore);
  EXPECT_THROW(attempt(test_id(7)).open(lang::Sealed::of_handle("sealed:" + to_string(test_id(1)) + ":0")),
               UnreadableStore);
}

}  // namespace attempt_test
}  // namespace sluice::engine
