// Values go by the field's name, as one word means one thing everywhere, then by its type. The first levels have every
// field; further down are those alone that must be there, so that a schema that leads back to itself ends.
#include "api/openapi_examples.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

namespace sluice::api {
namespace {

namespace json = boost::json;

constexpr int kWholeLevels = 2, kMostLevels = 8;
constexpr std::string_view kTime = "2026-03-01T09:30:00.125Z";
constexpr std::string_view kDigest = "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";

// Names in small letters, without `_`.
const std::map<std::string_view, std::string_view>& texts() {
  static const std::map<std::string_view, std::string_view> kTexts = {
      {"action", "Traffic/set"},
      {"archive", kDigest},
      {"by", "user:ann"},
      {"bundle", "hello"},
      {"caller", "user:ann"},
      {"customer", "acme"},
      {"deployment", "01M7Q4JYN7F74DZWWTPVQVKNX2"},
      {"deploymentid", "01M7Q4JYN7F74DZWWTPVQVKNX2"},
      {"digest", kDigest},
      {"endpoint", "https://otel.example:4318"},
      {"enva", "staging"},
      {"envb", "prod"},
      {"environment", "staging"},
      {"environmentid", "staging"},
      {"flow", "01M7Q4JYN7F74DZWWTPVQVKNX6"},
      {"fromenv", "staging"},
      {"hash", kDigest},
      {"host", "registry.example"},
      {"hosts", "shop.example"},
      {"key", "COLOUR"},
      {"kind", "sluice.deployer.local@1.0.0"},
      {"message", "one sentence"},
      {"name", "hello"},
      {"pathprefixes", "/"},
      {"plan", "01M7Q4JYN7F74DZWWTPVQVKNX5"},
      {"policy", "schema: sluice.access-policy.v1\ngrants:\n- {to: [user:ann], role: admin}\n"},
      {"reason", "a new version"},
      {"requester", "user:ann"},
      {"revision", "01M7Q4JYN7F74DZWWTPVQVKNX3"},
      {"revisionid", "01M7Q4JYN7F74DZWWTPVQVKNX3"},
      {"role", "deployer"},
      {"rollout", "01M7Q4JYN7F74DZWWTPVQVKNX4"},
      {"signature", kDigest},
      {"slot", "deployer"},
      {"steps", "10%:5m"},
      {"strategy", "canary"},
      {"subject", "user:ann"},
      {"toenv", "prod"},
      {"tree", kDigest},
      {"url", "https://hooks.example/sluice"},
      {"value", "blue"},
      {"version", "1.0.0"},
  };
  return kTexts;
}

const std::map<std::string_view, int64_t>& numbers() {
  static const std::map<std::string_view, int64_t> kNumbers = {
      {"generation", 7}, {"position", 4'211}, {"replicas", 2}, {"sequence", 2}, {"weight", 10}, {"weightbps", 1'000},
  };
  return kNumbers;
}

std::string plain(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c != '_') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

class Examples {
 public:
  explicit Examples(const json::object& schemas) : schemas_(schemas) {}

  json::value of(const json::value& given, std::string_view name, int level = 0) const {
    const json::object& schema = given.as_object();
    if (const json::value* other = schema.if_contains("$ref")) {
      const std::string_view where = other->as_string();
      return of(schemas_.at(where.substr(where.rfind('/') + 1)), name, level);
    }
    if (const json::value* only = schema.if_contains("const")) return *only;
    if (const json::value* all = schema.if_contains("enum")) return all->as_array().at(0);
    for (const char* several : {"oneOf", "anyOf"}) {
      const json::value* all = schema.if_contains(several);
      if (all == nullptr) continue;
      const json::array& choices = all->as_array();
      const auto null = std::ranges::find(choices, json::value(json::object{{"type", "null"}}));
      return null != choices.end() && level > kWholeLevels ? json::value() : of(choices.at(0), name, level);
    }
    const json::value* type = schema.if_contains("type");
    if (type == nullptr) return json::object();
    const std::string_view kind = type->as_string();
    if (kind == "object") return object_of(schema, name, level);
    if (kind == "array") {
      const json::value* items = schema.if_contains("items");
      return items == nullptr || level > kMostLevels ? json::array() : json::array{of(*items, name, level + 1)};
    }
    if (kind == "integer") {
      const auto known = numbers().find(plain(name));
      return known != numbers().end() ? known->second : 1;
    }
    if (kind == "number") return 0.5;
    if (kind == "boolean") return false;
    if (kind == "null") return nullptr;
    return json::string(text_of(schema, name));
  }

 private:
  json::value object_of(const json::object& schema, std::string_view name, int level) const {
    json::object made;
    const json::value* required = schema.if_contains("required");
    if (const json::value* fields = schema.if_contains("properties")) {
      for (const auto& [field, each] : fields->as_object()) {
        const bool must_be = required != nullptr &&
                             std::ranges::find(required->as_array(), json::value(field)) != required->as_array().end();
        if (must_be || level < kWholeLevels) made[field] = of(each, field, level + 1);
      }
    }
    const json::value* more = schema.if_contains("additionalProperties");
    if (more != nullptr && more->is_object() && level < kMostLevels) made[key_of(name)] = of(*more, name, level + 1);
    return made;
  }

  static std::string key_of(std::string_view name) { return name.empty() ? "key" : "of-" + plain(name); }

  static std::string_view text_of(const json::object& schema, std::string_view name) {
    if (schema.contains("contentEncoding")) return "aGVsbG8=";
    if (const json::value* format = schema.if_contains("format"); format != nullptr && *format == "date-time") {
      return kTime;
    }
    // As views have it, which say more exactly which times there are.
    const json::value* pattern = schema.if_contains("pattern");
    if (pattern != nullptr && pattern->get_string().starts_with("^[0-9]{4}-")) return kTime;
    const auto known = texts().find(plain(name));
    if (known != texts().end()) return known->second;
    return name.ends_with("At") || name.ends_with("_at") ? kTime : "text";
  }

  const json::object& schemas_;
};

void add_to_content(json::object& owner, const Examples& examples) {
  json::value* content = owner.if_contains("content");
  if (content == nullptr) return;
  for (auto& [type, each] : content->as_object()) {
    json::object& media = each.as_object();
    const json::value* schema = media.if_contains("schema");
    if (schema == nullptr || media.contains("example")) continue;
    json::value made = examples.of(*schema, "");
    if (made != json::value(json::object())) media["example"] = std::move(made);
  }
}

void add_to_parameter(json::value& parameter, const Examples& examples) {
  json::object& object = parameter.as_object();
  if (object.contains("$ref") || object.contains("example")) return;
  object["example"] = examples.of(object.at("schema"), object.at("name").as_string());
}

}  // namespace

void add_examples(json::object& document) {
  json::object& components = document.at("components").as_object();
  const Examples examples(components.at("schemas").as_object());
  for (auto& [name, each] : components.at("parameters").as_object()) add_to_parameter(each, examples);
  for (auto& [name, each] : components.at("responses").as_object()) add_to_content(each.as_object(), examples);
  for (auto& [path, methods] : document.at("paths").as_object()) {
    for (auto& [method, each] : methods.as_object()) {
      json::object& operation = each.as_object();
      for (json::value& parameter : operation.at("parameters").as_array()) add_to_parameter(parameter, examples);
      if (json::value* body = operation.if_contains("requestBody")) add_to_content(body->as_object(), examples);
      for (auto& [status, answer] : operation.at("responses").as_object()) {
        if (!answer.as_object().contains("$ref")) add_to_content(answer.as_object(), examples);
      }
    }
  }
}

}  // namespace sluice::api
