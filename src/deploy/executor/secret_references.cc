// Trees are walked; keys are never references.
#include "deploy/executor/secret_references.h"

#include <algorithm>

#include "deploy/secret_names.h"

namespace sluice::deploy::executor {
namespace {

namespace json = boost::json;

bool is_reference(const json::value& value) {
  return value.is_string() && std::string_view(value.get_string()).starts_with("secret://");
}

}  // namespace

Result<void> add_secrets_wanted(const json::value& values, const std::string& where, const std::string& environment,
                                std::vector<SecretWanted>& wanted) {
  if (const json::array* array = values.if_array()) {
    for (size_t i = 0; i < array->size(); ++i) {
      auto added = add_secrets_wanted((*array)[i], where + "/" + std::to_string(i), environment, wanted);
      if (!added) return added;
    }
  }
  if (const json::object* object = values.if_object()) {
    for (const auto& each : *object) {
      auto added = add_secrets_wanted(each.value(), where + "/" + std::string(each.key()), environment, wanted);
      if (!added) return added;
    }
  }
  if (!is_reference(values)) return {};
  const std::string reference(values.get_string());
  auto parsed = parse_secret_reference(reference);
  if (!parsed) return Error{.code = Code::invalid, .message = where + ": " + parsed.error().message};
  if (parsed->environment != environment) {
    return Error{.code = Code::invalid,
                 .message = where + ": " + reference + " is a secret of " + parsed->environment +
                            ", and the request is one in " + environment + "; nothing was changed"};
  }
  SecretWanted one{reference, parsed->name};
  if (std::ranges::find(wanted, one) == wanted.end()) wanted.push_back(std::move(one));
  return {};
}

json::value with_secrets(const json::value& values, const KnownSecrets& known) {
  if (const json::array* array = values.if_array()) {
    json::array made;
    for (const json::value& each : *array) made.push_back(with_secrets(each, known));
    return made;
  }
  if (const json::object* object = values.if_object()) {
    json::object made;
    for (const auto& each : *object) made.emplace(each.key(), with_secrets(each.value(), known));
    return made;
  }
  if (!is_reference(values)) return values;
  const auto found = known.find(std::string_view(values.get_string()));
  return json::object{{"$secret", found == known.end() ? std::string(kUnknownSecret) : found->second}};
}

}  // namespace sluice::deploy::executor
