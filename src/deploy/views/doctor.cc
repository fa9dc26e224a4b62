// Red is what keeps the environment itself from working; what concerns one deployment is yellow, so that the way to
// mend it stays open.
#include "deploy/views/doctor.h"

#include <algorithm>
#include <boost/json.hpp>

#include "backup.gen.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "credentials.gen.h"
#include "deploy/bundle_shelf.h"
#include "deploy/cluster_rights.h"
#include "deploy/concepts/revision/lifecycle.h"
#include "deploy/packs.h"
#include "deploy/views/answers.h"
#include "deploy/views/clock.h"
#include "deploy/views/documents.h"
#include "deploy/views/names.h"
#include "deploy/views/snapshot.h"
#include "deployment.gen.h"
#include "env.gen.h"
#include "env_pack.gen.h"
#include "pack/pack_manifest.h"
#include "revision.gen.h"
#include "secret.gen.h"
#include "traffic.gen.h"

namespace sluice::deploy::views {
namespace {

using Level = Finding::Level;

// A pack that can serve the slot: the one that it has by default, where there is one.
std::string rebinding(const std::string& environment, const std::string& slot) {
  std::string next = "Env/rebind environment=" + environment + " slot=" + slot;
  for (const DefaultPack& each : default_packs()) {
    if (each.slot == slot) next += " kind=" + std::string(each.kind);
  }
  return next;
}

void examine_packs(const States& states, const env::EnvId& id, std::vector<Finding>& found) {
  auto packs = states.env().packs(id).values();
  for (const DefaultPack& each : default_packs()) {
    if (std::ranges::find(packs, each.slot, &env::EnvPack::slot) != packs.end()) continue;
    found.push_back(
        {each.slot == "deployer" ? Level::red : Level::yellow, "nothing serves the slot " + std::string(each.slot),
         "Env/bind environment=" + id.text() + " slot=" + std::string(each.slot) + " kind=" + std::string(each.kind)});
  }
  for (const env::EnvPack& each : packs) {
    auto descriptor = parse_descriptor(each.kind);
    const BuiltInPack* built_in = descriptor ? find_built_in(descriptor->path) : nullptr;
    if (built_in == nullptr && states.env_pack().has(env_pack::EnvPackId(each.kind))) continue;
    if (built_in == nullptr) {
      found.push_back({each.slot == "deployer" ? Level::red : Level::yellow,
                       "this program has no pack " + each.kind + " for the slot " + each.slot,
                       rebinding(id.text(), each.slot)});
    } else if (!descriptor->version.starts_with(std::string(built_in->major) + ".")) {
      found.push_back({Level::yellow,
                       each.kind + " is of another version than this program's " + std::string(built_in->major) + ".x",
                       rebinding(id.text(), each.slot)});
    }
  }
}

void examine_traffic(const States& states, const std::string& environment, std::vector<Finding>& found) {
  for (const auto& deployment : states.deployment().find_by_environment(environment)) {
    const std::string& id = deployment.id.text();
    for (const auto& each : states.traffic().entries(traffic::TrafficId(id)).values()) {
      auto record = states.revision().get(revision::RevisionId(each.revision));
      if (record && record->lifecycle == revision::RevisionLifecycle::ready) continue;
      found.push_back({Level::yellow,
                       deployment.record.bundle + " gives " + std::to_string(each.weightBps) + " bps to " +
                           each.revision + ", which is " +
                           std::string(record ? revision::name_of(record->lifecycle) : "gone"),
                       "give its share to a revision that is ready"});
    }
  }
}

// Whether a later version of the same deployment serves: then nobody needs this one any more.
bool is_outdated(const States& states, const revision::RevisionFound& found) {
  for (const auto& each : states.traffic().entries(traffic::TrafficId(found.record.deployment)).values()) {
    auto serves = states.revision().get(revision::RevisionId(each.revision));
    if (each.weightBps > 0 && serves && serves->sequence > found.record.sequence) return true;
  }
  return false;
}

// Programs that go on with older secrets, since a replica with newer ones did not become healthy.
void examine_renewals(const States& states, const std::string& environment, std::vector<Finding>& found) {
  for (const auto& each : live_revisions_in(states, environment)) {
    const auto renewal = states.secret().get(secret::SecretNId(each.id.text()));
    if (each.record.lifecycle != revision::RevisionLifecycle::ready || !renewal || !renewal->renewProblem) continue;
    std::string older = " runs with values that were discovered earlier", next = "report the discovered values again";
    for (const auto& has : states.revision().secret_versions(each.id).values()) {
      const auto known = states.secret().get(secret::SecretId(environment + "/" + has.name));
      if (!known || !known->version || *known->version == has.version) continue;
      older = " still has version " + has.version + " of " + has.name + ", not " + *known->version;
      next = "Secret/noticed name=" + has.name + " provider=" + known->provider + " environment=" + environment +
             " version=" + *known->version;
    }
    found.push_back({Level::yellow, name_of(each) + older + ": " + *renewal->renewProblem, std::move(next)});
  }
}

std::string lacking(const States& states, const std::string& environment) {
  std::string all;
  for (const auto& each : states.credentials().checks(credentials::CredentialsId(environment)).values()) {
    if (each.status == credentials::CredentialsStatus::fail) all += (all.empty() ? "" : ", ") + each.capability;
  }
  return all.empty() ? "something that it needs" : all;
}

}  // namespace

std::vector<Finding> examine(const lang::Snapshot& snapshot, const std::string& environment) {
  const States states(snapshot);
  std::vector<Finding> found;
  const env::EnvId id(environment);
  auto record = states.env().get(id);
  if (!record) return found;
  if (auto clock = clock_trouble(snapshot)) found.push_back({Level::yellow, clock->what, clock->next});
  examine_packs(states, id, found);
  if (auto looked = states.credentials().get(credentials::CredentialsId(environment));
      looked && looked->result == credentials::CredentialsResult::fail) {
    found.push_back({Level::red, "the deployer lacked " + lacking(states, environment) + " at its last check",
                     "Credentials/requirements environment=" + environment});
  }
  if (record->revocation.required && record->revocation.listRef.empty()) {
    found.push_back({Level::red, "a revocation list is required, and there is none",
                     "give " + environment + " a revocation list that can be read, or let it require none"});
  }
  if (std::string trouble = pins_place(states, environment).trouble; !trouble.empty()) {
    found.push_back({Level::yellow, "session pins are to be in Redis, and are in the routers' memory alone: " + trouble,
                     "set redis_url in the config of " + environment});
  }
  examine_traffic(states, environment, found);
  examine_renewals(states, environment, found);
  for (const auto& each : live_revisions_in(states, environment)) {
    if (each.record.lifecycle != revision::RevisionLifecycle::failed) continue;
    if (is_outdated(states, each)) continue;
    found.push_back({Level::yellow,
                     each.record.bundle + "@" + std::to_string(each.record.sequence) +
                         " failed: " + each.record.failure.check + ": " +
                         each.record.failure.message.substr(0, each.record.failure.message.find("; next: ")),
                     "Revision/retry revision=" + each.id.text()});
  }
  return found;
}

namespace {

// Whether a version is at least another, number by number.
bool is_at_least(std::string_view version, std::string_view wanted) {
  while (!wanted.empty()) {
    auto next = [](std::string_view& text) {
      size_t dot = std::min(text.find('.'), text.size());
      int64_t number = std::atoll(std::string(text.substr(0, dot)).c_str());
      text.remove_prefix(std::min(dot + 1, text.size()));
      return number;
    };
    int64_t has = next(version), needs = next(wanted);
    if (has != needs) return has > needs;
  }
  return true;
}

std::optional<Finding> examine_tool(const sluice::pack::NeededTool& tool, const std::string& kind,
                                    const PackHealth& packs) {
  ToolProbe probe = packs.probe({.name = tool.name, .hint = tool.install});
  if (!probe.found) return Finding{Level::red, kind + " needs " + tool.name + ", which is not on PATH", tool.install};
  if (!tool.version || is_at_least(probe.version, *tool.version)) return std::nullopt;
  return Finding{Level::red,
                 kind + " needs " + tool.name + " " + *tool.version + ", and " + probe.path + " is " +
                     (probe.version.empty() ? "of an unknown version" : probe.version),
                 tool.install};
}

}  // namespace

std::vector<Finding> examine_outside(const lang::Snapshot& snapshot, const std::string& environment,
                                     const PackHealth& packs) {
  const States states(snapshot);
  std::vector<Finding> found;
  for (const env::EnvPack& each : states.env().packs(env::EnvId(environment)).values()) {
    auto record = states.env_pack().get(env_pack::EnvPackId(each.kind));
    if (!record) continue;
    auto parsed = parse_json(record->tools);
    auto tools = parsed ? read<std::vector<sluice::pack::NeededTool>>(parsed->root) : parsed.error();
    for (const auto& tool : tools ? *tools : std::vector<sluice::pack::NeededTool>()) {
      if (auto wrong = examine_tool(tool, each.kind, packs)) found.push_back(*std::move(wrong));
    }
    if (std::string wrong = packs.health(each.kind); !wrong.empty()) {
      found.push_back({each.slot == "deployer" ? Level::red : Level::yellow, each.kind + " is not well: " + wrong,
                       "Env/rollback environment=" + environment + " slot=" + each.slot});
    }
  }
  return found;
}

std::optional<Finding> examine_pods(const lang::Snapshot& snapshot, const std::string& environment,
                                    const ClusterRights& cluster) {
  auto record = States(snapshot).env().get(env::EnvId(environment));
  if (!record || record->runtimeType != "k8s") return std::nullopt;
  auto reached = cluster.reach_a_pod(pod_place(snapshot, environment), "");
  // A cluster that is away, or says nothing of its pods, is what the deployer's requirements are about.
  if (reached || reached.error().code != Code::unavailable) return std::nullopt;
  return Finding{Level::red, reached.error().message,
                 "run the router of " + environment + " on a node, in the cluster, or in a network that routes to it"};
}

std::optional<std::string> revocation_list(const lang::Snapshot& snapshot, const std::string& environment) {
  auto record = States(snapshot).env().get(env::EnvId(environment));
  if (!record || record->revocation.listRef.empty()) return std::nullopt;
  return record->revocation.listRef;
}

// Nothing can be staged or warmed with a list that cannot be read, whether it is required or not.
std::optional<Finding> examine_list(Disk& disk, const std::string& environment, const std::string& file) {
  auto read = revoked_by(disk, file, "", "");
  if (read) return std::nullopt;
  return Finding{Level::red, "the revocation list cannot be read: " + to_string(read.error()),
                 "give " + environment + " a revocation list that can be read, or let it require none"};
}

std::vector<Finding> examine_all(const lang::Snapshot& snapshot, const std::function<Disk&()>& disk,
                                 const std::string& environment) {
  std::vector<Finding> found = examine(snapshot, environment);
  if (auto list = revocation_list(snapshot, environment)) {
    if (auto wrong = examine_list(disk(), environment, *list)) found.push_back(*std::move(wrong));
  }
  for (const PackAnswers& each : pack_answers(snapshot, environment)) {
    if (auto wrong = examine_answers(disk(), environment, each)) found.push_back(*std::move(wrong));
  }
  return found;
}

namespace {

constexpr int64_t kDay_ms = int64_t{24} * 3'600 * 1'000;
constexpr int64_t kOldBackup_days = 7;
constexpr int64_t kOldDrill_days = 30;

int64_t days_since(int64_t at_ms, int64_t now_ms) { return std::max<int64_t>(0, now_ms - at_ms) / kDay_ms; }

}  // namespace

std::vector<Finding> examine_backups(const lang::Snapshot& snapshot, int64_t now_ms) {
  lang::ReadOnlyRows rows(snapshot.rows_of("Backup"));
  const backup::State state(rows);
  const auto whole = state.whole();
  std::vector<Finding> found;
  std::optional<int64_t> newest_ms;
  for (const auto& [unused, record] : state.all()) newest_ms = std::max(newest_ms.value_or(0), record.madeAt.ms);
  if (!whole.trouble.empty()) {
    found.push_back({Level::yellow,
                     "nothing has been archived since " + utc_text(whole.troubleAt ? whole.troubleAt->ms : now_ms) +
                         ": " + whole.trouble,
                     "make room in " + whole.place + ", or make it writable; the archive then goes on by itself"});
  }
  if (!newest_ms) {
    if (!whole.place.empty() && whole.trouble.empty()) {
      found.push_back({Level::yellow, "there is no backup of the control plane yet", "Backup/create"});
    }
    return found;
  }
  if (const int64_t days = days_since(*newest_ms, now_ms); days >= kOldBackup_days) {
    found.push_back({Level::yellow, "the newest backup of the control plane is " + std::to_string(days) + " days old",
                     "Backup/create"});
  }
  if (!whole.drillProblem.empty()) {
    found.push_back({Level::yellow, "the last drill of a backup failed: " + whole.drillProblem, "Backup/create"});
  } else if (!whole.drilledAt) {
    found.push_back({Level::yellow, "no backup has been restored for a trial yet", "Backup/drill"});
  } else if (const int64_t days = days_since(whole.drilledAt->ms, now_ms); days >= kOldDrill_days) {
    found.push_back(
        {Level::yellow, "the last drill of a backup was " + std::to_string(days) + " days ago", "Backup/drill"});
  }
  return found;
}

std::optional<Finding> examine_expiry(const lang::Snapshot& snapshot, const std::string& environment, int64_t now_ms) {
  auto looked = States(snapshot).credentials().get(credentials::CredentialsId(environment));
  if (!looked || !looked->rotateAt || !looked->expiresAt || now_ms < looked->rotateAt->ms) return std::nullopt;
  const bool over = now_ms >= looked->expiresAt->ms;
  return Finding{over ? Finding::Level::red : Finding::Level::yellow,
                 std::string("the credential that the deployer uses ") + (over ? "has expired at " : "expires at ") +
                     utc_text(looked->expiresAt->ms),
                 // What has expired cannot renew itself.
                 over ? "have an administrator make a new one" : "Credentials/rotate environment=" + environment};
}

HealthNow health_of(const std::vector<Finding>& findings) {
  HealthNow health = HealthNow::green;
  for (const Finding& each : findings) {
    health = std::max(health, each.level == Finding::Level::red ? HealthNow::red : HealthNow::yellow);
  }
  return health;
}

}  // namespace sluice::deploy::views
