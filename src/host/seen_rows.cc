// Rows are looked up by their keys alone.
#include "host/seen_rows.h"

#include "engine/named_row.h"

namespace sluice::host {

SeenRows seen_rows(store::Snapshot& snapshot, const lang::CheckedKit& kit, const std::string& action,
                   const json::object& input) {
  SeenRows seen;
  auto look = [&](const std::string& relation, const std::string& key) -> uint64_t {
    auto row = snapshot.get(relation, key);
    if (!row || !*row) return 0;
    seen.generations[relation + "/" + key] = (*row)->generation;
    return (*row)->generation;
  };
  auto ref = kit.symbols().find_action(action);
  if (!ref) return seen;
  if (auto own = engine::named_row(kit.symbols(), *ref, input)) seen.own = look(own->relation, own->key);
  for (const lang::KitScope& each : kit.kit().scopes) {
    const std::vector<std::string> way = each.scope.parts();
    const json::value* value = input.if_contains(way[0]);
    if (way.size() < 2 || value == nullptr || !value->is_string()) continue;
    const std::string key(value->get_string());
    look(each.scope.concept_, key);
    look(way[1].substr(0, way[1].find('.')), key);
  }
  return seen;
}

}  // namespace sluice::host
