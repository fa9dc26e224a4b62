// The rules of questions, and of answers to them.
#include "bundle/manifest/question.h"

#include <re2/re2.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/ascii.h"
#include "base/json.h"
#include "base/json_place.h"
#include "base/json_text.h"
#include "base/nearest.h"
#include "base/terminal.h"

namespace sluice {

Result<bundle::QuestionName> JsonScalar<bundle::QuestionName>::parse(std::string_view text) {
  auto fits = [](char c) { return is_lower(c) || is_digit(c) || c == '-' || c == '_'; };
  if (text.empty() || text.size() > 63 || !is_lower(text.front()) || !std::ranges::all_of(text, fits)) {
    return Error{.code = Code::invalid,
                 .message = "a name has small letters, digits, hyphens and underscores, a letter first"};
  }
  return bundle::QuestionName{std::string(text)};
}

}  // namespace sluice

namespace sluice::bundle {
namespace {

constexpr size_t kMaxAnswerBytes = 64 << 10;

struct NotAsked {
  std::string_view field;
  std::string_view next;
};
constexpr NotAsked kNotAsked[] = {
    {"computed", "work the value out in the program that reads it"},
    {"computed_overridable", "work the value out in the program that reads it"},
    {"includes", "write the questions here"},
    {"title_i18n", "write \"question\" in one language"},
    {"description_i18n", "write \"description\" in one language"},
    {"i18n", "write \"question\" in one language"},
    {"theme", "leave it out: terminals and the console have their own looks"},
    {"presentation", "leave it out: terminals and the console have their own looks"},
};

std::string type_name(AnswerType type) { return std::string(boost::describe::enum_to_string(type, "")); }

std::string shown(const json::value& value) { return truncate_to_width(printable(write(value)), 60); }

std::string fault_by_constraint(const Constraint& constraint, const json::value& answer) {
  if (answer.is_number()) {
    double number = answer.to_number<double>();
    auto text = [](double bound) {
      return write(json::value(bound == static_cast<int64_t>(bound) ? json::value(static_cast<int64_t>(bound))
                                                                    : json::value(bound)));
    };
    if (constraint.min && number < *constraint.min) return "it is below " + text(*constraint.min);
    if (constraint.max && number > *constraint.max) return "it is above " + text(*constraint.max);
  }
  if (!answer.is_string()) return "";
  std::string_view value(answer.get_string());
  if (constraint.min_length && value.size() < *constraint.min_length) {
    return "it is shorter than " + std::to_string(*constraint.min_length);
  }
  if (constraint.max_length && value.size() > *constraint.max_length) {
    return "it is longer than " + std::to_string(*constraint.max_length);
  }
  if (constraint.pattern && !re2::RE2::FullMatch(re2::StringPiece(value.data(), value.size()), *constraint.pattern)) {
    return "it does not match " + *constraint.pattern;
  }
  return "";
}

std::string fault_of_scalar(AnswerType type, const std::vector<json::value>& choices,
                            const std::optional<Constraint>& constraint, const json::value& answer, bool secret) {
  if (!is_of(type, answer)) {
    return "expected " + std::string(in_words(type)) + (secret ? "" : ", not " + shown(answer));
  }
  if (answer.is_string() && answer.get_string().size() > kMaxAnswerBytes) return "it has more than 64 kB";
  if (!choices.empty() && std::ranges::find(choices, answer) == choices.end()) {
    std::string names;
    for (const json::value& each : choices) names += (names.empty() ? "" : ", ") + shown(each);
    return (secret ? "it" : shown(answer)) + " is none of the choices: " + names;
  }
  return constraint ? fault_by_constraint(*constraint, answer) : "";
}

std::string fault_of_item(const ListShape& shape, const json::value& item, size_t number) {
  const std::string at = "item " + std::to_string(number + 1) + ": ";
  if (shape.fields.empty()) {
    std::string fault = fault_of_scalar(shape.items, {}, std::nullopt, item, false);
    return fault.empty() ? "" : at + fault;
  }
  if (!item.is_object()) return at + "expected an object, not " + shown(item);
  for (const auto& member : item.get_object()) {
    bool known = std::ranges::any_of(shape.fields, [&](const auto& f) { return f.name.text == member.key(); });
    if (!known) return at + "there is no field " + printable(member.key());
  }
  for (const ItemField& field : shape.fields) {
    const json::value* value = item.get_object().if_contains(field.name.text);
    if (value == nullptr && field.required) return at + field.name.text + " is missing";
    if (value == nullptr) continue;
    std::string fault = fault_of_scalar(field.type, field.choices, field.constraint, *value, false);
    if (!fault.empty()) return at + field.name.text + ": " + fault;
  }
  return "";
}

const Question* find(Questions questions, std::string_view name) {
  auto found = std::ranges::find_if(questions, [&](const Question& each) { return each.name.text == name; });
  return found == questions.end() ? nullptr : &*found;
}

// Finds the first rule that is broken.
class QuestionRules {
 public:
  QuestionRules(Questions questions, std::string path) : questions_(questions), path_(std::move(path)) {}

