// Questions, and answers to them.
#include "bundle/manifest/question.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/yaml.h"

namespace sluice::bundle {
namespace question_test {
using testing::HasSubstr;

std::vector<Question> questions(const std::string& yaml) {
  auto document = parse_yaml(yaml);
  EXPECT_TRUE(document) << to_string(document.error());
  auto parsed = read<std::vector<Question>>(*document);
  EXPECT_TRUE(parsed) << to_string(parsed.error());
  return *parsed;
}

std::string fault(const std::string& yaml) {
  auto found = fault_of(questions(yaml), "/questions");
  return found ? found->path + ": " + found->message : "";
}

const char* const kForm = R"(
- { name: exporter, question: Which exporter?, choices: [otlp, file], default: file }
- { name: port, question: Which port?, type: integer, constraint: { min: 1, max: 65535 }, visible_if: { question: exporter, is: otlp } }
- { name: token, question: Which token?, secret: true, required: false, constraint: { min_length: 4 } }
- { name: tags, question: Which tags?, type: list, required: false, list: { max_items: 2 } }
- { name: rules, question: Which rules?, type: list, required: false,
    list: { fields: [ { name: path, question: Where?, constraint: { pattern: "/.*" } }, { name: share, question: How much?, type: number, required: false } ] } }
)";

std::string answered(const std::string& given) {
  auto complete = complete_answers(questions(kForm), parse_json(given)->root.as_object());
  return complete ? write(*complete)
                  : complete.error().message + (complete.error().next.empty() ? "" : "; " + complete.error().next);
}

TEST(Question, AnswersAreCompletedAndChecked) {
  EXPECT_EQ(answered("{}"), R"({"exporter":"file"})");
  EXPECT_EQ(answered(R"({"exporter":"otlp","port":4317,"tags":["a"]})"),
            R"({"exporter":"otlp","port":4317,"tags":["a"]})");
  EXPECT_EQ(answered(R"({"exporter":"otlp"})"), "port has no answer: Which port?");
  EXPECT_EQ(answered(R"({"exporter":"otlp","port":0})"), "port: it is below 1");
  EXPECT_EQ(answered(R"({"exporter":"udp"})"), R"(exporter: "udp" is none of the choices: "otlp", "file")");
  EXPECT_EQ(answered(R"({"exporter":"otlp","port":"x"})"), R"(port: expected a whole number, not "x")");
  EXPECT_EQ(answered(R"({"tags":["a","b","c"]})"), "tags: it has more than 2 items");
  EXPECT_EQ(answered(R"({"tags":[1]})"), "tags: item 1: expected a text, not 1");
  EXPECT_EQ(answered(R"({"rules":[{"path":"x"}]})"), "rules: item 1: path: it does not match /.*");
  EXPECT_EQ(answered(R"({"rules":[{"path":"/","share":0.5}]})"),
            R"({"exporter":"file","rules":[{"path":"/","share":0.5}]})");
}

TEST(Question, AnAnswerToNoQuestionNamesTheNearestOne) {
  EXPECT_EQ(answered(R"({"exportr":"file"})"), "there is no question exportr; did you mean exporter?");
  EXPECT_EQ(answered(R"({"port":1})"),
            "port is not asked with these answers; leave it out, or answer exporter otherwise");
}

TEST(Question, ASecretIsNeverQuoted) {
  EXPECT_EQ(answered(R"({"token":"abc"})"), "token: it is shorter than 4");
  EXPECT_EQ(answered(R"({"token":["hunter2"]})"), "token: expected a text");
  EXPECT_EQ(answered(R"({"token":"secret://local/packs/token"})"),
            R"({"exporter":"file","token":"secret://local/packs/token"})");
}

TEST(Question, OpenAreThoseThatNeedAnAnswer) {
  auto form = questions(kForm);
  EXPECT_TRUE(open_questions(form, {}).empty());
  auto open = open_questions(form, {{"exporter", "otlp"}});
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(open.front()->name.text, "port");
}

TEST(Question, RulesOfTheFormAreTold) {
  EXPECT_EQ(fault("- { name: a, question: A? }\n- { name: a, question: A? }\n"),
            "/questions/1/name: \"a\" is asked twice");
  EXPECT_EQ(fault("- { name: a, question: A?, type: integer, default: x }\n"),
            "/questions/0/default: the default is not of the question's type, integer");
  EXPECT_EQ(fault("- { name: a, question: A?, visible_if: { question: b, is: 1 } }\n"),
            "/questions/0/visible_if/question: there is no question \"b\"");
  EXPECT_EQ(fault("- { name: a, question: A?, visible_if: { question: b, is: 1 } }\n"
                  "- { name: b, question: B?, visible_if: { question: a, is: 1 } }\n"),
            "/questions/0/visible_if: whether it is asked goes in a circle: a → b → a");
  EXPECT_EQ(fault("- { name: a, question: A?, visible_if: { question: a, is: 1 } }\n"),
            "/questions/0/visible_if: whether it is asked goes in a circle: a → a");
  EXPECT_EQ(fault("- { name: c, question: C?, visible_if: { question: a, is: 1 } }\n"
                  "- { name: a, question: A?, visible_if: { question: b, is: 1 } }\n"
                  "- { name: b, question: B?, visible_if: { question: a, is: 1 } }\n"),
            "/questions/1/visible_if: whether it is asked goes in a circle: a → b → a");
  EXPECT_EQ(fault("- { name: a, question: A?, secret: true, default: x }\n"),
            "/questions/0/default: a secret has no default");
  EXPECT_THAT(fault("- { name: a, question: A?, constraint: { pattern: \"(\" } }\n"),
              HasSubstr("no regular expression"));
  EXPECT_EQ(fault("- { name: a, question: A?, type: list, list: { items: list } }\n"),
            "/questions/0/list/items: lists do not nest");
}

TEST(Question, OtherKindsOfFormsAreRefusedByName) {
  for (const char* field : {"computed", "includes", "title_i18n", "theme"}) {
    auto found = not_asked(parse_json("[{\"name\":\"a\",\"" + std::string(field) + "\":{}}]")->root, "/questions");
    ASSERT_TRUE(found) << field;
    EXPECT_EQ(found->message, "questions have no \"" + std::string(field) + "\"");
    EXPECT_FALSE(found->next.empty());
  }
}

TEST(Question, TypedAnswersBecomeTheirType) {
  auto form = questions(kForm);
  auto typed = [&](size_t at, const std::string& text) {
    auto answer = typed_answer(form[at], text);
    return answer ? write(*answer) : answer.error().message;
  };
  EXPECT_EQ(typed(1, "4317"), "4317");
  EXPECT_EQ(typed(1, "many"), "expected a whole number");
  EXPECT_EQ(typed(1, "70000"), "it is above 65535");
  EXPECT_EQ(typed(3, "a, b"), R"(["a","b"])");
  EXPECT_EQ(typed(4, R"([{"path":"/x"}])"), R"([{"path":"/x"}])");
}

TEST(Question, TheSchemaSaysTheSame) {
  json::object schema = answers_schema(questions(kForm), "acme");
  EXPECT_EQ(schema.at("additionalProperties"), json::value(false));
  EXPECT_EQ(write(schema.at("properties").at("port")),
            R"({"type":"integer","minimum":1.0,"maximum":65535.0,"title":"Which port?"})");
  EXPECT_EQ(schema.at("properties").at("token").at("writeOnly"), json::value(true));
  EXPECT_EQ(write(schema.at("allOf").as_array()[0].at("if")),
            R"({"properties":{"exporter":{"const":"otlp"}},"required":["exporter"]})");
}

}  // namespace question_test
}  // namespace sluice::bundle
