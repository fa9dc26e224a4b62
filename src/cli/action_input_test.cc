// Arguments from words and from JSON.
#include "cli/action_input.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "lang/check/check.h"
#include "lang/check/testing_kit.h"

namespace sluice::cli {
namespace action_input_test {

struct ActionInput : testing::Test {
  using Words = std::vector<std::string>;

  CalledAction called(const std::string& name) {
    auto found = find_action(kit.symbols(), name);
    EXPECT_TRUE(found) << to_string(found.error());
    return *found;
  }
  std::string words(const Words& given) {
    auto input = input_from_words(called("Gate/open"), given);
    return input ? json::serialize(*input) : "error: " + input.error().message;
  }
  std::string text(const std::string& given) {
    auto input = input_from_text(called("Gate/open"), given, "in.json");
    return input ? json::serialize(*input) : "error: " + to_string(input.error());
  }

  lang::CheckedKit kit = *lang::check(lang::kit_of({R"(concept Gate [G] {
  actions {
    action open(gate: G, width: Int, wet: option Bool, share: option Float, speed: option "slow" | "fast",
                boats: option list String) {
      -> ok
    }
    action close() { -> ok }
    action lock(code: option Sealed) { -> ok }
  }
})"},
                                                   ""))
                              .kit;
};

TEST_F(ActionInput, WordsAreTypedByTheParameters) {
  EXPECT_EQ(words({"gate=7", "width=12"}), R"({"gate":"7","width":12})");
  EXPECT_EQ(words({"gate=a=b", "width=-1", "wet=true", "share=0.5", "speed=slow", "boats=[\"x\"]"}),
            R"({"gate":"a=b","width":-1,"wet":true,"share":5E-1,"speed":"slow","boats":["x"]})");
}

TEST_F(ActionInput, WrongWordsAreExplained) {
  EXPECT_EQ(words({"gate=1", "width=wide"}), "error: width is a whole number, not 'wide'");
  EXPECT_EQ(words({"gate=1", "width=1.5"}), "error: width is a whole number, not '1.5'");
  EXPECT_EQ(words({"gate=1", "width="}), "error: width is a whole number, not ''");
  EXPECT_EQ(words({"gate=1", "width=1", "wet=yes"}), "error: wet is true or false, not 'yes'");
  EXPECT_EQ(words({"gate=1", "width=1", "boats=x"}), "error: boats is a JSON list, not 'x'");
  EXPECT_EQ(words({"gate=1", "widht=1"}), "error: Gate/open takes no widht; did you mean width?");
  EXPECT_EQ(words({"gate=1", "gate=2"}), "error: gate is given twice");
  EXPECT_EQ(words({"gate"}), "error: expected name=value, found 'gate'");
  EXPECT_EQ(words({"wet=true"}), "error: Gate/open also needs gate, width");
  EXPECT_EQ(words({"gate=1", "width=" + std::string(100'000, '[')}),
            "error: width is a whole number, not '" + std::string(59, '[') + "…'");
  auto refused = input_from_words(called("Gate/open"), Words{"gate=1"});
  EXPECT_EQ(refused.error().code, Code::usage);
  EXPECT_EQ(refused.error().next,
            "sluice kit run KIT Gate/open gate=TEXT width=NUMBER [wet=true|false] [share=NUMBER] [speed=slow|fast] "
            "[boats=JSON]");
  auto too_many = input_from_words(called("Gate/close"), Words{"gate=1"});
  EXPECT_EQ(too_many.error().message, "Gate/close takes no gate");
  EXPECT_EQ(too_many.error().next, "sluice kit run KIT Gate/close");
}

TEST_F(ActionInput, WhatIsSealedIsNoWord) {
  auto refused = input_from_words(called("Gate/lock"), Words{"code=1234"});
  EXPECT_EQ(refused.error().code, Code::usage);
  EXPECT_EQ(refused.error().message.find("1234"), std::string::npos);
  EXPECT_EQ(refused.error().next,
            "write the arguments into a file that only you can read: sluice kit run KIT Gate/lock --input FILE");
}

TEST_F(ActionInput, WhatIsMissingMayComeFromElsewhere) {
  const json::object part = input_from_words(called("Gate/open"), Words{"gate=1"}, Whole::no).value();
  EXPECT_EQ(check_whole(called("Gate/open"), part).error().message, "Gate/open also needs width");
}

TEST_F(ActionInput, BytesThatAreNoTextAreRefused) {
  EXPECT_EQ(words({"gate=\xff", "width=1"}), "error: the value of 'gate' is not UTF-8: 'gate=\\xff'");
}

TEST_F(ActionInput, AFileSaysWhereItIsWrong) {
  EXPECT_EQ(text(R"({"gate":"7","width":12})"), R"({"gate":"7","width":12})");
  EXPECT_EQ(text("[]"), "error: in.json:1:1: the input of Gate/open is a JSON object with its arguments");
  EXPECT_EQ(text("{\"gate\":\"7\",\n \"width\":\"12\"}"), "error: in.json:2:2: width is a whole number, not \"12\"");
  EXPECT_EQ(text("{\"gate\":7, \"width\":12}"), "error: in.json:1:2: gate is a text, not 7");
  EXPECT_EQ(text("{\"gaet\":\"7\"}"), "error: in.json:1:2: Gate/open takes no gaet; did you mean gate?");
  EXPECT_EQ(text("{}"), "error: in.json:1:1: Gate/open also needs gate, width");
  EXPECT_TRUE(text("{").starts_with("error: in.json:1:2: "));
}

TEST_F(ActionInput, ActionsAreFoundByTheirWholeName) {
  auto unknown = find_action(kit.symbols(), "Gate/opne");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::not_found);
  EXPECT_EQ(unknown.error().message, "the kit has no action Gate/opne; did you mean Gate/open?");
  EXPECT_EQ(find_action(kit.symbols(), "Timer/wait").error().message, "the kit has no action Timer/wait");
}

}  // namespace action_input_test
}  // namespace sluice::cli
