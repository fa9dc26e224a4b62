// What the environment variables say, read where it is needed.
#include "deploy/executor/cluster_means.h"

#include <array>
#include <map>

#include "base/atomic_file.h"
#include "render/manifests.h"

namespace sluice::deploy::executor {
namespace {

constexpr size_t kMostPolicyBytes = 1 << 20;
constexpr size_t kKeyBytes = 32;
constexpr int64_t kPatience_ms = 20'000;

}  // namespace

std::string ClusterMeans::policy_file() const {
  if (const std::string file = variable("LIGHT_DEPLOYER_CONFIG"); !file.empty()) return file;
  const std::string folder = variable("LIGHT_DEPLOYER_CONFIG_DIR");
  return (folder.empty() ? parts_.home : folder) + "/deployer.yml";
}

Result<kube::Policy> ClusterMeans::policy() {
  const std::string file = policy_file();
  auto text = read_file(parts_.disk, file, kMostPolicyBytes);
  auto read = text ? kube::read_policy(*text, file) : Result<kube::Policy>(text.error());
  std::lock_guard lock(mutex_);
  if (read) {
    last_good_ = *read;
    return read;
  }
  if (last_good_) return *last_good_;
  if (!text && text.error().code == Code::not_found) {
    return Error{.code = Code::not_found,
                 .message = "there is no policy " + file + ", so nothing is allowed",
                 .next = "write one: at least hostId, allowedNamespaces and allowedImageRegistries"};
  }
  return read;
}

std::string ClusterMeans::policy_trouble() {
  const std::string file = policy_file();
  auto text = read_file(parts_.disk, file, kMostPolicyBytes);
  if (!text) return to_string(text.error());
  auto read = kube::read_policy(*text, file);
  return read ? "" : to_string(read.error());
}

bool ClusterMeans::is_noop() const {
  const std::string mode = variable("LIGHT_DEPLOYER_KUBE_MODE");
  if (mode == "real") return false;
  if (mode == "noop") return true;
  return variable("KUBERNETES_SERVICE_HOST").empty() && variable("KUBECONFIG").empty();
}

Result<kube::Client*> ClusterMeans::client() {
  std::lock_guard lock(mutex_);
  if (client_) return client_.get();
  auto access = kube::find_access(parts_.disk, parts_.variables, "");
  if (!access) return access.error();
  kube::RunPlugin run = [this](const kube::ExecPlugin& plugin) -> Result<std::string> {
    std::map<std::string, std::string> environment = plugin.environment;
    for (const char* name : {"PATH", "HOME"}) environment.emplace(name, variable(name));
    auto ran = parts_.runner.run({.argv = plugin.command, .folder = "/", .environment = std::move(environment)},
                                 [] { return false; });
    if (!ran) return ran.error();
    if (!ran->good()) {
      return Error{.code = Code::unauthenticated,
                   .message = plugin.command.front() + " " + to_string(*ran),
                   .next = plugin.hint};
    }
    return ran->tail;
  };
  client_ = std::make_unique<kube::Client>(*std::move(access), parts_.disk, parts_.clock, std::move(run), kPatience_ms);
  return client_.get();
}

Result<Fetched> ClusterMeans::templates(const kube::Policy& policy, const std::string& repository, const std::string&,
                                        const std::string& path) {
  if (repository != "local") {
    if (std::string why = policy.denial_of_repository(repository); !why.empty()) {
      return Error{.code = Code::denied, .message = why};
    }
    return Error{.code = Code::failed, .message = "templates of repositories cannot be fetched; only `local` can"};
  }
  const std::string base = variable("LIGHT_DEPLOYER_TEMPLATE_BASE_DIR");
  if (base.empty()) {
    return Error{.code = Code::failed, .message = "LIGHT_DEPLOYER_TEMPLATE_BASE_DIR does not say where templates are"};
  }
  auto files = rendering::read_local_templates(parts_.disk, base, path);
  if (!files) return files.error();
  return Fetched{.files = *std::move(files)};
}

Result<crypto::Hmac> ClusterMeans::hmac() {
  const std::string path = parts_.home + "/keys/manifest-hashes.key";
  std::lock_guard lock(mutex_);
  auto key = read_file(parts_.disk, path, kKeyBytes);
  if (!key && key.error().code != Code::not_found) return key.error();
  if (!key) {
    std::array<uint8_t, kKeyBytes> bytes{};
    parts_.random.fill(bytes);
    key = std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    auto made = parts_.disk.make_folder(folder_of(path), 0700);
    if (!made && made.error().code != Code::conflict) return made.error();
    if (auto kept = write_atomically(parts_.disk, path, *key, 0600); !kept) return kept.error();
  }
  return crypto::Hmac(*key);
}

void ClusterMeans::cancel(const std::string& request) {
  std::lock_guard lock(mutex_);
  cancelled_.insert(request);
}

bool ClusterMeans::is_cancelled(const std::string& request) {
  std::lock_guard lock(mutex_);
  return cancelled_.contains(request);
}

void ClusterMeans::forget_cancelled(const std::string& request) {
  std::lock_guard lock(mutex_);
  cancelled_.erase(request);
}

}  // namespace sluice::deploy::executor
