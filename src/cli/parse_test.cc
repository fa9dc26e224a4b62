// Command lines that are right give what they say; every kind of wrong one says what is wrong.
#include "cli/parse.h"

#include <gtest/gtest.h>

#include "cli/testing_commands.h"

namespace sluice::cli {
namespace parse_test {

using Words = std::vector<std::string>;

class Parse : public testing::Test {
 protected:
  Given good(const Words& words) {
    auto given = parse(words, commands_);
    EXPECT_TRUE(given) << given.error().message;
    return given ? *given : Given();
  }
  std::string why(const Words& words) {
    auto given = parse(words, commands_);
    if (given) return "accepted";
    EXPECT_EQ(given.error().code, Code::usage);
    return given.error().message + " / " + given.error().next;
  }

  const Commands commands_ = testing_commands();
};

TEST_F(Parse, TakesWordsArgumentsAndOptions) {
  Given given = good({"gate", "open", "north", "a", "--share", "5%", "b", "-w", "1m", "--label=x", "--label", "y",
                      "--retries=3", "--force"});
  EXPECT_EQ(given.command->name, "gate open");
  EXPECT_EQ(given.text("gate"), "north");
  EXPECT_EQ(given.texts("files"), (Words{"a", "b"}));
  EXPECT_EQ(given.number("share"), 500);
  EXPECT_EQ(given.number("wait"), 60'000);
  EXPECT_EQ(given.number("retries"), 3);
  EXPECT_EQ(given.texts("label"), (Words{"x", "y"}));
  EXPECT_TRUE(given.flag("force"));
}

TEST_F(Parse, FallsBackWhereAnOptionIsNotGiven) {
  Given given = good({"gate", "open", "north"});
  EXPECT_EQ(given.text("output"), "table");
  EXPECT_EQ(given.number("share"), 10'000);
  EXPECT_EQ(given.number("wait"), std::nullopt);
  EXPECT_EQ(given.text("color"), "");
  EXPECT_FALSE(given.flag("force"));
}

TEST_F(Parse, TakesGlobalOptionsAnywhere) {
  for (const Words& words :
       {Words{"-o", "json", "gate", "check"}, Words{"gate", "--output", "json", "check"},
        Words{"gate", "check", "--output=json"}, Words{"gate", "check", "-ojson"}, Words{"gate", "check", "-o=json"}}) {
    EXPECT_EQ(good(words).text("output"), "json");
  }
}

TEST_F(Parse, TakesEverythingAfterTwoDashesAsArguments) {
  EXPECT_EQ(good({"gate", "open", "--", "--force", "-"}).texts("files"), Words{"-"});
  EXPECT_EQ(good({"gate", "open", "--", "--force"}).text("gate"), "--force");
  EXPECT_EQ(good({"gate", "open", "-"}).text("gate"), "-");
}

TEST_F(Parse, AsksForHelpWithoutArguments) {
  EXPECT_EQ(good({"--help"}).words, "");
  EXPECT_EQ(good({"gate", "-h"}).words, "gate");
  EXPECT_EQ(good({"gate", "open", "--help"}).words, "gate open");
}

TEST_F(Parse, SuggestsTheNearestWord) {
  EXPECT_EQ(why({"gaet", "open"}), "unknown command 'gaet'; did you mean 'sluice gate'? / sluice help");
  EXPECT_EQ(why({"gate", "opne"}), "gate has no verb 'opne'; did you mean 'sluice gate open'? / sluice help gate");
  EXPECT_EQ(why({"zzzzzz"}), "unknown command 'zzzzzz' / sluice help");
  EXPECT_EQ(why({"ps"}), "unknown command 'ps'; did you mean 'sluice status'? / sluice help status") << "FirstWeek20";
  EXPECT_EQ(why({"gate", "open", "x", "--froce"}),
            "unknown option '--froce'; did you mean --force? / sluice help gate open");
  EXPECT_EQ(why({"--outptu", "json"}), "unknown option '--outptu'; did you mean --output? / sluice help");
  EXPECT_EQ(why({"gate", "open", "x", "--color", "gren"}),
            "--color is red or green, not 'gren'; did you mean green? / sluice help gate open");
}

TEST_F(Parse, RefusesOptionsThatAreNotInTheTable) {
  EXPECT_EQ(why({"--force", "gate", "open", "x"}), "unknown option '--force' / sluice help");
  EXPECT_EQ(why({"-x"}), "unknown option '-x' / sluice help");
  EXPECT_EQ(why({"-qv"}), "unknown option '-qv' / sluice help");
  EXPECT_EQ(why({"--=x"}), "unknown option '--' / sluice help");
}

TEST_F(Parse, RefusesWrongValues) {
  EXPECT_EQ(why({"-o"}), "-o needs a value: table, json or yaml / sluice help");
  EXPECT_EQ(why({"gate", "open", "x", "--key"}), "--key needs a value: FILE / sluice help gate open");
  EXPECT_EQ(why({"gate", "check", "--quiet=yes"}), "--quiet takes no value / sluice help gate check");
  EXPECT_EQ(why({"-q", "-q"}), "-q is given twice / sluice help");
  EXPECT_EQ(why({"gate", "open", "x", "--share", "101%"}),
            "--share: '101%' is not a share: it is more than 100% / sluice help gate open");
  EXPECT_EQ(why({"gate", "open", "x", "-w", "5"}),
            "-w: '5' is not a duration: a unit is missing after 5 / sluice help gate open");
  for (const char* bad : {"x", "", "-1", "1.5", "+1", " 1", "99999999999999999999"}) {
    EXPECT_EQ(why({"gate", "open", "x", "--retries", bad}),
              "--retries: '" + std::string(bad) + "' is not a whole number / sluice help gate open");
  }
}

TEST_F(Parse, RefusesMissingAndSurplusArguments) {
  EXPECT_EQ(why({"gate"}), "gate needs a verb: open, check or close / sluice help gate");
  EXPECT_EQ(why({"gate", "open"}), "<gate> is missing: the gate's name / sluice help gate open");
  EXPECT_EQ(why({"gate", "check", "north"}),
            "'sluice gate check' takes no further argument 'north' / sluice help gate check");
  EXPECT_EQ(why({"completion"}), "<shell> is missing: bash, zsh, fish or names / sluice help completion");
}

TEST_F(Parse, SurvivesHostileWords) {
  EXPECT_EQ(why({std::string("\x1b[2J\xff\n")}), "unknown command '\\x1b[2J\\xff\\n' / sluice help");
  EXPECT_EQ(why({std::string(100'000, 'a')}), "unknown command '" + std::string(59, 'a') + "…' / sluice help");
  EXPECT_EQ(why({""}), "unknown command '' / sluice help");
}

TEST_F(Parse, MakesOutTheGlobalsOfAWrongLine) {
  EXPECT_EQ(parse_globals(Words{"gaet", "--fo", "-o", "json", "x"}).text("output"), "json");
  EXPECT_EQ(parse_globals(Words{"gaet", "--output=json", "--no-color"}).text("output"), "json");
  EXPECT_TRUE(parse_globals(Words{"gaet", "--output=json", "--no-color"}).flag("no-color"));
  EXPECT_EQ(parse_globals(Words{"gaet", "-o", "xml"}).text("output"), "table");
  EXPECT_EQ(parse_globals(Words{"gaet", "--", "-o", "json"}).text("output"), "table");
  EXPECT_EQ(parse_globals(Words{"-o"}).text("output"), "table");
}

}  // namespace parse_test
}  // namespace sluice::cli
