// Goes down both objects and the fields of each manager at once.
#include "deploy/executor/drift.h"

#include <set>

#include "base/json.h"
#include "kube/object.h"

namespace sluice::deploy::executor {
namespace {

namespace json = boost::json;

// A manager's fields at the place that is looked at; null: it owns nothing there.
struct Owner {
  std::string manager;
  const json::value* fields = nullptr;
};

std::vector<Owner> beneath(const std::vector<Owner>& owners, const std::string& key) {
  std::vector<Owner> inner;
  for (const Owner& each : owners) {
    const json::object* fields = each.fields->if_object();
    if (fields == nullptr) continue;
    if (const json::value* found = fields->if_contains(key)) inner.push_back({each.manager, found});
  }
  return inner;
}

// Of the element of a list that has this name.
std::vector<Owner> beneath_element(const std::vector<Owner>& owners, const std::string& name) {
  std::vector<Owner> inner;
  for (const Owner& each : owners) {
    const json::object* fields = each.fields->if_object();
    if (fields == nullptr) continue;
    for (const auto& field : *fields) {
      if (!field.key().starts_with("k:")) continue;
      auto key = parse_json_value(field.key().substr(2));
      if (key && kube::text_at(*key, {"name"}) == name) inner.push_back({each.manager, &field.value()});
    }
  }
  return inner;
}

const json::value* element_named(const json::array& array, const std::string& name) {
  for (const json::value& each : array) {
    if (kube::text_at(each, {"name"}) == name) return &each;
  }
  return nullptr;
}

void walk(const json::value& last, const json::value& live, const std::string& path, const std::vector<Owner>& owners,
          std::vector<DriftedField>& found) {
  if (owners.empty() || last == live) return;
  if (last.is_object() && live.is_object()) {
    for (const auto& each : last.get_object()) {
      const json::value* there = live.get_object().if_contains(each.key());
      if (there == nullptr) continue;
      walk(each.value(), *there, path + "." + std::string(each.key()), beneath(owners, "f:" + std::string(each.key())),
           found);
    }
    return;
  }
  if (last.is_array() && live.is_array()) {
    for (const json::value& each : last.get_array()) {
      const std::string name = kube::text_at(each, {"name"});
      const json::value* there = name.empty() ? nullptr : element_named(live.get_array(), name);
      if (there == nullptr) continue;
      walk(each, *there, path + "[name=\"" + name + "\"]", beneath_element(owners, name), found);
    }
    return;
  }
  std::set<std::string> managers;
  for (const Owner& each : owners) managers.insert(each.manager);
  for (const std::string& each : managers) found.push_back({path, each});
}

}  // namespace

std::vector<DriftedField> drift_of(const json::value& last_applied, const json::value& live,
                                   std::string_view own_manager) {
  std::vector<Owner> owners;
  for (const json::value& each : kube::list_at(live, {"metadata", "managedFields"})) {
    const std::string manager = kube::text_at(each, {"manager"});
    if (manager == own_manager && kube::text_at(each, {"operation"}) == "Apply") continue;
    owners.push_back({manager, &kube::at(each, {"fieldsV1"})});
  }
  std::vector<DriftedField> found;
  if (live.is_object()) walk(last_applied, live, "", owners, found);
  return found;
}

}  // namespace sluice::deploy::executor
