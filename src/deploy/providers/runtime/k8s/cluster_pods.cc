// Applying is repeatable, and so is waiting: each look asks for all that decides, the endpoints and the pods.
#include "deploy/providers/runtime/k8s/cluster_pods.h"

#include <algorithm>

#include "bundle/archive/archive_reader.h"
#include "bundle/archive/inspect.h"
#include "bundle/manifest/image_lock.h"
#include "deploy/executor/exec_plugin.h"
#include "http/outgoing.h"
#include "http/socket.h"
#include "kube/readiness.h"
#include "oci/reference.h"

namespace sluice::deploy::k8s_runtime {
namespace {

constexpr int64_t kLook_ms = 200;
constexpr int64_t kPatience_ms = 10'000;
constexpr int kLogLines = 20;
constexpr size_t kMostTried = 3;

const std::vector<std::pair<std::string, std::string>> kKinds = {
    {"v1", "Service"}, {"apps/v1", "Deployment"}, {"v1", "ConfigMap"}, {"v1", "Secret"}};

std::string labels_of(const std::string& service, int64_t serial = 0) {
  std::string labels = std::string(kInstanceLabel) + "=" + service;
  if (serial > 0) labels += ",sluice.dev/serial=" + std::to_string(serial);
  return labels;
}

Result<std::string> text_in(Disk& disk, const std::string& archive, std::string_view name, size_t most) {
  auto reader = bundle::open_archive(disk, archive);
  if (!reader) return reader.error();
  for (;;) {
    auto entry = (*reader)->next();
    if (!entry) return entry.error();
    if (!*entry) return Error{.code = Code::not_found, .message = "it has no " + std::string(name)};
    if ((*entry)->path != name) continue;
    std::string text;
    for (;;) {
      auto piece = (*reader)->read();
      if (!piece) return piece.error();
      if (piece->empty()) return text;
      text += *piece;
      if (text.size() > most) return Error{.code = Code::limit, .message = std::string(name) + " is too large"};
    }
  }
}

Misfortune of_failure(const kube::Failure& failure, const std::string& doing) {
  Misfortune misfortune{.kind = Misfortune::Kind::refused, .reason = doing + ": " + failure.message};
  if (failure.status == 403 && failure.message.find("exceeded quota") != std::string::npos) {
    misfortune.kind = Misfortune::Kind::quota;
  }
  if (failure.status >= 500 || failure.status == 429) misfortune.kind = Misfortune::Kind::unavailable;
  return misfortune;
}

std::string waiting_reason(const json::value& pod, std::string& message) {
  for (const json::value& each : kube::list_at(pod, {"status", "containerStatuses"})) {
    message = kube::text_at(each, {"state", "waiting", "message"});
    if (std::string reason = kube::text_at(each, {"state", "waiting", "reason"}); !reason.empty()) return reason;
  }
  return "";
}

}  // namespace

std::vector<Pod> ready_in(const json::value& slice) {
  std::vector<Pod> pods;
  const json::array& ports = kube::list_at(slice, {"ports"});
  if (ports.empty()) return pods;
  const std::string port = std::to_string(kube::number_at(ports.front(), {"port"}));
  for (const json::value& each : kube::list_at(slice, {"endpoints"})) {
    const json::array& addresses = kube::list_at(each, {"addresses"});
    if (!kube::flag_at(each, {"conditions", "ready"}) || addresses.empty()) continue;
    const std::string address(addresses.front().as_string());
    const bool v6 = address.find(':') != std::string::npos;
    pods.push_back({.name = kube::text_at(each, {"targetRef", "name"}),
                    .endpoint = "http://" + (v6 ? "[" + address + "]" : address) + ":" + port});
  }
  std::ranges::sort(pods, {}, &Pod::name);
  return pods;
}

void ClusterPods::hold(const views::PodPlace& place, const PodCredential& credential) {
  std::lock_guard lock(mutex_);
  PodCredential& before = held_[place];
  if (before.handle == credential.handle) return;
  before = credential;
  clients_.erase(place);
}

std::string ClusterPods::held(const views::PodPlace& place) {
  std::lock_guard lock(mutex_);
  auto found = held_.find(place);
  return found == held_.end() ? "" : found->second.handle;
}

Result<std::shared_ptr<kube::Client>> ClusterPods::client(const views::PodPlace& place) {
  std::lock_guard lock(mutex_);
  auto& kept = clients_[place];
  if (kept) return kept;
  auto made = client_with(place.context, held_[place].token);
  if (!made) return made.error();
  kept = *std::move(made);
  return kept;
}

Result<std::unique_ptr<kube::Client>> ClusterPods::client_for(const views::PodPlace& place) {
  std::string token;
  {
    std::lock_guard lock(mutex_);
    token = held_[place].token;
  }
  return client_with(place.context, token);
}

Result<std::unique_ptr<kube::Client>> ClusterPods::client_with(const std::string& context, const std::string& token) {
  auto access = kube::find_access(disk_, variables_, context);
  if (!access) return access.error();
  if (!token.empty()) {
    access->token = token;
    access->token_file.clear();
    access->basic.clear();
    access->exec.reset();
    access->tls.chain_pem.clear();
    access->tls.key_pem.clear();
  }
  return std::make_unique<kube::Client>(*std::move(access), disk_, clock_, executor::plugin_runner(runner_),
                                        kPatience_ms);
}

Result<std::string> ClusterPods::name_space(const views::PodPlace& place) {
  if (!place.name_space.empty()) return place.name_space;
  auto found = client(place);
  if (!found) return found.error();
  return (*found)->access().name_space;
}

Result<PodBundle> ClusterPods::open(const std::string& artifact) {
  auto inspected = bundle::inspect_archive(disk_, artifact);
  if (!inspected) return inspected.error();
  auto manifest = bundle::manifest_of(*inspected, artifact);
  if (!manifest) return manifest.error();
  auto refused = [](const std::string& why) { return Error{.code = Code::invalid, .message = why}; };
  if (!manifest->image) return refused("a cluster runs images, and the bundle has none");
  if (bundle::is_layout(*manifest->image))
    return refused("its image is a folder, and a cluster takes images of registries");
  if (manifest->listen != bundle::Listen::port) return refused("it listens on a Unix socket, which pods do not share");
  if (!manifest->storage.empty()) return refused("it wants storage, and pods have none that outlives them");
  auto text = text_in(disk_, artifact, bundle::kImageLockName, bundle::kMaxImageLockBytes);
  if (!text) return refused("it has no image.lock.json, which says what " + *manifest->image + " is");
  auto lock = bundle::parse_image_lock(*text);
  if (!lock) return lock.error();
  if (lock->reference != *manifest->image) {
    return refused("image.lock.json is of " + lock->reference + ", not of " + *manifest->image);
  }
  auto reference = oci::parse_reference(*manifest->image);
  if (!reference) return reference.error();
  return PodBundle{.manifest = *std::move(manifest),
                   .image = reference->host + "/" + reference->repository + "@" + lock->digest,
                   .hash = "sha256:" + inspected->archive_sha256};
}

std::variant<std::vector<Pod>, Misfortune> ClusterPods::bring_up(const views::PodPlace& place, const PodPlan& plan,
                                                                 const std::function<bool()>& cancelled) {
  auto found = client(place);
  if (!found) return Misfortune{.kind = Misfortune::Kind::unavailable, .reason = to_string(found.error())};
  auto where = name_space(place);
  if (!where) return Misfortune{.kind = Misfortune::Kind::unavailable, .reason = to_string(where.error())};
  PodPlan placed = plan;
  placed.name_space = *where;
  for (const json::value& object : objects_of(placed)) {
    auto reply = (*found)->apply(object, {.manager = std::string(kManager), .force = true});
    if (!reply) return Misfortune{.kind = Misfortune::Kind::unavailable, .reason = to_string(reply.error())};
    if (reply->failure) return of_failure(*reply->failure, kube::to_string(kube::ref_of(object)));
  }
  return await(place, plan.service, plan.serial, plan.replicas, plan.manifest.health.start_within.length.count(),
               cancelled);
}

std::variant<std::vector<Pod>, Misfortune> ClusterPods::await(const views::PodPlace& place, const std::string& service,
                                                              int64_t serial, int64_t replicas, int64_t within_ms,
                                                              const std::function<bool()>& cancelled) {
  auto unavailable = [](const Error& error) {
    return Misfortune{.kind = Misfortune::Kind::unavailable, .reason = to_string(error)};
  };
  auto found = client(place);
  if (!found) return unavailable(found.error());
  auto where = name_space(place);
  if (!where) return unavailable(where.error());
  const int64_t until_ns = clock_.monotonic_ns() + within_ms * 1'000'000;
  for (;;) {
    auto pods = ready_pods(**found, *where, name_of(service, serial));
    if (!pods) return unavailable(pods.error());
    const int64_t now_ns = clock_.monotonic_ns();
    if (static_cast<int64_t>(pods->size()) == replicas) {
      for (const Pod& each : *pods) {
        auto url = http::parse_url(each.endpoint);
        auto connected = url ? http::connect_host(url->host, url->port) : url.error();
        if (!connected) {
          return Misfortune{.kind = Misfortune::Kind::unreachable,
                            .pod = each.name,
                            .reason = "the router cannot connect to " + each.endpoint + ": " +
                                      connected.error().message +
                                      "; it must run where the addresses of pods can be reached"};
        }
      }
      return *pods;
    }
    // A cluster that has no room may be getting another node.
    if (auto why = trouble(**found, *where, service, serial, now_ns > until_ns)) return *why;
    if (cancelled()) return Misfortune{.kind = Misfortune::Kind::cancelled, .reason = "it was cancelled"};
    if (now_ns > until_ns) {
      Misfortune late{.kind = Misfortune::Kind::not_ready,
                      .reason = std::to_string(pods->size()) + " of " + std::to_string(replicas) +
                                " pods were ready after " + std::to_string(within_ms / 1000) + " s"};
      auto kind = (*found)->kind_of("v1", "Pod");
      auto all =
          kind ? (*found)->list(*kind, {.name_space = *where, .labels = labels_of(service, serial)}) : kind.error();
      for (size_t i = 0; all && i < all->items.size() && late.pod.empty(); ++i) {
        const std::string name = kube::text_at(all->items[i], {"metadata", "name"});
        if (std::ranges::count(*pods, name, &Pod::name) > 0) continue;
        late.pod = name;
        late.last_lines = last_lines(**found, *where, name);
        if (auto said = kube::pod_trouble(all->items[i]); !said.reason.empty()) late.reason += ": " + said.reason;
      }
      return late;
    }
    clock_.sleep_ms(kLook_ms);
  }
}

Result<std::vector<Pod>> ClusterPods::ready_pods(kube::Client& client, const std::string& name_space,
                                                 const std::string& name) {
  auto kind = client.kind_of("discovery.k8s.io/v1", "EndpointSlice");
  if (!kind) return kind.error();
  auto slices = client.list(*kind, {.name_space = name_space, .labels = "kubernetes.io/service-name=" + name});
  if (!slices) return slices.error();
  std::vector<Pod> pods;
  for (const json::value& each : slices->items) {
    for (Pod& pod : ready_in(each)) pods.push_back(std::move(pod));
  }
  std::ranges::sort(pods, {}, &Pod::name);
  return pods;
}

// What will not become better by waiting.
std::optional<Misfortune> ClusterPods::trouble(kube::Client& client, const std::string& name_space,
                                               const std::string& service, int64_t serial, bool is_late) {
  auto kind = client.kind_of("v1", "Pod");
  auto pods =
      kind ? client.list(*kind, {.name_space = name_space, .labels = labels_of(service, serial)}) : kind.error();
  if (!pods) return std::nullopt;
  for (const json::value& pod : pods->items) {
    const std::string name = kube::text_at(pod, {"metadata", "name"});
    std::string message;
    const std::string reason = waiting_reason(pod, message);
    if (reason == "CrashLoopBackOff") {
      return Misfortune{.kind = Misfortune::Kind::crash_loop,
                        .pod = name,
                        .reason = "pod " + name + " ends as soon as it has started: " + message,
                        .last_lines = last_lines(client, name_space, name)};
    }
    if (reason == "ErrImagePull" || reason == "ImagePullBackOff" || reason == "InvalidImageName" ||
        reason == "ErrImageNeverPull") {
      return Misfortune{.kind = Misfortune::Kind::image, .pod = name, .reason = reason + ": " + message};
    }
    const json::value& scheduled = kube::condition(pod, "PodScheduled");
    if (is_late && kube::text_at(scheduled, {"reason"}) == "Unschedulable") {
      return Misfortune{
          .kind = Misfortune::Kind::unschedulable, .pod = name, .reason = kube::text_at(scheduled, {"message"})};
    }
  }
  auto deployment = client.get(
      {.api_version = "apps/v1", .kind = "Deployment", .name_space = name_space, .name = name_of(service, serial)});
  if (!deployment || deployment->failure) return std::nullopt;
  const json::value& failure = kube::condition(deployment->body, "ReplicaFailure");
  if (kube::text_at(failure, {"status"}) != "True") return std::nullopt;
  const std::string message = kube::text_at(failure, {"message"});
  const bool quota = message.find("exceeded quota") != std::string::npos;
  return Misfortune{.kind = quota ? Misfortune::Kind::quota : Misfortune::Kind::refused, .reason = message};
}

std::vector<std::string> ClusterPods::last_lines(kube::Client& client, const std::string& name_space,
                                                 const std::string& pod) {
  auto said = client.logs(name_space, pod, "app", kLogLines, true);
  if (!said) said = client.logs(name_space, pod, "app", kLogLines, false);
  std::vector<std::string> lines;
  if (!said) return lines;
  for (size_t begin = 0; begin < said->size();) {
    const size_t end = std::min(said->find('\n', begin), said->size());
    lines.push_back(said->substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

Result<void> ClusterPods::take_down(const views::PodPlace& place, const std::string& service, int64_t kept) {
  return remove_selected(place, labels_of(service) + (kept > 0 ? ",sluice.dev/serial!=" + std::to_string(kept) : ""));
}

Result<void> ClusterPods::take_down_one(const views::PodPlace& place, const std::string& service, int64_t serial) {
  return remove_selected(place, labels_of(service, serial));
}

Result<void> ClusterPods::remove_selected(const views::PodPlace& place, const std::string& labels) {
  auto found = client(place);
  if (!found) return found.error();
  auto where = name_space(place);
  if (!where) return where.error();
  for (const auto& [version, name] : kKinds) {
    auto kind = (*found)->kind_of(version, name);
    if (!kind) return kind.error();
    auto listed = (*found)->list(*kind, {.name_space = *where, .labels = labels, .metadata_only = true});
    if (!listed) return listed.error();
    for (const json::value& each : listed->items) {
      const kube::ObjectRef ref{.api_version = version,
                                .kind = name,
                                .name_space = *where,
                                .name = kube::text_at(each, {"metadata", "name"})};
      auto removed = (*found)->remove(ref, {.uid = kube::text_at(each, {"metadata", "uid"})});
      if (!removed) return removed.error();
      // Another object of that name is none of ours.
      if (removed->failure && removed->failure->status != 404 && removed->failure->status != 409) {
        return removed->failure->error("remove " + kube::to_string(ref));
      }
    }
  }
  return {};
}

Result<void> ClusterPods::resize(const views::PodPlace& place, const std::string& service, int64_t serial,
                                 int64_t replicas) {
  auto found = client(place);
  if (!found) return found.error();
  auto where = name_space(place);
  if (!where) return where.error();
  const kube::ObjectRef ref{
      .api_version = "apps/v1", .kind = "Deployment", .name_space = *where, .name = name_of(service, serial)};
  auto live = (*found)->get(ref);
  if (!live) return live.error();
  if (live->failure) return live->failure->error("read " + kube::to_string(ref));
  json::value changed = live->body;
  changed.as_object()["spec"].as_object()["replicas"] = replicas;
  auto reply = (*found)->replace(changed, std::string(kManager));
  if (!reply) return reply.error();
  if (reply->failure) return reply->failure->error("change " + kube::to_string(ref));
  return {};
}

Result<int64_t> ClusterPods::reach(const views::PodPlace& place, const std::string& service, int64_t serial,
                                   int64_t replicas) {
  auto found = client(place);
  if (!found) return found.error();
  auto where = name_space(place);
  if (!where) return where.error();
  auto pods = ready_pods(**found, *where, name_of(service, serial));
  if (!pods) return pods.error();
  if (static_cast<int64_t>(pods->size()) < replicas) {
    return Error{.code = Code::unavailable,
                 .message = std::to_string(pods->size()) + " of " + std::to_string(replicas) + " pods are ready"};
  }
  int64_t slowest_us = 0;
  for (const Pod& each : *pods) {
    const int64_t begun_ns = clock_.monotonic_ns();
    auto url = http::parse_url(each.endpoint);
    if (!url) return url.error();
    if (auto connected = http::connect_host(url->host, url->port); !connected) return connected.error();
    slowest_us = std::max(slowest_us, (clock_.monotonic_ns() - begun_ns) / 1000);
  }
  return slowest_us;
}

ClusterRights rights_of(ClusterPods& pods) {
  ClusterRights rights;
  rights.name_space = [&pods](const views::PodPlace& place) { return pods.name_space(place); };
  rights.may = [&pods](const views::PodPlace& place, const std::string& token,
                       const kube::Review& review) -> Result<bool> {
    auto client = pods.client_with(place.context, token);
    if (!client) return client.error();
    return (*client)->may(review);
  };
  rights.apply = [&pods](const views::PodPlace& place, const std::string& token,
                         const json::value& object) -> Result<void> {
    auto client = pods.client_with(place.context, token);
    if (!client) return client.error();
    auto reply = (*client)->apply(object, {.manager = std::string(kManager), .force = true});
    if (!reply) return reply.error();
    if (reply->failure) return reply->failure->error("apply " + kube::to_string(kube::ref_of(object)));
    return {};
  };
  rights.request_token = [&pods](const views::PodPlace& place, const std::string& token, const std::string& account,
                                 int64_t seconds) -> Result<MintedToken> {
    auto client = pods.client_with(place.context, token);
    if (!client) return client.error();
    auto where = pods.name_space(place);
    if (!where) return where.error();
    auto made = (*client)->request_token(*where, account, seconds);
    if (!made) return made.error();
    const int64_t left_s = (made->until_ms - pods.clock().wall_ms()) / 1000;
    return MintedToken{.token = made->token,
                       .seconds = made->until_ms == 0 ? seconds : std::clamp<int64_t>(left_s, 1, seconds)};
  };
  rights.reach_a_pod = [&pods](const views::PodPlace& place, const std::string& token) -> Result<void> {
    auto client = token.empty() ? pods.client_for(place) : pods.client_with(place.context, token);
    if (!client) return client.error();
    auto where = pods.name_space(place);
    if (!where) return where.error();
    auto kind = (*client)->kind_of("discovery.k8s.io/v1", "EndpointSlice");
    auto slices = kind ? (*client)->list(*kind, {.name_space = *where}) : kind.error();
    // That nobody can say is no reason to say that it is out of reach.
    if (!slices) return Error{.code = Code::failed, .message = to_string(slices.error())};
    std::vector<Pod> ready;
    for (const json::value& each : slices->items) {
      for (Pod& pod : ready_in(each)) ready.push_back(std::move(pod));
    }
    if (ready.empty()) return Error{.code = Code::not_found, .message = "no pod is ready in namespace " + *where};
    std::string why;
    for (size_t i = 0; i < std::min(ready.size(), kMostTried); ++i) {
      auto url = http::parse_url(ready[i].endpoint);
      auto connected = url ? http::connect_host(url->host, url->port) : url.error();
      if (connected) return {};
      why = connected.error().message;
    }
    return Error{.code = Code::unavailable, .message = "the router cannot connect to pods: " + why};
  };
  return rights;
}

}  // namespace sluice::deploy::k8s_runtime