  std::optional<Error> first_broken() {
    std::set<QuestionName> names;
    for (size_t i = 0; i < questions_.size(); ++i) {
      const Question& question = questions_[i];
      at_ = path_ + "/" + std::to_string(i);
      if (!names.insert(question.name).second) refuse("/name", json_quoted(question.name.text) + " is asked twice");
      if (question.question.empty()) refuse("/question", "a question has words");
      shape(question);
      if (question.constraint) constraint("/constraint", *question.constraint, question.type);
      choices(question);
      visibility(question);
    }
    return std::move(error_);
  }

 private:
  void refuse(const std::string& below, std::string message) {
    if (!error_) error_ = Error{.code = Code::invalid, .message = std::move(message), .path = at_ + below};
  }

  void shape(const Question& question) {
    bool is_list = question.type == AnswerType::list;
    if (question.list && !is_list) refuse("/list", "only a question of the type list has a \"list\"");
    if (question.secret && question.type != AnswerType::string) refuse("/secret", "a secret is a string");
    if (question.secret && question.default_) refuse("/default", "a secret has no default");
    if (!is_list || !question.list) return;
    if (question.list->items == AnswerType::list) refuse("/list/items", "lists do not nest");
    if (question.list->min_items > question.list->max_items) refuse("/list/min_items", "it is above max_items");
    std::set<QuestionName> names;
    for (size_t i = 0; i < question.list->fields.size(); ++i) {
      const ItemField& field = question.list->fields[i];
      const std::string below = "/list/fields/" + std::to_string(i);
      if (field.type == AnswerType::list) refuse(below + "/type", "lists do not nest");
      if (!names.insert(field.name).second) refuse(below + "/name", json_quoted(field.name.text) + " is there twice");
      if (field.constraint) constraint(below + "/constraint", *field.constraint, field.type);
    }
  }

  void constraint(const std::string& below, const Constraint& constraint, AnswerType type) {
    bool of_text = constraint.pattern || constraint.min_length || constraint.max_length;
    bool of_number = constraint.min || constraint.max;
    bool number = type == AnswerType::integer || type == AnswerType::number;
    if (of_text && type != AnswerType::string) refuse(below, "a pattern and a length are for texts");
    if (of_number && !number) refuse(below, "min and max are for numbers");
    if (constraint.min && constraint.max && *constraint.min > *constraint.max) refuse(below, "min is above max");
    if (constraint.min_length && constraint.max_length && *constraint.min_length > *constraint.max_length) {
      refuse(below, "min_length is above max_length");
    }
    if (constraint.pattern) {
      re2::RE2 pattern(*constraint.pattern, re2::RE2::Quiet);
      if (!pattern.ok()) refuse(below + "/pattern", "no regular expression: " + pattern.error());
    }
  }

