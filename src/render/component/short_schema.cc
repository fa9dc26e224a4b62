// The short form of schemas: "integer | default=1 minimum=1".
#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "render/component/schema.h"

namespace sluice::component {
namespace {

constexpr int kDeepest = 64;

Error undeclared(std::string message, const std::string& path) {
  return {.code = Code::invalid, .message = std::move(message), .path = path};
}

std::string_view without_spaces(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Words parted by spaces and pipes, but not within quotes, brackets or braces.
std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> found;
  size_t begin = 0;
  int depth = 0;
  char quote = 0;
  for (size_t at = 0; at <= text.size(); ++at) {
    const char each = at < text.size() ? text[at] : ' ';
    if (quote && at < text.size()) {
      if (each == quote) quote = 0;
      continue;
    }
    if (each == '"' || each == '\'') quote = each;
    if (each == '[' || each == '{') ++depth;
    if (each == ']' || each == '}') --depth;
    if ((each != ' ' && each != '|') || (depth > 0 && at < text.size())) continue;
    if (at > begin) found.push_back(text.substr(begin, at - begin));
    begin = at + 1;
  }
  return found;
}

// A constraint's value: JSON where it is that, else text.
json::value value_of(std::string_view text, std::string_view type) {
  if (text.size() > 1 && text.front() == '\'' && text.back() == '\'')
    return json::string(text.substr(1, text.size() - 2));
  if (type == "string" && !text.starts_with('"')) return json::string(text);
  boost::system::error_code failed;
  auto value = json::parse(text, failed);
  return failed ? json::value(json::string(text)) : value;
}

class Expander {
 public:
  explicit Expander(const json::object* types) : types_(types) {}

  Result<json::object> object(const json::object& fields, const std::string& path, int depth) {
    if (depth > kDeepest) return undeclared("a schema is at most 64 levels deep", path);
    json::object properties;
    json::array required;
    json::object schema{{"type", "object"}, {"additionalProperties", false}};
    for (const auto& [name, declared] : fields) {
      const auto place = path + "/" + std::string(name);
      if (name == "$default") {
        schema["default"] = declared;
        continue;
      }
      auto field = this->field(declared, place, depth);
      if (!field) return field;
      if (!field->contains("default")) required.emplace_back(name);
      properties[name] = std::move(*field);
    }
    schema["properties"] = std::move(properties);
    if (!required.empty()) schema["required"] = std::move(required);
    return schema;
  }

  Result<json::object> field(const json::value& declared, const std::string& path, int depth) {
    if (const auto* fields = declared.if_object()) return object(*fields, path, depth + 1);
    if (const auto* text = declared.if_string()) return scalar(*text, path, depth);
    return undeclared("a field is declared by its type, as in 'integer | default=1', or by its own fields", path);
  }

 private:
  Result<json::object> scalar(std::string_view text, const std::string& path, int depth) {
    const size_t pipe = text.find('|');
    const auto name = without_spaces(text.substr(0, pipe));
    auto schema = type(name, path, depth);
    if (!schema || pipe == std::string_view::npos) return schema;
    for (const auto word : words(text.substr(pipe + 1))) {
      const size_t equals = word.find('=');
      if (equals == std::string_view::npos)
        return undeclared("expected constraint=value, found '" + std::string(word) + "'", path);
      if (auto added = constrain(*schema, word.substr(0, equals), word.substr(equals + 1), path); !added)
        return added.error();
    }
    return schema;
  }

  Result<json::object> type(std::string_view name, const std::string& path, int depth) {
    if (depth > kDeepest) return undeclared("a schema is at most 64 levels deep", path);
    for (const std::string_view plain : {"string", "integer", "number", "boolean"}) {
      if (name == plain) return json::object{{"type", plain}};
    }
    if (name == "object") return json::object{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
    std::string_view inner;
    if (name.starts_with("[]")) inner = name.substr(2);
    if (name.starts_with("array<") && name.ends_with('>')) inner = name.substr(6, name.size() - 7);
    if (!inner.empty()) {
      auto items = type(without_spaces(inner), path, depth + 1);
      if (!items) return items;
      return json::object{{"type", "array"}, {"items", std::move(*items)}};
    }
    if (name.starts_with("map<") && name.ends_with('>')) {
      auto values = type(without_spaces(name.substr(4, name.size() - 5)), path, depth + 1);
      if (!values) return values;
      return json::object{{"type", "object"}, {"additionalProperties", std::move(*values)}};
    }
    if (const auto* named = types_ ? types_->if_contains(name) : nullptr) return field(*named, path, depth + 1);
    return undeclared("there is no type '" + std::string(name) +
                          "'; there are string, integer, number, boolean, object, []T, map<T> and those under types",
                      path);
  }

  static Result<void> constrain(json::object& schema, std::string_view name, std::string_view text,
                                const std::string& path) {
    const auto* declared = schema.if_contains("type");
    const std::string type = declared ? std::string(declared->as_string()) : "";
    if (name == "enum") {
      json::array choices;
      if (text.starts_with('[')) {
        const auto listed = value_of(text, "");
        if (!listed.is_array()) return undeclared("enum lists its values: enum=a,b", path);
        choices = listed.as_array();
      } else {
        if (text.size() > 1 && (text.front() == '"' || text.front() == '\'')) text = text.substr(1, text.size() - 2);
        for (size_t begin = 0; begin <= text.size();) {
          const size_t end = std::min(text.find(',', begin), text.size());
          choices.push_back(value_of(without_spaces(text.substr(begin, end - begin)), type));
          begin = end + 1;
        }
      }
      schema["enum"] = std::move(choices);
      return {};
    }
    static constexpr std::string_view kKnown[] = {
        "default",   "minimum", "maximum",    "exclusiveMinimum", "exclusiveMaximum", "multipleOf",    "minLength",
        "maxLength", "pattern", "minItems",   "maxItems",         "uniqueItems",      "minProperties", "maxProperties",
        "format",    "title",   "description"};
    if (std::find(std::begin(kKnown), std::end(kKnown), name) == std::end(kKnown)) {
      return undeclared("there is no constraint '" + std::string(name) + "'", path);
    }
    const bool as_text = name == "pattern" || name == "format" || name == "title" || name == "description";
    schema[name] = value_of(text, as_text || (name == "default" && type == "string") ? "string" : "");
    if (auto& made = schema[name]; made.is_string() && made.as_string().starts_with('"')) {
      boost::system::error_code failed;
      if (auto unquoted = json::parse(made.as_string(), failed); !failed) made = unquoted;
    }
    return {};
  }

  const json::object* types_;
};

}  // namespace

Result<json::object> expand_short_schema(const json::object& fields) {
  const auto* types = fields.if_contains("types");
  if (!types || !types->is_object()) return Expander(nullptr).object(fields, "", 0);
  json::object own = fields;
  own.stable_erase("types");
  return Expander(&types->as_object()).object(own, "", 0);
}

}  // namespace sluice::component
