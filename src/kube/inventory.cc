// One key of data holds the list, another the lock, both as JSON.
#include "kube/inventory.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/utc_time.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"

namespace sluice::kube {

ObjectRef inventory_ref(const InstanceKey& key) {
  // Two parts that no text can run together.
  const std::string whole = write(json::array{key.host, key.instance});
  return {.api_version = "v1",
          .kind = "ConfigMap",
          .name_space = key.name_space,
          .name = "light-deployer-inventory-" + crypto::to_hex(crypto::sha256(whole)).substr(0, 20)};
}

json::value inventory_object(const InstanceKey& key, const Inventory& inventory) {
  const ObjectRef ref = inventory_ref(key);
  json::array objects;
  for (const Tracked& each : inventory.objects) {
    objects.push_back({{"apiVersion", each.ref.api_version},
                       {"kind", each.ref.kind},
                       {"namespace", each.ref.name_space},
                       {"name", each.ref.name},
                       {"uid", each.uid}});
  }
  const json::object held{{"format", 1},
                          {"host", key.host},
                          {"instance", key.instance},
                          {"objects", std::move(objects)},
                          {"manifestHash", inventory.manifest_hash},
                          {"snapshot", inventory.snapshot},
                          {"request", inventory.request}};
  json::object data{{"inventory", write(held)}};
  if (!inventory.lock.request.empty()) {
    data["lock"] = write(json::object{{"request", inventory.lock.request},
                                      {"deployer", inventory.lock.deployer},
                                      {"until", utc_text(inventory.lock.until_ms)}});
  }
  json::object metadata{
      {"name", ref.name},
      {"namespace", ref.name_space},
      {"labels", {{"app.kubernetes.io/managed-by", "light-deployer"}, {"sluice.dev/inventory", "1"}}}};
  if (!inventory.version.empty()) metadata["resourceVersion"] = inventory.version;
  return json::object{
      {"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", std::move(metadata)}, {"data", std::move(data)}};
}

Result<Inventory> read_inventory(const json::value& object, const InstanceKey& key) {
  const ObjectRef ref = inventory_ref(key);
  auto refuse = [&](Code code, const std::string& why) {
    return Error{.code = code, .message = "the inventory " + to_string(ref) + " " + why};
  };
  auto held = parse_json_value(text_at(object, {"data", "inventory"}));
  if (!held || number_at(*held, {"format"}) != 1) return refuse(Code::invalid, "was changed and cannot be read");
  if (text_at(*held, {"host"}) != key.host || text_at(*held, {"instance"}) != key.instance) {
    return refuse(Code::conflict, "is of another instance");
  }
  Inventory inventory{.version = text_at(object, {"metadata", "resourceVersion"}),
                      .manifest_hash = text_at(*held, {"manifestHash"}),
                      .snapshot = text_at(*held, {"snapshot"}),
                      .request = text_at(*held, {"request"})};
  for (const json::value& each : list_at(*held, {"objects"})) {
    inventory.objects.push_back({{.api_version = text_at(each, {"apiVersion"}),
                                  .kind = text_at(each, {"kind"}),
                                  .name_space = text_at(each, {"namespace"}),
                                  .name = text_at(each, {"name"})},
                                 text_at(each, {"uid"})});
  }
  const std::string lock_text = text_at(object, {"data", "lock"});
  if (lock_text.empty()) return inventory;
  auto lock = parse_json_value(lock_text);
  if (!lock) return refuse(Code::invalid, "has a lock that cannot be read");
  auto until = parse_utc(text_at(*lock, {"until"}));
  inventory.lock = {
      .request = text_at(*lock, {"request"}), .deployer = text_at(*lock, {"deployer"}), .until_ms = until ? *until : 0};
  return inventory;
}

}  // namespace sluice::kube
