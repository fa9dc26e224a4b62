// The query's schema says which parameters are no texts.
#include "lang/run/view.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

#include "base/json.h"

namespace sluice::lang {
namespace {

std::string_view type_in(const json::value& schema) {
  const json::value* type = schema.is_object() ? schema.get_object().if_contains("type") : nullptr;
  return type != nullptr && type->is_string() ? std::string_view(type->get_string()) : "";
}

Result<json::value> value_of(const std::string& name, const std::string& text, std::string_view type) {
  if (type == "boolean") {
    if (text == "true" || text.empty()) return json::value(true);
    if (text == "false") return json::value(false);
    return Error{.code = Code::invalid, .message = name + " is true or false, not '" + text.substr(0, 60) + "'"};
  }
  if (type != "integer") return json::value(text);
  int64_t number = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc() && end == text.data() + text.size()) return json::value(number);
  return Error{.code = Code::invalid, .message = name + " is a whole number, not '" + text.substr(0, 60) + "'"};
}

std::string text_of(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : write(value);
}

}  // namespace

Result<json::object> query_of_texts(const ViewWords& view,
                                    const std::vector<std::pair<std::string, std::string>>& given) {
  const json::value schema = view.query_schema();
  const json::object& properties = schema.at("properties").as_object();
  json::object query;
  for (const auto& [name, text] : given) {
    const json::value* property = properties.if_contains(name);
    const bool list = property != nullptr && type_in(*property) == "array";
    const std::string_view type = property == nullptr ? "" : type_in(list ? property->at("items") : *property);
    json::array elements;
    for (size_t begin = 0; list && begin <= text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      auto element = value_of(name, text.substr(begin, end - begin), type);
      if (!element) return element.error();
      elements.push_back(*std::move(element));
      begin = end + 1;
    }
    auto value = list ? Result<json::value>(std::move(elements)) : value_of(name, text, type);
    if (!value) return value.error();
    query[name] = *std::move(value);
  }
  return query;
}

std::vector<std::pair<std::string, std::string>> texts_of_query(const json::object& query) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& [name, value] : query) {
    if (!value.is_array()) {
      texts.emplace_back(name, text_of(value));
      continue;
    }
    if (value.get_array().empty()) continue;
    std::string all;
    for (const json::value& each : value.get_array()) all += (all.empty() ? "" : ",") + text_of(each);
    texts.emplace_back(name, std::move(all));
  }
  return texts;
}

}  // namespace sluice::lang
