// People are asked; files answer.
#include "cli/asking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <sstream>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/real_disk.h"
#include "base/yaml.h"

namespace sluice::cli {
namespace asking_test {
using testing::HasSubstr;

struct AskingTest : testing::Test {
  std::vector<bundle::Question> questions = *read<std::vector<bundle::Question>>(
      *parse_yaml("- { name: mode, question: Which mode?, choices: [auto, port], default: auto }\n"
                  "- { name: port, question: Which port?, type: integer, visible_if: { question: mode, is: port } }\n"
                  "- { name: key, question: Which key?, secret: true, required: false }\n"));
  std::string said;

  std::string ask_with(const std::string& typed, json::object given = {}, bool person = true) {
    std::istringstream in(typed);
    std::ostringstream out, err;
    Output output({.err = {.tty = person}, .in = {.tty = person}}, out, err);
    RealDisk disk;
    Commands commands;
    Given words;
    Variables none = [](const std::string&) { return std::nullopt; };
    Context context{.commands = commands, .given = words, .output = output, .variables = none, .in = in, .disk = disk};
    auto answers = ask(context, {.questions = questions,
                                 .what = "acme",
                                 .given = std::move(given),
                                 .keep_secret = [](const std::string& name, const std::string&) {
                                   return Result<std::string>("secret://local/packs/" + name);
                                 }});
    said = err.str();
    return answers ? write(*answers) : to_string(answers.error());
  }
};

TEST_F(AskingTest, DefaultsValidationAndTheWayBack) {
  EXPECT_EQ(ask_with("\n\n"), R"({"mode":"auto"})");
  EXPECT_EQ(ask_with("port\nmany\n8080\n\n"), R"({"mode":"port","port":8080})");
  EXPECT_THAT(said, HasSubstr("expected a whole number"));
  EXPECT_EQ(ask_with("port\n<\nauto\n\n"), R"({"mode":"auto"})");
  EXPECT_EQ(ask_with("?\n\n\n"), R"({"mode":"auto"})");
  EXPECT_THAT(ask_with("port\n"), HasSubstr("port has no answer: Which port?; nothing was changed"));
}

TEST_F(AskingTest, OnlyAReferenceStaysOfASecret) {
  EXPECT_EQ(ask_with("\nhunter2\n"), R"({"mode":"auto","key":"secret://local/packs/key"})");
  EXPECT_EQ(said.find("hunter2"), std::string::npos);
}

TEST_F(AskingTest, SecretsAreKeptIfAllAnswersFit) {
  std::vector<std::string> kept;
  auto keep = [&](const bundle::Question& each, const std::string& value) {
    kept.push_back(each.name.text + "=" + value);
    return Result<std::string>("secret://local/acme/KEY");
  };
  for (json::object answers :
       {json::object{{"key", "hunter2"}, {"mod", "port"}}, json::object{{"key", "hunter2"}, {"port", "many"}}}) {
    EXPECT_FALSE(keep_secret_answers(questions, answers, keep));
    EXPECT_TRUE(answers.contains("key"));
  }
  EXPECT_EQ(kept, std::vector<std::string>{});
  json::object answers{{"key", "hunter2"}, {"port", "runtime://local/discovered/port"}, {"mode", nullptr}};
  EXPECT_TRUE(keep_secret_answers(questions, answers, keep));
  EXPECT_EQ(kept, std::vector<std::string>{"key=hunter2"});
  EXPECT_EQ(write(answers), R"({"mode":null,"port":"runtime://local/discovered/port"})");
}

TEST_F(AskingTest, WhereNobodyCanBeAskedTheOpenOneIsNamed) {
  EXPECT_THAT(ask_with("", {{"mode", "port"}}, false), HasSubstr("port has no answer: Which port?"));
  EXPECT_THAT(ask_with("", {{"mod", "port"}}, false), HasSubstr("there is no question mod"));
  EXPECT_THAT(ask_with("", {{"mode", "x"}}, false), HasSubstr("is none of the choices"));
}

}  // namespace asking_test
}  // namespace sluice::cli
