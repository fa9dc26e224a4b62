// One check of values.
#include "deploy/admission.h"

#include <boost/json.hpp>

#include "deploy/host_config.h"

namespace sluice::deploy {
namespace {

using Check = std::function<Result<void>(const json::object& ask)>;

// A value that is refused may be a password: it is not to be found in the journal.
Result<void> check_host_values(const json::object& ask) {
  for (const json::value& each : ask.at("values").as_array()) {
    auto value = host_value(each.at("key").as_string(), each.at("value").as_string());
    if (value) continue;
    return value.error();
  }
  return {};
}

Check after(Check first, Check then) {
  return [first = std::move(first), then = std::move(then)](const json::object& ask) -> Result<void> {
    if (auto fits = first(ask); !fits) return fits;
    return then(ask);
  };
}

}  // namespace

std::vector<lang::ConceptBinding> admitted(const std::vector<const lang::ConceptBinding*>& concepts) {
  std::vector<lang::ConceptBinding> all;
  for (const lang::ConceptBinding* each : concepts) {
    lang::ConceptBinding binding = *each;
    for (lang::ActionBinding& action : binding.actions) {
      if (binding.name != "Config" || action.name != "set") continue;
      action.check = after(std::move(action.check), check_host_values);
    }
    all.push_back(std::move(binding));
  }
  return all;
}

}  // namespace sluice::deploy
