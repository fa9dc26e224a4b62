// One list, and one check of values.
#include "deploy/admission.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "deploy/host_config.h"

namespace sluice::deploy {
namespace {

constexpr auto kBySyncsAlone = std::to_array<std::string_view>({
    "Config/absorb",
    "Config/correct",
    "Config/discover",
    "Config/forget",
    "Config/resolve",
    "Deployment/checkRoutes",
    "Revision/examine",
    "Revision/fail",
    "Revision/fetch",
    "Revision/forget",
    "Revision/free",
    "Revision/inspect",
    "Revision/move",
    "Revision/tidy",
    "Runtime/moved",
    "Traffic/drop",
    "Traffic/forget",
});

using Check = std::function<Result<void>(const json::object& ask)>;

Result<void> refuse_outside(const std::string& action) {
  return Error{.code = Code::denied,
               .message = action + " is called by Sluice's own syncs alone",
               .next = "sluice kit show deploy " + action.substr(0, action.find('/'))};
}

// A value that is refused may be a password: it is not to be found in the journal.
Result<void> check_host_values(const json::object& ask) {
  for (const json::value& each : ask.at("values").as_array()) {
    auto value = host_value(each.at("key").as_string(), each.at("value").as_string());
    if (value) continue;
    Error error = value.error();
    error.next = "sluice config set --help";
    return error;
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

std::span<const std::string_view> called_by_syncs_alone() { return kBySyncsAlone; }

std::vector<lang::ConceptBinding> admitted(const std::vector<const lang::ConceptBinding*>& concepts) {
  std::vector<lang::ConceptBinding> all;
  for (const lang::ConceptBinding* each : concepts) {
    lang::ConceptBinding binding = *each;
    for (lang::ActionBinding& action : binding.actions) {
      const std::string name = binding.name + "/" + action.name;
      if (std::ranges::binary_search(kBySyncsAlone, std::string_view(name))) {
        action.check = [name](const json::object&) { return refuse_outside(name); };
      } else if (name == "Config/set") {
        action.check = after(std::move(action.check), check_host_values);
      }
    }
    all.push_back(std::move(binding));
  }
  return all;
}

}  // namespace sluice::deploy
