// One ConfigMap, read and replaced.
#include "deploy/executor/inventory_lock.h"

#include <algorithm>
#include <mutex>

#include "base/utc_time.h"

namespace sluice::deploy::executor {
namespace {

using kube::text_at;

constexpr int kMostTries = 5;
const std::string kManager(rendering::kManager);

Refusal failed(const kube::ObjectRef& ref, const std::string& message) {
  return {"kubernetesFailed", to_string(ref) + ": " + message};
}

// The ConfigMap as an inventory; nothing if there is none.
Tried<std::optional<kube::Inventory>> read_one(kube::Client& client, const Request& request) {
  const kube::ObjectRef ref = kube::inventory_ref(request.key());
  auto reply = client.get(ref);
  if (!reply) return failed(ref, to_string(reply.error()));
  if (reply->status == 404) return std::optional<kube::Inventory>();
  if (reply->failure) return failed(ref, reply->failure->message);
  auto read = kube::read_inventory(reply->body, request.key());
  if (!read) return refusal_of("busy", read.error());
  return std::optional(*std::move(read));
}

// Whether Light-Deployer has applied it itself: what controllers make of such an object has its labels, too.
bool is_applied(const json::value& object) {
  return std::ranges::any_of(kube::list_at(object, {"metadata", "managedFields"}), [](const json::value& each) {
    return text_at(each, {"manager"}) == kManager && text_at(each, {"operation"}) == "Apply";
  });
}

// What was installed by labels alone, of every kind that the policy allows.
Tried<kube::Inventory> labelled(kube::Client& client, const kube::Policy& policy, const Request& request) {
  kube::Inventory inventory;
  auto versions = client.api_versions();
  if (!versions) return refusal_of("kubernetesFailed", versions.error());
  std::mutex mutex;
  std::optional<Refusal> refusal;
  kube::at_once(versions->size(), [&](size_t i) {
    auto kinds = client.kinds_of((*versions)[i]);
    if (!kinds) return;  // an API service that is down has nothing that could be seen
    for (const kube::Kind& kind : *kinds) {
      const json::object probe{{"apiVersion", kind.api_version}, {"kind", kind.kind}};
      if (!kind.namespaced || std::ranges::find(kind.verbs, "list") == kind.verbs.end()) continue;
      if (!policy.denial_of(probe).empty()) continue;
      auto listed = client.list(kind, {.name_space = request.name_space,
                                       .labels = std::string(rendering::kManagedBy) + "=" + kManager + "," +
                                                 std::string(rendering::kHostLabel) + "=" + request.host + "," +
                                                 std::string(rendering::kInstanceLabel) + "=" + request.instance,
                                       .metadata_only = true});
      if (!listed && listed.error().code == Code::denied) continue;  // who may not see it has not applied it either
      std::lock_guard lock(mutex);
      if (!listed) {
        refusal = refusal_of("kubernetesFailed", listed.error());
        return;
      }
      for (const json::value& each : listed->items) {
        if (!is_applied(each)) continue;
        kube::ObjectRef ref{.api_version = kind.api_version,
                            .kind = kind.kind,
                            .name_space = request.name_space,
                            .name = text_at(each, {"metadata", "name"})};
        inventory.objects.push_back({std::move(ref), text_at(each, {"metadata", "uid"})});
      }
    }
  });
  if (refusal) return *refusal;
  // The same object may be served under several groups.
  std::ranges::sort(inventory.objects, {}, &kube::Tracked::uid);
  const auto same = std::ranges::unique(inventory.objects, {}, &kube::Tracked::uid);
  inventory.objects.erase(same.begin(), same.end());
  return inventory;
}

// `busy`: somebody was faster.
std::optional<Refusal> put_back(kube::Client& client, const Request& request, kube::Inventory& inventory) {
  const json::value object = kube::inventory_object(request.key(), inventory);
  auto reply = inventory.version.empty() ? client.create(object, kManager) : client.replace(object, kManager);
  const kube::ObjectRef ref = kube::inventory_ref(request.key());
  if (!reply) return failed(ref, to_string(reply.error()));
  if (reply->status == 409) return Refusal{"busy", "the inventory of " + request.instance + " was just changed"};
  if (reply->failure) return failed(ref, reply->failure->message);
  inventory.version = text_at(reply->body, {"metadata", "resourceVersion"});
  return std::nullopt;
}

}  // namespace

Tried<kube::Inventory> inventory_of(kube::Client& client, const kube::Policy& policy, const Request& request) {
  auto there = read_one(client, request);
  if (!there) return there.refusal();
  if (*there) return **std::move(there);
  return labelled(client, policy, request);
}

std::string holder_of(const kube::Inventory& inventory, const Clock& clock, const Request& request) {
  const kube::Lock& lock = inventory.lock;
  if (lock.request.empty() || lock.request == request.id || lock.until_ms <= clock.wall_ms()) return "";
  return "the request " + lock.request + " of " + lock.deployer + " is at work on " + request.instance + " until " +
         utc_text(lock.until_ms) + " or longer; nothing was changed";
}

Tried<kube::Inventory> lock_taken(kube::Client& client, const Clock& clock, const kube::Policy& policy,
                                  const Request& request, kube::Inventory inventory) {
  if (std::string holder = holder_of(inventory, clock, request); !holder.empty()) return Refusal{"busy", holder};
  inventory.lock = {request.id, policy.deployerId, clock.wall_ms() + kLease_ms};
  if (auto refusal = put_back(client, request, inventory)) return *refusal;
  return inventory;
}

std::optional<Refusal> Held::renew() {
  if (clock_.wall_ms() + kLease_ms / 2 < until_ms_) return std::nullopt;
  for (int i = 0; i < kMostTries; ++i) {
    auto there = read_one(client_, request_);
    if (!there) return there.refusal();
    if (!*there && may_go_) return std::nullopt;
    if (!*there || (*there)->lock.request != request_.id) {
      const std::string holder = *there ? (*there)->lock.request : "";
      return Refusal{"busy", "the lock of " + request_.instance + " was lost" +
                                 (holder.empty() ? "" : " to the request " + holder)};
    }
    kube::Inventory inventory = **std::move(there);
    inventory.lock.until_ms = clock_.wall_ms() + kLease_ms;
    auto refusal = put_back(client_, request_, inventory);
    if (!refusal) {
      until_ms_ = inventory.lock.until_ms;
      return std::nullopt;
    }
    if (refusal->why != "busy") return refusal;
  }
  return Refusal{"busy", "the inventory of " + request_.instance + " changes all the time"};
}

std::optional<Refusal> settled(kube::Client& client, const Request& request,
                               const std::function<void(kube::Inventory&)>& change) {
  for (int i = 0; i < kMostTries; ++i) {
    auto there = read_one(client, request);
    if (!there) return there.refusal();
    if (!*there || (*there)->lock.request != request.id) return std::nullopt;
    kube::Inventory inventory = **std::move(there);
    change(inventory);
    inventory.lock = {};
    if (inventory.objects.empty()) {
      auto gone = client.remove(kube::inventory_ref(request.key()), {});
      if (!gone) return refusal_of("kubernetesFailed", gone.error());
      if (gone->failure && gone->status != 404) return Refusal{"kubernetesFailed", gone->failure->message};
      return std::nullopt;
    }
    auto refusal = put_back(client, request, inventory);
    if (!refusal || refusal->why != "busy") return refusal;
  }
  return Refusal{"busy", "the inventory of " + request.instance + " changes all the time"};
}

}  // namespace sluice::deploy::executor
