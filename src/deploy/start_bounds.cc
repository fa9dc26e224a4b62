// Whatever cannot be read here is a reason not to start.
#include "deploy/start_bounds.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/real_disk.h"
#include "bundle/archive/pack.h"
#include "bundle/manifest/manifest.h"
#include "crypto/ed25519.h"
#include "router/table/bounds.h"

namespace sluice::deploy {
namespace start_bounds {

constexpr std::string_view kFolder = "/etc/sluice/bounds";
constexpr std::string_view kKey = ".pub";
constexpr size_t kMostKeyBytes = 16 << 10;

Error denied(const std::string& why) {
  return {.code = Code::denied,
          .message = "it is not started: " + why,
          .next = "widen the operator's bounds and sign them"};
}

// Everything below a folder that a tree consists of: files, symlinks, and folders that are empty.
Result<void> walk(Disk& disk, const std::string& root, const std::string& below, std::vector<std::string>& paths) {
  auto entries = disk.list(below.empty() ? root : root + "/" + below);
  if (!entries) return entries.error();
  if (entries->empty() && !below.empty()) paths.push_back(below);
  for (const FolderEntry& each : *entries) {
    const std::string path = below.empty() ? each.name : below + "/" + each.name;
    if (each.kind != FileKind::folder) {
      paths.push_back(path);
      continue;
    }
    if (auto walked = walk(disk, root, path, paths); !walked) return walked;
  }
  return {};
}

Result<::sluice::router::StartingRevision> look_at(Disk& disk, const process::Workload& workload) {
  std::vector<std::string> paths;
  if (auto walked = walk(disk, workload.root, "", paths); !walked) return walked.error();
  auto tree = bundle::tree_of_folder(disk, workload.root, std::move(paths));
  if (!tree) return tree.error();
  const std::string file = workload.root + "/" + std::string(bundle::kManifestName);
  auto text = read_file(disk, file, bundle::kMaxManifestBytes);
  if (!text) return text.error();
  auto manifest = bundle::parse_manifest(*text, file);
  if (!manifest) return manifest.error();
  return ::sluice::router::StartingRevision{.bundle = manifest->name.text,
                                            .deployment = workload.bound->deployment,
                                            .digest = "sha256:" + tree->digest(),
                                            .statement = workload.bound->statement};
}

}  // namespace start_bounds

std::string start_bounds_folder(const Variables& variables) {
  return variables("SLUICE_BOUNDS").value_or(std::string(start_bounds::kFolder));
}

Result<void> check_start(Disk& disk, const process::Workload& workload, bool again, int64_t now_ms) {
  using start_bounds::denied;
  if (!workload.bound) return {};
  const process::StartBound& bound = *workload.bound;
  auto entries = disk.list(bound.folder);
  if (!entries && entries.error().code == Code::not_found) return {};
  if (!entries) return denied(entries.error().message);
  const auto is_there = [&](const std::string& name) {
    return std::ranges::any_of(*entries, [&](const FolderEntry& each) { return each.name == name; });
  };
  if (std::ranges::none_of(*entries, [](const FolderEntry& each) { return each.name.ends_with(start_bounds::kKey); }))
    return {};
  if (bound.environment.empty() || !is_there(bound.environment + std::string(start_bounds::kKey))) {
    return denied((bound.environment.empty() ? "it is of no environment" : bound.environment + " has no bounds") +
                  ", and this machine starts only what " + bound.folder + " allows");
  }
  const std::string place = bound.folder + "/" + bound.environment;
  auto pem = read_file(disk, place + std::string(start_bounds::kKey), start_bounds::kMostKeyBytes);
  if (!pem) return denied(pem.error().message);
  auto key = crypto::PublicKey::from_pem(*pem);
  if (!key) return denied(place + std::string(start_bounds::kKey) + ": " + key.error().message);
  auto text = read_file(disk, place + ".json", ::sluice::router::kMaxBoundsBytes);
  if (!text) return denied(text.error().message);
  auto bounds = ::sluice::router::read_bounds(*text, std::span(&*key, 1));
  if (!bounds) return denied(place + ".json: " + bounds.error().message);
  if (bounds->bounds.document().environment != bound.environment)
    return denied(place + ".json is of the environment " + bounds->bounds.document().environment);
  if (!again && bounds->bounds.has_expired(now_ms))
    return denied("the operator's bounds expired at " + *bounds->bounds.document().expires_at);
  auto revision = start_bounds::look_at(disk, workload);
  if (!revision) return denied(revision.error().message);
  if (auto why = bounds->bounds.breach(*revision)) return denied(*why);
  return {};
}

Result<void> may_start(const process::Workload& workload, bool again) {
  RealDisk disk;
  return check_start(disk, workload, again, RealClock().wall_ms());
}

}  // namespace sluice::deploy
