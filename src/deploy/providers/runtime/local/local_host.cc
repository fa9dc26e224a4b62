// Replicas are started all at once and waited for one after the other: together they take as long as the slowest.
#include "deploy/providers/runtime/local/local_host.h"

#include <algorithm>

#include "base/atomic_file.h"
#include "bundle/archive_reader.h"
#include "bundle/extract.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"
#include "process/port.h"

namespace sluice::deploy::local_runtime {
namespace {

constexpr size_t kMostManifestBytes = 1 << 20;
constexpr size_t kLastLines = 20;
constexpr size_t kChunkBytes = 1 << 20;
constexpr int64_t kMargin_ms = 30'000;  // beyond the time in which it must be healthy

process::HealthCheck health_of(const bundle::Health& health) {
  process::HealthCheck check{.by = process::HealthBy::http,
                             .path = health.path.text,
                             .command = health.command,
                             .interval_ms = health.interval.length.count(),
                             .timeout_ms = health.timeout.length.count(),
                             .start_within_ms = health.start_within.length.count(),
                             .healthy_after = health.healthy_after,
                             .unhealthy_after = health.unhealthy_after};
  if (health.by == bundle::HealthBy::tcp) check.by = process::HealthBy::tcp;
  if (health.by == bundle::HealthBy::command) check.by = process::HealthBy::command;
  return check;
}

Misfortune::Kind kind_of(process::Reason reason) {
  switch (reason) {
    case process::Reason::cannot_start:
      return Misfortune::Kind::cannot_start;
    case process::Reason::port_in_use:
      return Misfortune::Kind::port;
    case process::Reason::crash_loop:
      return Misfortune::Kind::crash_loop;
    case process::Reason::health_timeout:
      return Misfortune::Kind::health_timeout;
    case process::Reason::out_of_memory:
      return Misfortune::Kind::out_of_memory;
    case process::Reason::none:
      break;
  }
  return Misfortune::Kind::gone;
}

// The name of an archive's folder is that of its bytes: another archive at the same path is another bundle.
Result<std::string> digest_of_file(Disk& disk, const std::string& path) {
  auto file = disk.open(path, {});
  if (!file) return file.error();
  crypto::Sha256Stream digest;
  std::string chunk(kChunkBytes, '\0');
  for (uint64_t at = 0;; at += kChunkBytes) {
    auto got = (*file)->read_at(at, chunk);
    if (!got) return got.error();
    digest.update(std::string_view(chunk).substr(0, *got));
    if (*got < kChunkBytes) return crypto::to_hex(digest.finish());
  }
}

Misfortune of_home(const Error& error) { return {.kind = Misfortune::Kind::home, .reason = error.message}; }

}  // namespace

std::string name_of_replica(const std::string& deployment, int64_t number) {
  return deployment + "." + std::to_string(number);
}

Result<void> LocalHost::check_home() {
  for (const std::string& folder : {folder_of(place_.bundles), replicas_.folder(), place_.bundles}) {
    auto made = disk_.make_folder(folder, 0755);
    if (!made && made.error().code != Code::conflict) return made;
  }
  const std::string probe = replicas_.folder() + "/.probe";
  auto written = write_atomically(disk_, probe, "probe", 0600);
  if (!written) return written;
  return disk_.remove(probe);
}

Result<Bundle> LocalHost::open(const std::string& artifact) {
  std::string root = artifact;
  if (!root.starts_with('/')) {
    return Error{.code = Code::invalid, .message = "expected the absolute path of a bundle's folder or archive"};
  }
  auto stat = disk_.stat(artifact, FollowLinks::yes);
  if (!stat) return stat.error();
  if (stat->kind != FileKind::folder) {
    auto digest = digest_of_file(disk_, artifact);
    if (!digest) return digest.error();
    if (auto usable = check_home(); !usable) return usable.error();
    root = place_.bundles + "/" + *digest;
    auto there = disk_.exists(root);
    if (!there) return there.error();
    if (!*there) {
      auto reader = bundle::open_archive(disk_, artifact);
      if (!reader) return reader.error();
      auto unpacked = bundle::extract(disk_, **reader, root);
      if (!unpacked && unpacked.error().code != Code::conflict) return unpacked.error();
    }
  }
  const std::string path = root + "/" + std::string(bundle::kManifestName);
  auto text = read_file(disk_, path, kMostManifestBytes);
  if (!text) return text.error();
  auto manifest = bundle::parse_manifest(*text, path);
  if (!manifest) return manifest.error();
  if (manifest->run.empty()) {
    return Error{.code = Code::invalid, .message = "it is a container image, which does not run as a process"};
  }
  return Bundle{.root = root, .manifest = std::move(*manifest)};
}

process::Workload LocalHost::workload_of(const Bundle& bundle, std::optional<uint16_t> port) const {
  const bundle::Manifest& manifest = bundle.manifest;
  process::Workload workload{.argv = manifest.run, .root = bundle.root, .environment = manifest.env, .port = port};
  workload.secrets_as =
      manifest.secrets_as == bundle::SecretsAs::file ? process::SecretsAs::file : process::SecretsAs::env;
  workload.health = health_of(manifest.health);
  workload.limits = {.cpu = manifest.resources.cpu,
                     .memory_bytes = manifest.resources.memory.bytes,
                     .processes = manifest.resources.processes,
                     .files = manifest.resources.files};
  workload.user = manifest.user;
  workload.grace_ms = manifest.drain.length.count();
  workload.hidden = place_.home;
  return workload;
}

Result<uint16_t> LocalHost::port_of(const std::string& name, const Deployment& deployment, int64_t number) {
  if (deployment.port) return static_cast<uint16_t>(*deployment.port + number);
  // One that an attempt before has started keeps its port.
  auto found = replicas_.workload(name);
  if (found && found->port) return *found->port;
  return process::free_port();
}

std::variant<std::vector<Placed>, Misfortune> LocalHost::bring_up(const Bundle& bundle, const Deployment& deployment,
                                                                  const std::function<bool()>& cancelled) {
  if (auto usable = check_home(); !usable) return of_home(usable.error());
  std::vector<Placed> placed;
  std::vector<std::string> begun;
  auto undo = [&](Misfortune misfortune) -> std::variant<std::vector<Placed>, Misfortune> {
    (void)take_down(begun);
    return misfortune;
  };
  for (int64_t i = 0; i < deployment.replicas; ++i) {
    const std::string name = name_of_replica(deployment.name, i);
    std::optional<uint16_t> port;
    if (bundle.manifest.listen == bundle::Listen::port) {
      auto chosen = port_of(name, deployment, i);
      if (!chosen) return undo(of_home(chosen.error()));
      port = *chosen;
    }
    if (i >= deployment.kept) begun.push_back(name);
    auto started = replicas_.start(name, workload_of(bundle, port), {});
    if (!started && started.error().code == Code::invalid) {
      return undo({.kind = Misfortune::Kind::cannot_start, .replica = name, .reason = to_string(started.error())});
    }
    if (!started) return undo(of_home(started.error()));
    placed.push_back({.name = name,
                      .endpoint = port ? "http://127.0.0.1:" + std::to_string(*port)
                                       : "unix:" + replicas_.folder_of_replica(name) + "/run/socket",
                      .log = replicas_.folder_of_replica(name) + "/log"});
  }
  const int64_t within_ms = bundle.manifest.health.start_within.length.count() + kMargin_ms;
  for (size_t i = 0; i < placed.size(); ++i) {
    Placed& each = placed[i];
    auto state = replicas_.await(each.name, process::is_settled, within_ms, cancelled);
    if (state && !process::is_over(state->phase)) {
      each.pid = state->program ? state->program->pid : 0;
      continue;
    }
    Misfortune misfortune{
        .kind = Misfortune::Kind::gone, .replica = each.name, .reason = state ? state->message : state.error().message};
    if (state) misfortune.kind = kind_of(state->reason);
    if (auto workload = replicas_.workload(each.name); workload && workload->port) misfortune.port = *workload->port;
    if (auto lines = replicas_.last_lines(each.name, kLastLines)) {
      for (const process::LogLine& line : *lines) misfortune.last_lines.push_back(line.stream + " " + line.text);
    }
    return undo(std::move(misfortune));
  }
  return placed;
}

Result<void> LocalHost::take_down(const std::vector<std::string>& names) {
  Result<void> all;
  for (const std::string& name : names) {
    auto removed = replicas_.remove(name);
    if (!removed && all) all = removed;
  }
  return all;
}

Result<int64_t> LocalHost::slowest_us(const std::vector<std::string>& names) {
  int64_t slowest = 0;
  for (const std::string& name : names) {
    auto state = replicas_.look(name);
    if (!state) return state.error();
    if (!state->healthy) return Error{.code = Code::unavailable, .message = name + " " + state->message};
    slowest = std::max(slowest, state->latency_us);
  }
  return slowest;
}

}  // namespace sluice::deploy::local_runtime
