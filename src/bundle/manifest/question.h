// Questions are how bundles and packs ask for their settings: one format, whoever asks and whoever answers. Answers are
// a flat JSON object by the questions' names.
//
//   - name: port
//     question: Which port does the collector listen on?
//     type: integer
//     default: 4317
//     constraint: { min: 1, max: 65535 }
//     visible_if: { question: exporter, is: otlp }
//
// An answer may be left out if the question has a default, is not required, or is not visible. A list has items of one
// type, or of several fields each; lists do not nest.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"
#include "base/json_fields.h"
#include "base/result.h"
#include "bundle/manifest/manifest_values.h"

namespace sluice::bundle {

// Small letters, digits, hyphens and underscores, a letter first.
struct QuestionName {
  std::string text;
  auto operator<=>(const QuestionName&) const = default;
};

}  // namespace sluice::bundle

namespace sluice {

template <>
struct JsonScalar<bundle::QuestionName> {
  static constexpr std::string_view kExpected = "a name of small letters, digits, hyphens and underscores";
  static constexpr std::string_view kPattern = "^[a-z][a-z0-9_-]{0,62}$";
  static Result<bundle::QuestionName> parse(std::string_view text);
  static std::string print(const bundle::QuestionName& name) { return name.text; }
};

}  // namespace sluice

namespace sluice::bundle {

enum class AnswerType { string, integer, number, boolean, list };
BOOST_DESCRIBE_ENUM(AnswerType, string, integer, number, boolean, list)
bool is_of(AnswerType type, const json::value& value);
// "a text", "a whole number"
std::string_view in_words(AnswerType type);

struct Constraint {
  std::optional<std::string> pattern;  // an RE2 expression that the whole text must match
  std::optional<double> min, max;      // of a number
  std::optional<uint32_t> min_length, max_length;
  bool operator==(const Constraint&) const = default;
};
BOOST_DESCRIBE_STRUCT(Constraint, (), (pattern, min, max, min_length, max_length))

// Whether the answer to another question is this; with `is_not`, whether it is anything else.
struct VisibleIf {
  QuestionName question;
  std::optional<json::value> is, is_not;
  bool operator==(const VisibleIf&) const = default;
};
BOOST_DESCRIBE_STRUCT(VisibleIf, (), (question, is, is_not))

struct ItemField {
  QuestionName name;
  std::string question;
  AnswerType type = AnswerType::string;
  bool required = true;
  std::vector<json::value> choices;
  std::optional<Constraint> constraint;
  static constexpr std::string_view kDefaulted[] = {"type", "required", "choices"};
  bool operator==(const ItemField&) const = default;
};
BOOST_DESCRIBE_STRUCT(ItemField, (), (name, question, type, required, choices, constraint))

struct ListShape {
  AnswerType items = AnswerType::string;  // without fields
  std::vector<ItemField> fields;
  uint32_t min_items = 0;
  uint32_t max_items = 1'000;
  static constexpr std::string_view kDefaulted[] = {"items", "fields", "min_items", "max_items"};
  bool operator==(const ListShape&) const = default;
};
BOOST_DESCRIBE_STRUCT(ListShape, (), (items, fields, min_items, max_items))

struct Question {
  QuestionName name;
  std::string question;
  std::optional<std::string> description;
  AnswerType type = AnswerType::string;
  bool required = true;
  std::optional<json::value> default_;   // of the type
  bool secret = false;                   // the answer goes to the environment's secrets, and a reference stays
  std::optional<VariableName> variable;  // of a bundle: its program finds the answer in this variable, too
  std::vector<json::value> choices;      // of the type; any answer if there are none
  std::optional<Constraint> constraint;
  std::optional<VisibleIf> visible_if;
  std::optional<ListShape> list;
  static constexpr std::string_view kDefaulted[] = {"type", "required", "secret", "choices"};
  bool operator==(const Question&) const = default;
};
BOOST_DESCRIBE_STRUCT(Question, (),
                      (name, question, description, type, required, default_, secret, variable, choices, constraint,
                       visible_if, list))

using Questions = std::span<const Question>;

// The variable in which a program finds the answer to a secret question: that of the question, else its name in
// capitals.
std::string secret_variable(const Question& question);

// What people write for another kind of form, and Sluice has not: the error names it and says what to do instead.
// `questions` is the list as it was parsed, `path` where it stands.
std::optional<Error> not_asked(const json::value& questions, const std::string& path);

// The first rule that the questions break, with its path below `path`: names asked twice, defaults and choices of
// another type, constraints that fit no answer, visible_if that names no question or goes in a circle.
std::optional<Error> fault_of(Questions questions, const std::string& path);

// Whether it is to be asked, given these answers; what has no answer counts as its default.
bool is_visible(const Question& question, Questions questions, const json::object& answers);

// What is wrong with an answer, in words that go on after "port: "; empty if nothing is.
std::string fault_of_answer(const Question& question, const json::value& answer);
// The same of the answer to a secret question: its value, or the reference that stands for it.
bool is_secret_reference(const json::value& answer);

// The answers with all defaults. `invalid`, with the answer's path, for one that nobody asked for (it names the nearest
// question), that does not fit, or that is missing.
Result<json::object> complete_answers(Questions questions, json::object given);

// The visible questions that have neither an answer nor a default and need one.
std::vector<const Question*> open_questions(Questions questions, const json::object& answers);

// What a person types, as the question's type: 8080, yes, "a, b" for a list of texts. Lists with fields are JSON.
Result<json::value> typed_answer(const Question& question, std::string_view text);

// The JSON Schema (draft 2020-12) of the answers.
json::object answers_schema(Questions questions, const std::string& title);

}  // namespace sluice::bundle