  void choices(const Question& question) {
    for (size_t j = 0; j < question.choices.size(); ++j) {
      if (!is_of(question.type, question.choices[j])) {
        refuse("/choices/" + std::to_string(j),
               "this choice is not of the question's type, " + type_name(question.type));
      }
    }
    if (!question.default_) return;
    if (!is_of(question.type, *question.default_)) {
      refuse("/default", "the default is not of the question's type, " + type_name(question.type));
    } else if (!question.choices.empty() &&
               std::ranges::find(question.choices, *question.default_) == question.choices.end()) {
      refuse("/default", "the default is not one of the choices");
    } else if (std::string fault = fault_of_answer(question, *question.default_); !fault.empty()) {
      refuse("/default", "the default does not fit: " + fault);
    }
  }

  void visibility(const Question& question) {
    if (!question.visible_if) return;
    const VisibleIf& condition = *question.visible_if;
    if (condition.is.has_value() == condition.is_not.has_value()) {
      refuse("/visible_if", "it says either \"is\" or \"is_not\"");
    }
    std::string way = question.name.text;
    for (const Question* each = &question; each->visible_if;) {
      const std::string& next = each->visible_if->question.text;
      const Question* other = find(questions_, next);
      if (other == nullptr) {
        if (each == &question) refuse("/visible_if/question", "there is no question " + json_quoted(next));
        return;
      }
      way += " → " + next;
      if (other == &question) {
        refuse("/visible_if", "whether it is asked goes in a circle: " + way);
        return;
      }
      if (std::ranges::count(way, ' ') / 2 > static_cast<std::ptrdiff_t>(questions_.size())) return;
      each = other;
    }
  }

