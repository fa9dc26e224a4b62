// Help comes from the table, reads well in 80 columns, and never cuts a sentence.
#include "cli/help.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <sstream>

#include "cli/testing_commands.h"
#include "cli/topics.h"

namespace sluice::cli {
namespace help_test {

class Help : public testing::Test {
 protected:
  Ran run(const std::vector<std::string>& words, const Terminal& terminal = {}) {
    return run_line(commands_, words, terminal);
  }
  const Commands commands_ = testing_commands();
};

TEST_F(Help, ExplainsACommand) {
  std::string expected =
      "Open a gate.\n"
      "\n"
      "A gate opens in steps.\n"
      "\n"
      "usage: sluice gate open [options] <gate> [<files>...]\n"
      "\n"
      "Arguments\n"
      "  <gate>   the gate's name\n"
      "  <files>  what passes\n"
      "\n"
      "Options\n"
      "      --share SHARE  how far (default: 100%)\n"
      "  -w, --wait TIME    how long\n"
      "      --retries N    how often\n"
      "      --color COLOR  its light: red or green\n"
      "      --label TEXT   a label\n"
      "      --key FILE     its key\n"
      "      --force        open it even so\n"
      "\n"
      "Global options\n"
      "  -o, --output FORMAT  how data is printed: table, json or yaml (default: table)\n"
      "  -q, --quiet          print data and errors, no narration\n"
      "  -v, --verbose        tell more of what is done\n"
      "      --no-color       print without color, as with NO_COLOR=1\n"
      "      --server SERVER  for this command: a context, or the URL of a server\n"
      "  -h, --help           explain the command instead of running it\n"
      "      --version        print the version and stop\n"
      "\n"
      "Example\n"
      "  sluice gate open north\n";
  EXPECT_EQ(run({"help", "gate", "open"}).out, expected);
  EXPECT_EQ(run({"gate", "open", "--help"}).out, expected);
  EXPECT_EQ(run({"gate", "open", "-h"}).exit, 0);
}

TEST_F(Help, ExplainsANoun) {
  EXPECT_EQ(run({"gate", "--help"}).out,
            "Open and close gates.\n"
            "\n"
            "usage: sluice gate <verb> [options] [arguments]\n"
            "\n"
            "Verbs\n"
            "  open   Open a gate\n"
            "  check  Check all gates\n"
            "  close  Close a gate that is not there\n"
            "\n"
            "Examples\n"
            "  sluice gate open north\n"
            "  sluice gate check\n"
            "  sluice gate close\n"
            "\n"
            "More: sluice help gate <verb>\n");
}

TEST_F(Help, ListsEveryCommandUnderItsHeading) {
  std::string text = run({"help"}).out;
  EXPECT_NE(text.find("\nOperate\n  gate  Open and close gates\n\nLearn\n  help "), std::string::npos) << text;
  EXPECT_EQ(text.find("\nBuild and try\n"), std::string::npos);
  EXPECT_EQ(run({"--help"}).out, text);
}

TEST_F(Help, FitsTheTerminal) {
  for (size_t width : {80, 60, 40}) {
    std::vector<std::vector<std::string>> lines = {{"help"}, {"help", "completion"}};
    for (const Topic& topic : topics()) lines.push_back({"help", topic.name});
    for (const auto& words : lines) {
      std::istringstream text(run(words, {.tty = true, .width = width}).out);
      for (std::string line; std::getline(text, line);) {
        EXPECT_LE(display_width(line), width) << line;
        EXPECT_FALSE(line.ends_with(' ')) << line;
      }
    }
  }
}

TEST_F(Help, IsWholeOnATerminalTooNarrowForIt) {
  auto without_blanks = [&](size_t width) {
    std::string text = run({"help"}, {.tty = true, .width = width}).out;
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    return text;
  };
  for (size_t width : {1, 10, 25}) EXPECT_EQ(without_blanks(width), without_blanks(80));
}

TEST_F(Help, SuggestsTheNearestSubject) {
  Ran ran = run({"help", "exit-code"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.err,
            "error: there is no help on 'exit-code'; did you mean 'exit-codes'?\nnext:  sluice help exit-codes\n");
  EXPECT_EQ(run({"help", "gate", "opne"}).err,
            "error: there is no help on 'gate opne'; did you mean 'gate open'?\nnext:  sluice help gate open\n");
  EXPECT_EQ(run({"help", "zzzz"}).err, "error: there is no help on 'zzzz'\nnext:  sluice help\n");
}

TEST_F(Help, IsDataForPrograms) {
  json::value all = json::parse(run({"help", "-o", "json"}).out);
  EXPECT_EQ(all.at("commands").as_array().size(), commands_.all().size());
  EXPECT_EQ(all.at("commands").at(2).at("name"), "gate open");
  EXPECT_EQ(all.at("commands").at(2).at("example"), "sluice gate open north");
  EXPECT_EQ(all.at("commands").at(2).at("options").at(3).at("choices"), (json::array{"red", "green"}));
  EXPECT_EQ(all.at("nouns"), json::parse(R"([{"name": "gate", "summary": "Open and close gates",
                                              "verbs": ["open", "check", "close"]}])"));
  json::value codes = json::parse(run({"help", "exit-codes", "-o", "json"}).out);
  EXPECT_EQ(codes.at("rows").at(6),
            json::parse(R"({"exit": 2, "code": "usage", "meaning": "the command line is wrong"})"));
}

}  // namespace help_test
}  // namespace sluice::cli
