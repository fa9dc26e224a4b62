// Answers are a JSON object in the binding.
#include "deploy/views/pod_place.h"

#include <boost/json.hpp>

#include "base/json.h"
#include "deploy/views/states.h"
#include "env.gen.h"

namespace sluice::deploy::views {

PodPlace pod_place_in(std::string_view text) {
  PodPlace place;
  auto answers = parse_json(text, "answers");
  const json::object* fields = answers ? answers->root.if_object() : nullptr;
  if (fields == nullptr) return place;
  for (const auto& [name, into] : {std::pair{"kubeconfig_context", &place.context}, {"namespace", &place.name_space}}) {
    const json::value* said = fields->if_contains(name);
    if (said != nullptr && said->is_string()) *into = said->get_string();
  }
  return place;
}

PodPlace pod_place(const lang::Snapshot& snapshot, const std::string& environment) {
  for (const env::EnvPack& each : States(snapshot).env().packs(env::EnvId(environment)).values()) {
    if (each.slot == "deployer" && each.answers) return pod_place_in(*each.answers);
  }
  return {};
}

}  // namespace sluice::deploy::views
