// What a promotion would change: each component's objects in the target, as they run now and as they would.
#include <algorithm>

#include "base/disk.h"
#include "base/json.h"
#include "deploy/promotion/promotion.h"
#include "deploy/views/releases.h"
#include "deploy/views/states.h"
#include "pin.gen.h"
#include "render/promote/difference.h"

namespace sluice::deploy::views {
namespace {

// An object's own name among others: "Deployment/shop".
std::string object_name(const json::value& object) {
  boost::system::error_code failed;
  const auto* kind = object.find_pointer("/kind", failed);
  const auto* name = object.find_pointer("/metadata/name", failed);
  return (kind && kind->is_string() ? std::string(kind->as_string()) : "") + "/" +
         (name && name->is_string() ? std::string(name->as_string()) : "");
}

void note_differences(const std::string& name, const json::value& now, const json::value& then,
                      std::vector<PlannedDifference>& all) {
  for (auto& each : promote::differences_of(now, then)) {
    all.push_back({name, std::move(each.pointer), std::move(each.left), std::move(each.right)});
  }
}

std::vector<PlannedDifference> differences(const json::array& now, const json::array& then) {
  std::vector<PlannedDifference> all;
  const auto find = [](const json::array& in, const std::string& name) {
    const auto found = std::ranges::find_if(in, [&](const auto& each) { return object_name(each) == name; });
    return found == in.end() ? json::value() : *found;
  };
  for (const auto& each : now) note_differences(object_name(each), each, find(then, object_name(each)), all);
  for (const auto& each : then) {
    if (find(now, object_name(each)).is_null()) note_differences(object_name(each), json::value(), each, all);
  }
  return all;
}

json::array objects_in(const std::string& target) {
  auto parsed = parse_json_value(target);
  return parsed && parsed->is_array() ? parsed->as_array() : json::array();
}

}  // namespace

Result<std::vector<PlannedPromotion>> read_promotion_plan(const lang::Reading& reading,
                                                          const PromotionPlanQuery& query) {
  const States states(reading.rows);
  auto* disk = reading.tools.find<Disk>();
  if (disk == nullptr) return Error{.code = Code::unavailable, .message = "time zones cannot be read here"};
  const TimeZones zones(*disk);
  std::vector<std::string> components = query.components;
  if (components.empty()) {
    for (const auto& each : states.pin().all()) {
      if (each.record.environment == query.fromEnv) components.push_back(each.record.component);
    }
  }
  std::vector<PlannedPromotion> all;
  for (const std::string& component : components) {
    const auto source = states.pin().get(pin::PinId(component + "/" + query.fromEnv));
    if (!source) {
      return Error{.code = Code::not_found, .message = component + " is not pinned in " + query.fromEnv};
    }
    PlannedPromotion planned{.component = component, .release = source->release};
    const auto target = states.pin().get(pin::PinId(component + "/" + query.toEnv));
    if (target) planned.before = target->applied;
    const auto made = render_release(states, component, query.toEnv, source->release, zones);
    planned.fault = fault_of_rendering(states, component, query.toEnv, source->release, zones).value_or("");
    if (made) {
      planned.rendered = made->target.hash;
      planned.differences = differences(objects_in(target ? target->running : ""), objects_in(made->target.text));
    }
    all.push_back(std::move(planned));
  }
  return all;
}

}  // namespace sluice::deploy::views
