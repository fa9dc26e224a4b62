// The inventory of an instance: a ConfigMap in its namespace that lists what was deployed, and says who is deploying.
// It is changed by compare-and-set on its resourceVersion, so it is the lock as well: who could write their name into
// it holds it until the lease ends.
//
//   auto inventory = read_inventory(*live);
//   client.replace(inventory_object(key, changed), manager);     // 409: somebody was faster
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/object.h"

namespace sluice::kube {

// Whose inventory it is.
struct InstanceKey {
  std::string host;
  std::string instance;
  std::string name_space;
};

struct Tracked {
  ObjectRef ref;
  std::string uid;

  bool operator==(const Tracked&) const = default;
};

struct Lock {
  std::string request;   // empty: nobody holds it
  std::string deployer;  // which deployer that is
  int64_t until_ms = 0;

  bool operator==(const Lock&) const = default;
};

struct Inventory {
  std::string version;  // its resourceVersion; empty: there is none in the cluster yet
  std::vector<Tracked> objects;
  std::string manifest_hash;
  std::string snapshot;
  std::string request;  // that last changed it
  Lock lock;
};

ObjectRef inventory_ref(const InstanceKey& key);
// The ConfigMap; with its resourceVersion, if it has one.
json::value inventory_object(const InstanceKey& key, const Inventory& inventory);
// `invalid`: somebody has written something else there. `conflict`: it is of another instance.
Result<Inventory> read_inventory(const json::value& object, const InstanceKey& key);

}  // namespace sluice::kube
