// Red is what keeps the environment itself from working; what concerns one deployment is yellow, so that the way to
// mend it stays open.
#include "deploy/views/doctor.h"

#include <algorithm>

#include "deploy/bundle_shelf.h"
#include "deploy/concepts/revision/lifecycle.h"
#include "deploy/packs.h"
#include "deploy/views/clock.h"
#include "deploy/views/documents.h"
#include "deploy/views/snapshot.h"
#include "deployment.gen.h"
#include "env.gen.h"
#include "revision.gen.h"
#include "traffic.gen.h"

namespace sluice::deploy::views {
namespace {

using Level = Finding::Level;

void examine_packs(const States& states, const env::EnvId& id, std::vector<Finding>& found) {
  auto packs = states.env().packs(id).values();
  for (const DefaultPack& each : default_packs()) {
    if (std::ranges::find(packs, each.slot, &env::EnvPack::slot) != packs.end()) continue;
    found.push_back({each.slot == "deployer" ? Level::red : Level::yellow,
                     "nothing serves the slot " + std::string(each.slot),
                     "sluice env-packs add " + id.text() + " " + std::string(each.kind)});
  }
  for (const env::EnvPack& each : packs) {
    auto descriptor = parse_descriptor(each.kind);
    const BuiltInPack* built_in = descriptor ? find_built_in(descriptor->path) : nullptr;
    if (built_in == nullptr) {
      found.push_back({each.slot == "deployer" ? Level::red : Level::yellow,
                       "this program has no pack " + each.kind + " for the slot " + each.slot,
                       "sluice env-packs update " + id.text() + " KIND --slot " + each.slot});
    } else if (!descriptor->version.starts_with(std::string(built_in->major) + ".")) {
      found.push_back({Level::yellow,
                       each.kind + " is of another version than this program's " + std::string(built_in->major) + ".x",
                       "sluice env-packs update " + id.text() + " KIND --slot " + each.slot});
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
                       "sluice traffic set " + environment + " --deployment " + id + " REVISION=100%"});
    }
  }
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
  if (record->revocation.required && record->revocation.listRef.empty()) {
    found.push_back({Level::red, "a revocation list is required, and there is none",
                     "sluice env update " + environment + " --revocation-list FILE"});
  }
  if (std::string trouble = pins_place(states, environment).trouble; !trouble.empty()) {
    found.push_back({Level::yellow, "session pins are to be in Redis, and are in the routers' memory alone: " + trouble,
                     "sluice config set " + environment + " redis_url=redis://HOST"});
  }
  examine_traffic(states, environment, found);
  for (const auto& each : live_revisions_in(states, environment)) {
    if (each.record.lifecycle != revision::RevisionLifecycle::failed) continue;
    found.push_back({Level::yellow,
                     each.record.bundle + "@" + std::to_string(each.record.sequence) +
                         " failed: " + each.record.failure.check + ": " + each.record.failure.message,
                     "sluice revisions retry " + environment + " " + each.id.text()});
  }
  return found;
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
                 "sluice env update " + environment + " --revocation-list FILE"};
}

}  // namespace sluice::deploy::views