  Questions questions_;
  std::string path_, at_;
  std::optional<Error> error_;
};

}  // namespace

bool is_of(AnswerType type, const json::value& value) {
  switch (type) {
    case AnswerType::string:
      return value.is_string();
    case AnswerType::integer:
      return value.is_int64() || value.is_uint64();
    case AnswerType::number:
      return value.is_number();
    case AnswerType::boolean:
      return value.is_bool();
    case AnswerType::list:
      return value.is_array();
  }
  return false;
}

std::string_view in_words(AnswerType type) {
  switch (type) {
    case AnswerType::string:
      return "a text";
    case AnswerType::integer:
      return "a whole number";
    case AnswerType::number:
      return "a number";
    case AnswerType::boolean:
      return "true or false";
    case AnswerType::list:
      return "a list";
  }
  return "";
}

std::optional<Error> not_asked(const json::value& questions, const std::string& path) {
  if (!questions.is_array()) return std::nullopt;
  for (size_t i = 0; i < questions.get_array().size(); ++i) {
    const json::object* question = questions.get_array()[i].if_object();
    for (const NotAsked& each : kNotAsked) {
      if (question == nullptr || !question->contains(each.field)) continue;
      return Error{.code = Code::invalid,
                   .message = "questions have no " + json_quoted(each.field),
                   .next = std::string(each.next),
                   .path = path + "/" + std::to_string(i) + "/" + std::string(each.field)};
    }
  }
  return std::nullopt;
}

std::optional<Error> fault_of(Questions questions, const std::string& path) {
  return QuestionRules(questions, path).first_broken();
}

bool is_visible(const Question& question, Questions questions, const json::object& answers) {
  if (!question.visible_if) return true;
  const VisibleIf& condition = *question.visible_if;
  const Question* other = find(questions, condition.question.text);
  if (other == nullptr || !is_visible(*other, questions, answers)) return false;
  const json::value* answer = answers.if_contains(other->name.text);
  if (answer == nullptr && other->default_) answer = &*other->default_;
  if (condition.is) return answer != nullptr && *answer == *condition.is;
  return answer == nullptr || *answer != *condition.is_not;
}

std::string secret_variable(const Question& question) {
  if (question.variable) return question.variable->text;
  std::string name = question.name.text;
  for (char& c : name) c = c == '-' ? '_' : is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

bool is_secret_reference(const json::value& answer) {
  return answer.is_string() && std::string_view(answer.get_string()).starts_with("secret://");
}

std::string fault_of_answer(const Question& question, const json::value& answer) {
  if (question.secret && is_secret_reference(answer)) return "";
  std::string fault = fault_of_scalar(question.type, question.choices, question.constraint, answer, question.secret);
  if (!fault.empty() || question.type != AnswerType::list) return fault;
  const ListShape shape = question.list.value_or(ListShape{});
  const json::array& items = answer.get_array();
  if (items.size() < shape.min_items) return "it has fewer than " + std::to_string(shape.min_items) + " items";
  if (items.size() > shape.max_items) return "it has more than " + std::to_string(shape.max_items) + " items";
  for (size_t i = 0; i < items.size() && fault.empty(); ++i) fault = fault_of_item(shape, items[i], i);
  return fault;
}

Result<json::object> complete_answers(Questions questions, json::object given) {
  std::vector<std::string> names;
  for (const Question& each : questions) names.push_back(each.name.text);
  auto wrong = [](std::string_view name, std::string message, std::string next = "") {
    std::string path;
    append_pointer_token(path, name);
    return Error{.code = Code::invalid, .message = std::move(message), .next = std::move(next), .path = path};
  };
  for (const auto& each : given) {
    if (std::ranges::find(names, each.key()) != names.end()) continue;
    auto near = nearest(each.key(), std::span<const std::string>(names));
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    return wrong(each.key(), "there is no question " + printable(each.key()),
                 near          ? "did you mean " + *near + "?"
                 : all.empty() ? "leave it out: there are no questions"
                               : "the questions are " + all);
  }
  json::object complete;
  for (const Question& question : questions) {
    const std::string& name = question.name.text;
    const json::value* answer = given.if_contains(name);
    if (!is_visible(question, questions, given)) {
      if (answer == nullptr) continue;
      return wrong(name, name + " is not asked with these answers",
                   "leave it out, or answer " + question.visible_if->question.text + " otherwise");
    }
    if (answer == nullptr && question.default_) answer = &*question.default_;
    if (answer == nullptr && question.required) {
      return wrong(name, name + " has no answer: " + question.question);
    }
    if (answer == nullptr) continue;
    if (std::string fault = fault_of_answer(question, *answer); !fault.empty()) {
      return wrong(name, name + ": " + fault);
    }
    complete[name] = *answer;
  }
  return complete;
}

std::vector<const Question*> open_questions(Questions questions, const json::object& answers) {
  std::vector<const Question*> open;
  for (const Question& each : questions) {
    bool answered = answers.contains(each.name.text) || each.default_ || !each.required;
    if (!answered && is_visible(each, questions, answers)) open.push_back(&each);
  }
  return open;
}

Result<json::value> typed_answer(const Question& question, std::string_view text) {
  auto wrong = [&] {
    return Error{.code = Code::invalid, .message = "expected " + std::string(in_words(question.type))};
  };
  auto read_as = [](AnswerType type, std::string_view word) -> std::optional<json::value> {
    if (type == AnswerType::string) return json::value(word);
    if (type == AnswerType::boolean) {
      std::string small(word);
      std::ranges::transform(small, small.begin(), to_lower);
      if (small == "yes" || small == "y" || small == "true") return json::value(true);
      if (small == "no" || small == "n" || small == "false") return json::value(false);
      return std::nullopt;
    }
    auto parsed = parse_json(word);
    if (!parsed || !is_of(type, parsed->root)) return std::nullopt;
    return parsed->root;
  };
  json::value answer;
  if (question.type == AnswerType::list && text.starts_with('[')) {
    auto parsed = parse_json(text);
    if (!parsed || !parsed->root.is_array()) return wrong();
    answer = parsed->root;
  } else if (question.type == AnswerType::list) {
    const AnswerType items = question.list ? question.list->items : AnswerType::string;
    json::array list;
    while (!text.empty()) {
      size_t comma = std::min(text.find(','), text.size());
      std::string_view word = text.substr(0, comma);
      while (word.starts_with(' ')) word.remove_prefix(1);
      while (word.ends_with(' ')) word.remove_suffix(1);
      auto item = read_as(items, word);
      if (!item) return wrong();
      list.push_back(*std::move(item));
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
    answer = std::move(list);
  } else {
    auto value = read_as(question.type, text);
    if (!value) return wrong();
    answer = *std::move(value);
  }
  std::string fault = fault_of_answer(question, answer);
  if (!fault.empty()) return Error{.code = Code::invalid, .message = fault};
  return answer;
}

namespace {

json::object schema_of_scalar(AnswerType type, const std::vector<json::value>& choices,
                              const std::optional<Constraint>& constraint) {
  json::object schema{{"type", type == AnswerType::list ? "array" : type_name(type)}};
  if (!choices.empty()) schema["enum"] = json::array(choices.begin(), choices.end());
  if (!constraint) return schema;
  if (constraint->pattern) schema["pattern"] = "^(?:" + *constraint->pattern + ")$";
  if (constraint->min) schema["minimum"] = *constraint->min;
  if (constraint->max) schema["maximum"] = *constraint->max;
  if (constraint->min_length) schema["minLength"] = *constraint->min_length;
  if (constraint->max_length) schema["maxLength"] = *constraint->max_length;
  return schema;
}

}  // namespace

json::object answers_schema(Questions questions, const std::string& title) {
  json::object properties;
  json::array required, conditions;
  for (const Question& each : questions) {
    json::object schema = schema_of_scalar(each.type, each.choices, each.constraint);
    schema["title"] = each.question;
    if (each.description) schema["description"] = *each.description;
    if (each.default_) schema["default"] = *each.default_;
    if (each.secret) schema["writeOnly"] = true;
    if (each.type == AnswerType::list) {
      const ListShape shape = each.list.value_or(ListShape{});
      schema["minItems"] = shape.min_items;
      schema["maxItems"] = shape.max_items;
      json::object items = schema_of_scalar(shape.items, {}, std::nullopt);
      if (!shape.fields.empty()) {
        json::object fields;
        json::array needed;
        for (const ItemField& field : shape.fields) {
          fields[field.name.text] = schema_of_scalar(field.type, field.choices, field.constraint);
          fields[field.name.text].as_object()["title"] = field.question;
          if (field.required) needed.emplace_back(field.name.text);
        }
        items = {{"type", "object"},
                 {"properties", std::move(fields)},
                 {"required", std::move(needed)},
                 {"additionalProperties", false}};
      }
      schema["items"] = std::move(items);
    }
    bool needed = each.required && !each.default_;
    if (each.visible_if) {
      const VisibleIf& condition = *each.visible_if;
      const Question* other = find(questions, condition.question.text);
      const json::value& wanted = condition.is ? *condition.is : *condition.is_not;
      json::object holds{{"properties", {{condition.question.text, {{"const", wanted}}}}}};
      bool by_default = other != nullptr && other->default_ && *other->default_ == wanted;
      if (!by_default) holds["required"] = json::array{condition.question.text};
      json::object shown_then;
      if (needed) shown_then["required"] = json::array{each.name.text};
      json::object hidden{{"properties", {{each.name.text, false}}}};
      conditions.push_back(condition.is
                               ? json::object{{"if", std::move(holds)}, {"then", shown_then}, {"else", hidden}}
                               : json::object{{"if", std::move(holds)}, {"then", hidden}, {"else", shown_then}});
    } else if (needed) {
      required.emplace_back(each.name.text);
    }
    properties[each.name.text] = std::move(schema);
  }
  json::object schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                      {"title", title},
                      {"type", "object"},
                      {"properties", std::move(properties)},
                      {"required", std::move(required)},
                      {"additionalProperties", false}};
  if (!conditions.empty()) schema["allOf"] = std::move(conditions);
  return schema;
}

}  // namespace sluice::bundle
