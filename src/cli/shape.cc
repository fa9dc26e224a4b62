// A parser by descent. Shapes are the program's own, so depth is bounded only against those that name themselves.
#include "cli/shape.h"

#include <boost/json.hpp>

#include "base/ascii.h"

namespace sluice::cli {
namespace {

constexpr int kDeepestShape = 32;

json::object of_type(std::string_view type) { return {{"type", type}}; }

class ShapeParser {
 public:
  ShapeParser(std::string_view text, const ShapeBook& book, int depth) : text_(text), book_(book), depth_(depth) {}

  Result<json::object> run() {
    auto schema = alternatives();
    if (!schema) return schema;
    if (peek() != 0) return wrong("the end");
    return schema;
  }

 private:
  Error wrong(const std::string& expected) const {
    return {.code = Code::invalid,
            .message = "expected " + expected + " at '" + std::string(text_.substr(at_, 20)) + "' of a shape"};
  }

  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  std::string word() {
    peek();
    size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '_' ||
                                  text_[at_] == '-' || text_[at_] == '/')) {
      ++at_;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  Result<json::object> alternatives() {
    if (depth_ > kDeepestShape) return wrong("a shape that does not name itself");
    json::array all;
    do {
      auto one = joined();
      if (!one) return one;
      all.push_back(*std::move(one));
    } while (take('|'));
    if (all.size() == 1) return all.front().as_object();
    return json::object{{"anyOf", std::move(all)}};
  }

  Result<json::object> joined() {
    auto whole = nullable();
    if (!whole) return whole;
    while (take('+')) {
      auto more = nullable();
      if (!more) return more;
      if (!whole->contains("properties") || !more->contains("properties")) return wrong("two objects around +");
      for (auto& each : more->at("properties").as_object()) {
        whole->at("properties").as_object()[each.key()] = each.value();
      }
      for (auto& each : more->at("required").as_array()) whole->at("required").as_array().push_back(each);
    }
    return whole;
  }

  Result<json::object> nullable() {
    auto schema = one();
    if (!schema) return schema;
    if (!take('?')) return schema;
    return json::object{{"anyOf", json::array{*std::move(schema), of_type("null")}}};
  }

  Result<json::object> one() {
    if (take('\'')) return constant();
    if (take('[')) {
      auto items = alternatives();
      if (!items) return items;
      if (!take(']')) return wrong("]");
      return json::object{{"type", "array"}, {"items", *std::move(items)}};
    }
    if (take('{')) return members();
    if (take('@')) return named();
    if (take('&')) return of_view();
    if (take('=')) return answer(true);
    if (take('~')) return answer(false);
    const std::string name = word();
    if (name == "text") return of_type("string");
    if (name == "int") return of_type("integer");
    if (name == "number") return of_type("number");
    if (name == "bool") return of_type("boolean");
    if (name == "object") return of_type("object");
    if (name == "any") return json::object();
    if (name == "time") return json::object{{"type", "string"}, {"format", "date-time"}};
    at_ -= name.size();
    return wrong("a shape");
  }

  Result<json::object> constant() {
    size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) return wrong("'");
    json::object schema{{"const", text_.substr(at_, end - at_)}};
    at_ = end + 1;
    return schema;
  }

  Result<json::object> members() {
    json::object properties;
    json::array required;
    json::value others;
    while (!take('}')) {
      const bool any = take('*');
      const std::string name = any ? "*" : word();
      if (name.empty()) return wrong("a member's name");
      const bool optional = take('?');
      if (!take(':')) return wrong(":");
      auto schema = alternatives();
      if (!schema) return schema;
      if (any) {
        others = *std::move(schema);
      } else {
        properties[name] = *std::move(schema);
        if (!optional) required.emplace_back(name);
      }
      if (!take(',') && peek() != '}') return wrong(", or }");
    }
    json::object schema = of_type("object");
    schema["properties"] = std::move(properties);
    schema["required"] = std::move(required);
    if (!others.is_null()) schema["additionalProperties"] = std::move(others);
    return schema;
  }

  Result<json::object> named() {
    const std::string name = word();
    const std::string text = book_.shape(name);
    if (text.empty()) return wrong("a name that is known before");
    return ShapeParser(text, book_, depth_ + 1).run();
  }

  Result<json::object> of_view() {
    json::value schema = book_.view(word());
    if (!schema.is_object()) return wrong("a view that is known before");
    return std::move(schema.get_object());
  }

  Result<json::object> answer(bool with_flow) {
    const std::string action = word();
    json::value fields = book_.answer(action);
    if (!fields.is_object()) return wrong("an action that is known before");
    json::object schema = fields.get_object();
    schema.erase("additionalProperties");
    if (!schema.contains("properties")) schema["properties"] = json::object();
    if (!schema.contains("required")) schema["required"] = json::array();
    if (with_flow) {
      schema["properties"].as_object()["flow"] = of_type("string");
      schema["required"].as_array().emplace_back("flow");
    }
    return schema;
  }

  std::string_view text_;
  const ShapeBook& book_;
  const int depth_;
  size_t at_ = 0;
};

// Of shapes, which are not deep.
void close_objects(json::value& value) {
  if (value.is_array()) {
    for (json::value& each : value.get_array()) close_objects(each);
  }
  if (!value.is_object()) return;
  json::object& object = value.get_object();
  if (object.contains("properties") && !object.contains("additionalProperties")) object["additionalProperties"] = false;
  for (auto& each : object) close_objects(each.value());
}

}  // namespace

Result<json::object> schema_of_shape(std::string_view shape, const ShapeBook& book) {
  return ShapeParser(shape, book, 0).run();
}

json::object closed(json::object schema) {
  json::value value = std::move(schema);
  close_objects(value);
  return value.get_object();
}

}  // namespace sluice::cli
