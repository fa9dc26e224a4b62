// Level-triggered: each look compares all that the clusters say with all that is committed.
#include "deploy/providers/runtime/k8s/k8s_watch.h"

#include <algorithm>
#include <set>

#include "base/thread_name.h"
#include "k8s_runtime.gen.h"

namespace sluice::deploy::k8s_runtime {
namespace {

constexpr int64_t kAgain_ms = 1'000;
constexpr int64_t kMostWait_ms = 30'000;
constexpr int64_t kBeforeOpening_ms = 2'000;  // a short command opens nothing

}  // namespace

K8sWatch::~K8sWatch() {
  for (auto& [place, each] : followed_) each->ends = true;
  for (auto& [place, each] : followed_) each->thread.join();
}

void K8sWatch::compare(const lang::Snapshot& committed, const Tell& tell) {
  lang::ReadOnlyRows rows(committed.rows_of("K8sRuntime"));
  const State state(rows);
  std::map<std::string, Known> known;
  for (const K8sRuntimeFound& each : state.all()) {
    if (each.record.running == 0 || each.record.busy) continue;
    Known one{.place = views::pod_place(committed, each.record.environment),
              .name = name_of(each.id.text(), each.record.running),
              .instance = each.record.instance};
    for (const K8sRuntimePod& pod : state.pods(each.id).values()) one.pods.push_back({pod.name, pod.endpoint});
    if (auto before = known_.find(each.id.text()); before != known_.end() && before->second.pods == one.pods) {
      one.not_before_ms = before->second.not_before_ms;
      one.wait_ms = before->second.wait_ms;
    }
    auto& followed = followed_[one.place];
    if (!followed) {
      followed = std::make_unique<Followed>();
      followed->thread = std::thread([this, place = one.place, &to = *followed] { follow(place, to); });
    }
    known.emplace(each.id.text(), std::move(one));
  }
  known_ = std::move(known);
  std::map<std::string, Account> accounts;
  for (const K8sRuntimeAFound& each : state.all_a()) {
    Account one{.place = views::pod_place(committed, each.id.text()),
                .handle = each.record.credential.handle(),
                .not_before_ms = now_ms() + kBeforeOpening_ms};
    if (!followed_.contains(one.place)) continue;
    if (auto before = accounts_.find(each.id.text());
        before != accounts_.end() && before->second.handle == one.handle) {
      one.not_before_ms = before->second.not_before_ms;
    }
    accounts.emplace(each.id.text(), std::move(one));
  }
  accounts_ = std::move(accounts);
  look(tell);
}

void K8sWatch::look(const Tell& tell) {
  const int64_t now = now_ms();
  for (auto& [environment, account] : accounts_) {
    if (now < account.not_before_ms || pods_.held(account.place) == account.handle) continue;
    account.not_before_ms = now + kMostWait_ms;
    tell("K8sRuntime/hold", {{"environment", environment}});
  }
  std::set<std::string> silent;
  for (auto& [service, known] : known_) {
    std::vector<Pod> ready;
    bool heard = false;  // of a cluster that is away nobody knows which pods are ready
    {
      Followed& followed = *followed_.at(known.place);
      std::lock_guard lock(followed.mutex);
      for (const auto& [name, slice] : followed.slices) {
        if (slice.first != known.name) continue;
        heard = true;
        ready.insert(ready.end(), slice.second.begin(), slice.second.end());
      }
    }
    if (heard && ready.empty()) silent.insert(known.instance);
    std::ranges::sort(ready, {}, &Pod::name);
    // While none is ready routers go on with what they know: they see themselves who answers.
    if (ready.empty() || ready == known.pods || now < known.not_before_ms) continue;
    known.wait_ms = std::clamp(known.wait_ms * 2, kAgain_ms, kMostWait_ms);
    known.not_before_ms = now + known.wait_ms;
    json::array replicas;
    for (const Pod& each : ready) replicas.push_back({{"name", each.name}, {"endpoint", each.endpoint}});
    tell("K8sRuntime/observe", {{"service", service}, {"replicas", replicas}});
  }
  for (const std::string& each : silence_.due(silent, now)) tell("Health/suspect", {{"instance", each}});
}

void K8sWatch::follow(const views::PodPlace& place, Followed& followed) {
  name_this_thread("pods");
  while (!followed.ends) {
    // A client of its own: a watch holds a connection for as long as it lasts.
    auto client = pods_.client_for(place);
    auto where = pods_.name_space(place);
    auto kind = client ? (*client)->kind_of("discovery.k8s.io/v1", "EndpointSlice") : client.error();
    if (client && where && kind) {
      (*client)->cancel_when([&] { return followed.ends.load(); });
      {
        std::lock_guard lock(followed.mutex);
        followed.slices.clear();
      }
      auto visit = [&](kube::Happened happened, const json::value& slice) {
        std::lock_guard lock(followed.mutex);
        const std::string name = kube::text_at(slice, {"metadata", "name"});
        if (happened == kube::Happened::deleted) {
          followed.slices.erase(name);
        } else {
          followed.slices[name] = {kube::text_at(slice, {"metadata", "labels", "kubernetes.io/service-name"}),
                                   ready_in(slice)};
        }
      };
      (void)(*client)->follow(*kind,
                              {.name_space = *where, .labels = std::string(kManagedBy) + "=" + std::string(kManager)},
                              visit, [&] { return followed.ends.load(); });
    }
    // A cluster that is away is asked again, and what was known of it stays.
    for (int64_t waited = 0; waited < kAgain_ms && !followed.ends; waited += 50) clock_.sleep_ms(50);
  }
}

}  // namespace sluice::deploy::k8s_runtime
