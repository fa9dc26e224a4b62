// Replicas are started all at once and waited for one after the other: together they take as long as the slowest.
#include "deploy/providers/runtime/local/local_host.h"

#include <algorithm>
#include <filesystem>

#include "base/ascii.h"
#include "base/atomic_file.h"
#include "base/json.h"
#include "bundle/archive/archive_reader.h"
#include "bundle/archive/extract.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"
#include "deploy/run_settings.h"
#include "deploy/stored_data.h"
#include "deploy/views/port_range.h"
#include "deploy/views/workload_address.h"
#include "process/port.h"
#include "process/probe.h"
#include "process/replica_files.h"

namespace sluice::deploy::local_runtime {
namespace {

constexpr std::string_view kHashPrefix = "sha256:";
constexpr std::string_view kGoing = ".going";  // of a folder that is being removed
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

bundle::Health health_in(const bundle::Manifest& manifest, const Given& given) {
  if (!given.health) return manifest.health;
  auto said = parse_json(*given.health, "health");
  auto health = said ? health_over(manifest.health, said->root) : said.error();
  return health ? *health : manifest.health;  // what was provisioned is sound
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
    case process::Reason::no_engine:
      return Misfortune::Kind::no_engine;
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

Misfortune::Kind kind_of(ImageTrouble::Kind kind) {
  switch (kind) {
    case ImageTrouble::Kind::not_found:
      return Misfortune::Kind::image_not_found;
    case ImageTrouble::Kind::denied:
      return Misfortune::Kind::registry_denied;
    case ImageTrouble::Kind::pull_failed:
      return Misfortune::Kind::pull_failed;
    case ImageTrouble::Kind::platform:
      return Misfortune::Kind::platform_missing;
    case ImageTrouble::Kind::bundle:
      return Misfortune::Kind::cannot_start;
    case ImageTrouble::Kind::engine:
      break;
  }
  return Misfortune::Kind::no_engine;
}

std::string variable_in(const Given& given, const std::string& name) {
  auto found = given.variables.find(name);
  return found == given.variables.end() ? "" : found->second;
}

std::string small(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

// The bundle's user if it names one, else the image's unless that is root.
std::string container_user(const bundle::Manifest& manifest, const std::string& image_user) {
  auto both = [](uint32_t number) { return std::to_string(number) + ":" + std::to_string(number); };
  if (manifest.user) return both(*manifest.user);
  const std::string name = image_user.substr(0, image_user.find(':'));
  return name.empty() || name == "0" || name == "root" ? both(bundle::kDefaultUser) : image_user;
}

uint32_t number_of_user(const std::string& user) {
  const std::string name = user.substr(0, user.find(':'));
  if (name.empty() || !std::ranges::all_of(name, is_digit) || name.size() > 9) return bundle::kDefaultUser;
  return static_cast<uint32_t>(std::stoul(name));
}

std::string name_in(const Deployment& deployment, int64_t number) {
  const auto index = static_cast<size_t>(number);
  return index < deployment.names.size() ? deployment.names[index] : name_of_replica(deployment.name, number);
}

Misfortune of_home(const Error& error) { return {.kind = Misfortune::Kind::home, .reason = error.message}; }

}  // namespace

std::string name_of_replica(const std::string& deployment, int64_t number) {
  return deployment + "." + std::to_string(number);
}

std::string service_of_replica(const std::string& name) { return name.substr(0, name.find('.')); }

LocalHost::Turn::Turn(LocalHost& host, const std::string& service) : host_(host), service_(service) {
  std::unique_lock lock(host_.mutex_);
  Queue& queue = host_.queues_[service_];
  queue.waiting++;
  host_.turned_.wait(lock, [&] { return !queue.taken; });
  queue.waiting--;
  queue.taken = true;
  lock.unlock();
  host_.replicas_.sweep(service_ + ".");
}

LocalHost::Turn::~Turn() {
  {
    std::lock_guard lock(host_.mutex_);
    Queue& queue = host_.queues_[service_];
    queue.taken = false;
    if (queue.waiting == 0) host_.queues_.erase(service_);
  }
  host_.turned_.notify_all();
}

bool LocalHost::Turn::is_waited_for() const {
  std::lock_guard lock(host_.mutex_);
  return host_.queues_.at(service_).waiting > 0;
}

Result<void> LocalHost::check_home() {
  for (const std::string& folder : {folder_of(place_.bundles), replicas_.folder(), place_.bundles}) {
    auto made = disk_.make_folder(folder, 0755);
    if (!made && made.error().code != Code::conflict) return made;
  }
  // Not atomically: what a kill leaves is overwritten by the next.
  const std::string probe = replicas_.folder() + "/.probe";
  auto file = disk_.open(probe, {.write = true, .create = true, .truncate = true});
  if (!file) return file.error();
  if (auto written = (*file)->write_at(0, "probe"); !written) return written;
  if (auto synced = (*file)->sync(SyncWhat::contents); !synced) return synced;
  // Another who looks at the same time may have removed it.
  auto removed = disk_.remove(probe);
  if (!removed && removed.error().code == Code::not_found) return {};
  return removed;
}

Hold::Hold(LocalHost& host, std::string name) : host_(&host), name_(std::move(name)) {
  std::lock_guard lock(host_->unpacked_mutex_);
  host_->held_.insert(name_);
}

Hold::~Hold() {
  if (host_ == nullptr) return;
  std::lock_guard lock(host_->unpacked_mutex_);
  host_->held_.erase(host_->held_.find(name_));
}

Result<Bundle> LocalHost::open(const std::string& artifact, const std::string& hash) {
  if (!artifact.starts_with('/')) {
    return Error{.code = Code::invalid, .message = "expected the absolute path of a bundle's folder or archive"};
  }
  if (!hash.empty()) {
    const std::string name = hash.substr(kHashPrefix.size());
    Hold hold(*this, name);
    auto there = disk_.exists(place_.bundles + "/" + name);
    if (!there) return there.error();
    if (*there) return read(place_.bundles + "/" + name, hash, std::move(hold));
  }
  auto stat = disk_.stat(artifact, FollowLinks::yes);
  if (!stat) return stat.error();
  if (stat->kind == FileKind::folder && hash.empty()) return read(artifact, "", {});
  auto digest = digest_of_file(disk_, artifact);
  if (!digest) return digest.error();
  std::string found = std::string(kHashPrefix) + *digest;
  if (!hash.empty() && found != hash) {
    return Error{.code = Code::conflict,
                 .message = artifact + " is another archive now, and the one that was deployed is gone"};
  }
  if (auto usable = check_home(); !usable) return usable.error();
  const std::string root = place_.bundles + "/" + *digest;
  Hold hold(*this, *digest);
  auto there = disk_.exists(root);
  if (!there) return there.error();
  if (!*there) {
    auto reader = bundle::open_archive(disk_, artifact);
    if (!reader) return reader.error();
    auto unpacked = bundle::extract(disk_, **reader, root);
    if (!unpacked && unpacked.error().code != Code::conflict) return unpacked.error();
  }
  return read(root, std::move(found), std::move(hold));
}

Result<Bundle> LocalHost::read(std::string root, std::string hash, Hold hold) {
  const std::string path = root + "/" + std::string(bundle::kManifestName);
  auto text = read_file(disk_, path, kMostManifestBytes);
  if (!text) return text.error();
  auto manifest = bundle::parse_manifest(*text, path);
  if (!manifest) return manifest.error();
  return Bundle{
      .root = std::move(root), .manifest = std::move(*manifest), .hash = std::move(hash), .hold = std::move(hold)};
}

// By variable, the folder of each storage that the bundle asks for.
std::vector<std::pair<std::string, std::string>> LocalHost::storage_of(const Bundle& bundle, const Given& given) const {
  std::vector<std::pair<std::string, std::string>> folders;
  for (const bundle::Storage& each : bundle.manifest.storage) {
    std::string variable = "SLUICE_STORAGE_";
    for (char c : each.name.text) variable += c == '-' ? '_' : is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
    folders.emplace_back(variable, place_.storage + "/" + given.storage + "/" + each.name.text);
  }
  return folders;
}

Result<void> LocalHost::make_storage(const Bundle& bundle, const Given& given) {
  std::vector<std::string> names;
  for (const bundle::Storage& each : bundle.manifest.storage) names.push_back(each.name.text);
  return make_storage(given.storage, names);
}

Result<void> LocalHost::make_storage(const std::string& storage, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::string folder = place_.storage + "/" + storage + "/" + name;
    // The first that is stored may be there before the first program is.
    for (const std::string& each : {folder_of(place_.storage), place_.storage, folder_of(folder), folder}) {
      auto made = disk_.make_folder(each, each == folder ? 0700 : 0755);
      if (!made && made.error().code != Code::conflict) return made;
    }
  }
  return {};
}

Result<bool> LocalHost::unmake_storage(const std::string& storage) {
  const std::string folder = place_.storage + "/" + storage;
  std::error_code failure;
  if (!std::filesystem::exists(folder, failure)) return true;
  for (const auto& each : std::filesystem::directory_iterator(folder, failure)) {
    std::error_code kept;  // something is in it
    if (each.is_directory() && !each.is_symlink()) std::filesystem::remove(each.path(), kept);
  }
  if (failure) return Error{.message = "cannot look into what " + storage + " has stored: " + failure.message()};
  const bool empty = std::filesystem::is_empty(folder, failure);
  if (empty) std::filesystem::remove(folder, failure);
  if (failure) return Error{.message = "cannot remove the storage " + storage + ": " + failure.message()};
  return empty;
}

// A folder is no disk of its own: what is over its size is seen when the next program is to be started with it.
Result<void> LocalHost::check_storage(const Bundle& bundle, const Given& given) const {
  for (const bundle::Storage& each : bundle.manifest.storage) {
    const uint64_t held = StoredData(place_.storage).bytes_of(given.storage + "/" + each.name.text);
    if (held <= each.size.bytes) continue;
    return Error{.code = Code::limit,
                 .message = "the storage " + each.name.text + " holds " + std::to_string(held) +
                            " bytes, more than its size of " + std::to_string(each.size.bytes),
                 .next = "delete something from it, or give it a larger size in bundle.yaml"};
  }
  return {};
}

std::optional<process::StartBound> LocalHost::bound_of(const Given& given) const {
  if (place_.bounds.empty()) return std::nullopt;
  auto there = disk_.exists(place_.bounds);
  if (there && !*there) return std::nullopt;
  return process::StartBound{.folder = place_.bounds,
                             .environment = variable_in(given, "SLUICE_ENVIRONMENT"),
                             .deployment = variable_in(given, "SLUICE_DEPLOYMENT"),
                             .statement = given.statement};
}

process::Workload LocalHost::workload_of(const Bundle& bundle, const Given& given, std::optional<uint16_t> port,
                                         const std::optional<ReadyImage>& image) const {
  const bundle::Manifest& manifest = bundle.manifest;
  process::Workload workload{
      .argv = manifest.run, .root = bundle.root, .environment = manifest.env, .port = port, .config = given.config};
  workload.secrets_as =
      bundle::secrets_as_of(manifest) == bundle::SecretsAs::file ? process::SecretsAs::file : process::SecretsAs::env;
  workload.health = health_of(health_in(manifest, given));
  workload.limits = {.cpu = manifest.resources.cpu,
                     .memory_bytes = manifest.resources.memory.bytes,
                     .processes = manifest.resources.processes,
                     .files = manifest.resources.files};
  workload.user = manifest.user.value_or(bundle::kDefaultUser);
  workload.grace_ms = manifest.drain.length.count();
  workload.hidden = place_.home;
  workload.bound = bound_of(given);
  for (const auto& [variable, text] : given.variables) workload.environment[variable] = text;
  if (image) workload.container = container_of(manifest, given, *image);
  if (image) workload.user = number_of_user(workload.container->user);
  if (image && manifest.container) workload.argv = manifest.container->command;
  const auto folders = storage_of(bundle, given);
  for (size_t i = 0; i < folders.size(); ++i) {
    const auto& [variable, folder] = folders[i];
    workload.writable.push_back(folder);
    workload.environment[variable] = folder;
    if (!image) continue;
    const std::string inner = "/storage/" + manifest.storage[i].name.text;
    workload.environment[variable] = inner;
    workload.container->mounts.push_back({.source = folder, .target = inner, .writable = true});
  }
  return workload;
}

process::ContainerWork LocalHost::container_of(const bundle::Manifest& manifest, const Given& given,
                                               const ReadyImage& image) const {
  const bundle::Container how = manifest.container.value_or(bundle::Container{});
  auto id = place_.images->home_id();
  const std::string home = id ? *id : "";  // image_of has asked for it before
  const std::string deployment = variable_in(given, "SLUICE_DEPLOYMENT");
  return {.engine = image.engine,
          .image = image.id,
          .user = container_user(manifest, image.user),
          .port = how.port,
          .writable = how.writable,
          .tmp_bytes = how.tmp.bytes,
          .network = "sluice-" + home + "-" + small(deployment.empty() ? manifest.name.text : deployment),
          .labels = {{std::string(process::kHomeLabel), home},
                     {"dev.sluice.environment", variable_in(given, "SLUICE_ENVIRONMENT")},
                     {"dev.sluice.deployment", deployment},
                     {"dev.sluice.revision", variable_in(given, "SLUICE_REVISION")},
                     {"dev.sluice.bundle", manifest.name.text}}};
}

std::variant<std::optional<ReadyImage>, Misfortune> LocalHost::image_of(const Bundle& bundle, const Given& given,
                                                                        const std::function<bool()>& cancelled) {
  if (!bundle.manifest.image) return std::nullopt;
  if (place_.images == nullptr) {
    return Misfortune{.kind = Misfortune::Kind::no_engine, .reason = "nothing here knows a container engine"};
  }
  auto found = place_.images->ready({.manifest = bundle.manifest,
                                     .root = bundle.root,
                                     .engine = given.engine,
                                     .revision = variable_in(given, "SLUICE_REVISION"),
                                     .login = given.registry_login},
                                    cancelled);
  if (auto* trouble = std::get_if<ImageTrouble>(&found)) {
    return Misfortune{.kind = kind_of(trouble->kind), .reason = trouble->reason};
  }
  if (auto home = place_.images->home_id(); !home) return of_home(home.error());
  return std::optional(std::get<ReadyImage>(std::move(found)));
}

Result<uint16_t> LocalHost::port_of(const std::string& name, const Deployment& deployment, int64_t number) {
  if (deployment.port) return static_cast<uint16_t>(*deployment.port + number);
  // One that an attempt before has started keeps its port.
  auto found = replicas_.workload(name);
  if (found && found->port) return *found->port;
  auto range = deployment.given.variables.find("SLUICE_PORT_RANGE");
  auto ports = range == deployment.given.variables.end() ? std::nullopt : views::parse_port_range(range->second);
  if (ports) return process::free_port(ports->first, ports->last);
  return process::free_port();
}

Placed LocalHost::place_of(const std::string& name, const process::Workload& workload) const {
  const std::string folder = replicas_.folder_of_replica(name);
  const auto named = workload.environment.find(std::string(views::kWorkloadAddressVariable));
  const std::string address = named == workload.environment.end() ? "127.0.0.1" : named->second;
  return {.name = name,
          .endpoint = workload.port ? "http://" + address + ":" + std::to_string(*workload.port)
                                    : "unix:" + folder + "/run/socket",
          .log = replicas_.log_of(name)};
}

std::optional<Misfortune> LocalHost::await_all(std::vector<Placed>& placed, const std::function<bool()>& cancelled) {
  for (Placed& each : placed) {
    auto workload = replicas_.workload(each.name);
    const int64_t within_ms = (workload ? workload->health.start_within_ms : 0) + kMargin_ms;
    auto state = replicas_.await(each.name, process::is_settled, within_ms, cancelled);
    if (state && !process::is_over(state->phase)) {
      each.pid = state->program ? state->program->pid : 0;
      continue;
    }
    Misfortune misfortune{
        .kind = Misfortune::Kind::gone, .replica = each.name, .reason = state ? state->message : state.error().message};
    if (state) misfortune.kind = kind_of(state->reason);
    if (workload && workload->port) misfortune.port = *workload->port;
    if (auto lines = replicas_.last_lines(each.name, kLastLines)) {
      for (const process::LogLine& line : *lines) misfortune.last_lines.push_back(line.stream + " " + line.text);
    }
    return misfortune;
  }
  return std::nullopt;
}

LocalHost::Brought LocalHost::bring_up(const Bundle& bundle, const Deployment& deployment,
                                       const std::function<bool()>& cancelled) {
  if (auto usable = check_home(); !usable) return of_home(usable.error());
  if (auto made = make_storage(bundle, deployment.given); !made) return of_home(made.error());
  if (auto fits = check_storage(bundle, deployment.given); !fits) return of_home(fits.error());
  auto image = image_of(bundle, deployment.given, cancelled);
  if (auto* misfortune = std::get_if<Misfortune>(&image)) return *std::move(misfortune);
  const auto& ready = std::get<std::optional<ReadyImage>>(image);
  std::vector<Placed> placed;
  std::vector<std::string> begun;
  auto undo = [&](Misfortune misfortune) -> Brought {
    (void)take_down(begun);
    return misfortune;
  };
  for (int64_t i = deployment.first; i < deployment.replicas; ++i) {
    const std::string name = name_in(deployment, i);
    if (i < deployment.kept) {
      // Its bundle may be another by now: what runs is left alone.
      auto state = replicas_.look(name);
      auto workload = replicas_.workload(name);
      if (state && workload && !process::is_over(state->phase)) {
        placed.push_back(place_of(name, *workload));
        continue;
      }
    } else {
      begun.push_back(name);
    }
    std::optional<uint16_t> port;
    if (bundle.manifest.listen == bundle::Listen::port) {
      auto chosen = port_of(name, deployment, i);
      if (!chosen) return undo(of_home(chosen.error()));
      port = *chosen;
    }
    const process::Workload workload = workload_of(bundle, deployment.given, port, ready);
    auto started = replicas_.start(name, workload, deployment.given.secrets);
    if (!started && started.error().code == Code::invalid) {
      return undo({.kind = Misfortune::Kind::cannot_start, .replica = name, .reason = to_string(started.error())});
    }
    if (!started) return undo(of_home(started.error()));
    placed.push_back(place_of(name, workload));
  }
  if (auto misfortune = await_all(placed, cancelled)) return undo(*std::move(misfortune));
  return placed;
}

LocalHost::Brought LocalHost::bring_back(const Bundle& bundle, const Deployment& deployment, bool any_port,
                                         const std::function<bool()>& cancelled) {
  if (auto usable = check_home(); !usable) return of_home(usable.error());
  if (auto made = make_storage(bundle, deployment.given); !made) return of_home(made.error());
  auto image = image_of(bundle, deployment.given, cancelled);
  if (auto* misfortune = std::get_if<Misfortune>(&image)) return *std::move(misfortune);
  const auto& ready = std::get<std::optional<ReadyImage>>(image);
  std::vector<Placed> placed;
  for (int64_t i = 0; i < deployment.replicas; ++i) {
    const std::string name = name_in(deployment, i);
    auto workload = replicas_.workload(name);
    auto state = replicas_.look(name);
    if (!workload) {
      std::optional<uint16_t> port;
      if (bundle.manifest.listen == bundle::Listen::port) {
        auto chosen = port_of(name, deployment, i);
        if (!chosen) return of_home(chosen.error());
        port = *chosen;
      }
      workload = workload_of(bundle, deployment.given, port, ready);
    }
    if (!state || process::is_over(state->phase)) {
      if (any_port && workload->port && process::is_port_taken(*workload->port)) {
        auto port = process::free_port();
        if (!port) return of_home(port.error());
        workload->port = *port;
      }
      workload->bound = bound_of(deployment.given);  // those of today
      auto started = replicas_.start(name, *workload, deployment.given.secrets);
      if (!started) return of_home(started.error());
    }
    placed.push_back(place_of(name, *workload));
  }
  if (auto misfortune = await_all(placed, cancelled)) return *std::move(misfortune);
  return placed;
}

void LocalHost::await_unused(const std::string& name, const std::function<bool()>& cancelled) {
  auto workload = replicas_.workload(name);
  if (!workload) return;
  const std::string socket = replicas_.folder_of_replica(name) + "/run/socket";
  auto is_unused = [&](const process::ReplicaState&) {
    return (workload->port ? process::connections_to(*workload->port) : process::connections_to(socket)) == 0;
  };
  (void)replicas_.await(name, is_unused, workload->grace_ms, cancelled);
}

Result<void> LocalHost::take_down(const std::vector<std::string>& names) {
  Result<void> all;
  for (const std::string& name : names) {
    auto removed = replicas_.remove(name);
    if (!removed && all) all = removed;
  }
  return all;
}

// Under another name first: who unpacks the same archive meanwhile finds nothing, or everything. Who has begun to holds
// it until its replicas have what says that they run from it, so those are looked at while nobody can let go.
Result<void> LocalHost::forget_unpacked(const std::set<std::string>& kept) {
  auto found = disk_.list(place_.bundles);
  if (!found && found.error().code == Code::not_found) return {};
  if (!found) return found.error();
  std::vector<std::string> going;
  {
    std::lock_guard lock(unpacked_mutex_);
    auto names = replicas_.list();
    if (!names) return names.error();
    std::set<std::string> used;
    for (const std::string& name : *names) {
      auto workload = replicas_.workload(name);
      // What cannot be read may run from anything.
      if (!workload && workload.error().code != Code::not_found) return {};
      if (workload) used.insert(workload->root);
    }
    for (const FolderEntry& entry : *found) {
      const std::string folder = place_.bundles + "/" + entry.name;
      if (entry.name.ends_with(kGoing)) {
        going.push_back(folder);
        continue;
      }
      // One that is hidden is being unpacked, or was when somebody was killed.
      const bool hidden = entry.name.starts_with('.');
      if (hidden ? !held_.empty() : held_.contains(entry.name)) continue;
      if (kept.contains(std::string(kHashPrefix) + entry.name) || used.contains(folder)) continue;
      auto renamed = disk_.rename(folder, folder + std::string(kGoing));
      if (!renamed && renamed.error().code != Code::not_found) return renamed;
      going.push_back(folder + std::string(kGoing));
    }
  }
  for (const std::string& folder : going) {
    std::error_code failure;
    std::filesystem::remove_all(folder, failure);
    if (failure) return Error{.message = "cannot remove " + folder + ": " + failure.message()};
  }
  return {};
}

Result<void> LocalHost::forget_storage(const std::string& storage) {
  std::error_code failure;
  std::filesystem::remove_all(place_.storage + "/" + storage, failure);
  if (failure) return Error{.message = "cannot remove what " + storage + " has stored: " + failure.message()};
  return {};
}

Result<std::vector<std::string>> LocalHost::replicas_of(const std::string& service) const {
  auto names = replicas_.list();
  if (!names) return names;
  std::erase_if(*names, [&](const std::string& name) { return service_of_replica(name) != service; });
  return names;
}

Result<process::Secrets> LocalHost::secrets_of(const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    if (auto held = replicas_.secrets(name)) return held;
  }
  return Error{.code = Code::not_found, .message = "they are no longer kept"};
}

Result<int64_t> LocalHost::ask_health(const std::vector<std::string>& names) {
  int64_t slowest_us = 0;
  std::vector<process::Probe> probes;
  for (const std::string& name : names) {
    auto state = replicas_.look(name);
    if (!state) return state.error();
    auto workload = replicas_.workload(name);
    if (!workload) return workload.error();
    // A command runs as the program does, which only the replica's supervisor brings about: its last word counts.
    const bool by_command = workload->health.by == process::HealthBy::command;
    if (process::is_over(state->phase) || (by_command && !state->healthy)) {
      return Error{.code = Code::unavailable, .message = name + " " + state->message};
    }
    if (by_command) {
      slowest_us = std::max(slowest_us, state->latency_us);
    } else {
      probes.emplace_back(workload->health, workload->port,
                          process::ReplicaFiles(replicas_.folder_of_replica(name)).socket);
    }
  }
  for (const process::Answer& each : process::ask_all(probes)) {
    if (!each.healthy) return Error{.code = Code::unavailable, .message = "it " + each.message};
    slowest_us = std::max(slowest_us, each.latency_us);
  }
  return slowest_us;
}

}  // namespace sluice::deploy::local_runtime
