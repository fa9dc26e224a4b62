// Evaluates CEL expressions for tests in other languages. Each line of the input is a case in the JSON form of CEL's
// conformance tests (expr, typeEnv, bindings, container, disableCheck, checkOnly); each line of the output says what
// came of it: {"type": "…", "value": {…}}, or {"error": "…"} and, of an evaluation, "type" beside it.
#include <boost/json.hpp>
#include <cmath>
#include <iostream>
#include <string>

#include "base/real_disk.h"
#include "base/time_zone.h"
#include "crypto/base64.h"
#include "render/cel/program.h"

namespace sluice::cel {
namespace {

namespace json = boost::json;

const json::value* find(const json::value& object, std::string_view key) {
  const auto* members = object.if_object();
  return members ? members->if_contains(key) : nullptr;
}

std::string text(const json::value& value) { return std::string(value.as_string()); }

class Case {
 public:
  Case(const json::object& given, const TimeZones& zones) : given_(given), environment_(&zones) {}

  json::object run() {
    if (const auto* container = given_.if_contains("container")) environment_.set_container(text(*container));
    std::vector<Value> values;
    const auto* bindings = given_.if_contains("bindings");
    if (const auto* declared = given_.if_contains("typeEnv")) {
      for (const auto& each : declared->as_array()) declare(each, bindings, values);
    }
    const bool lenient = given_.contains("disableCheck");
    auto program = compile(text(given_.at("expr")), environment_, lenient ? Checking::lenient : Checking::strict);
    if (!program) return {{"error", to_string(program.error())}};
    json::object answer{{"type", to_string(program->type())}};
    if (given_.contains("checkOnly")) return answer;
    const Value value = program->run(values, arena_);
    if (value.failed()) {
      answer["error"] = value.fault->text;
    } else {
      answer["value"] = shown(value);
    }
    return answer;
  }

 private:
  void declare(const json::value& each, const json::value* bindings, std::vector<Value>& values) {
    const auto name = text(*find(each, "name"));
    if (const auto* function = find(each, "function")) {
      for (const auto& overload : find(*function, "overloads")->as_array()) {
        std::string parameters;
        if (const auto* given = find(overload, "params")) {
          for (const auto& type : given->as_array()) parameters += (parameters.empty() ? "" : ", ") + type_text(type);
        }
        environment_.declare_function(name + "(" + parameters + ") -> " + type_text(*find(overload, "resultType")),
                                      nullptr);
      }
      return;
    }
    std::map<std::string, const Type*> none;
    environment_.declare(name, *environment_.types().parse(type_text(*find(*find(each, "ident"), "type")), none));
    const auto* bound = bindings ? find(*bindings, name) : nullptr;
    values.push_back(bound ? value_of(*find(*bound, "value")) : arena_.fault("no such attribute: " + name));
  }

  static std::string type_text(const json::value& type) {
    const auto& [kind, of] = *type.as_object().begin();
    if (kind == "primitive") {
      const auto name = text(of);
      return name == "BOOL"     ? "bool"
             : name == "INT64"  ? "int"
             : name == "UINT64" ? "uint"
             : name == "DOUBLE" ? "double"
             : name == "BYTES"  ? "bytes"
                                : "string";
    }
    if (kind == "listType") return "list(" + type_text(*find(of, "elemType")) + ")";
    if (kind == "mapType")
      return "map(" + type_text(*find(of, "keyType")) + ", " + type_text(*find(of, "valueType")) + ")";
    if (kind == "typeParam") return text(of);
    if (kind == "wellKnown") return text(of) == "TIMESTAMP" ? "timestamp" : text(of) == "DURATION" ? "duration" : "dyn";
    if (kind == "null") return "null";
    if (kind == "abstractType") {
      std::string made = text(*find(of, "name"));
      std::string inner;
      for (const auto& each : find(of, "parameterTypes")->as_array())
        inner += (inner.empty() ? "" : ", ") + type_text(each);
      return made + "(" + inner + ")";
    }
    return "dyn";
  }

  static double number(const json::value& value) {
    if (const auto* name = value.if_string()) return *name == "NaN" ? NAN : *name == "Infinity" ? INFINITY : -INFINITY;
    return value.to_number<double>();
  }

  Value value_of(const json::value& value) {
    const auto& [kind, of] = *value.as_object().begin();
    if (kind == "boolValue") return Value::of(of.as_bool());
    if (kind == "int64Value") return Value::of(static_cast<int64_t>(std::stoll(text(of))));
    if (kind == "uint64Value") return Value::of(static_cast<uint64_t>(std::stoull(text(of))));
    if (kind == "doubleValue") return Value::of(number(of));
    if (kind == "stringValue") return arena_.string(text(of));
    if (kind == "bytesValue") return arena_.bytes(*crypto::from_base64(text(of)));
    if (kind == "listValue") {
      std::vector<Value> items;
      if (const auto* given = find(of, "values")) {
        for (const auto& item : given->as_array()) items.push_back(value_of(item));
      }
      return arena_.list(items);
    }
    if (kind == "mapValue") {
      std::vector<Entry> entries;
      if (const auto* given = find(of, "entries")) {
        for (const auto& entry : given->as_array()) {
          entries.push_back({value_of(*find(entry, "key")), value_of(*find(entry, "value"))});
        }
      }
      return arena_.map(entries);
    }
    return {};
  }

  static json::object shown(const Value& value) {
    switch (value.kind) {
      case Kind::null:
        return {{"nullValue", nullptr}};
      case Kind::boolean:
        return {{"boolValue", value.boolean}};
      case Kind::integer:
        return {{"int64Value", std::to_string(value.integer)}};
      case Kind::unsigned_integer:
        return {{"uint64Value", std::to_string(value.unsigned_integer)}};
      case Kind::real:
        if (std::isnan(value.real)) return {{"doubleValue", "NaN"}};
        if (std::isinf(value.real)) return {{"doubleValue", value.real > 0 ? "Infinity" : "-Infinity"}};
        return {{"doubleValue", value.real}};
      case Kind::string:
        return {{"stringValue", value.text}};
      case Kind::bytes:
        return {{"bytesValue", crypto::to_base64(value.text)}};
      case Kind::type:
        return {{"typeValue", runtime_name(*value.type)}};
      case Kind::list: {
        json::array items;
        for (const auto& item : value.list->items) items.push_back(shown(item));
        return {{"listValue", {{"values", items}}}};
      }
      case Kind::map: {
        json::array entries;
        for (const auto& entry : value.map->entries)
          entries.push_back({{"key", shown(entry.key)}, {"value", shown(entry.value)}});
        return {{"mapValue", {{"entries", entries}}}};
      }
      default:
        return {{"otherValue", name_of(value.kind)}};
    }
  }

  const json::object& given_;
  Environment environment_;
  Arena arena_;
};

}  // namespace
}  // namespace sluice::cel

int main() {
  sluice::RealDisk disk;
  const sluice::TimeZones zones(disk);
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto given = boost::json::parse(line);
    std::cout << boost::json::serialize(sluice::cel::Case(given.as_object(), zones).run()) << "\n";
  }
}
