// What the environment variables say, read where it is needed.
#include "deploy/executor/cluster_means.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/atomic_file.h"
#include "base/jail.h"
#include "deploy/executor/exec_plugin.h"
#include "git/repositories.h"
#include "render/manifests.h"

namespace sluice::deploy::executor {
namespace {

constexpr size_t kMostPolicyBytes = 1 << 20;
constexpr size_t kKeyBytes = 32;
constexpr size_t kMostTokenBytes = 1 << 16;
constexpr int64_t kPatience_ms = 20'000;

bool is_local(std::string repository) {
  std::ranges::transform(repository, repository.begin(), [](char c) { return to_lower(c); });
  return repository == "local";
}

std::string first_line(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
  return line;
}

}  // namespace

ClusterMeans::ClusterMeans(Parts parts) : parts_(std::move(parts)) {}

ClusterMeans::~ClusterMeans() = default;

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
  client_ = std::make_unique<kube::Client>(*std::move(access), parts_.disk, parts_.clock, plugin_runner(parts_.runner),
                                           kPatience_ms);
  return client_.get();
}

Result<Fetched> ClusterMeans::templates(const kube::Policy& policy, const std::string& repository,
                                        const std::string& ref, const std::string& path) {
  if (!is_local(repository)) return fetched(policy, repository, ref, path);
  const std::string base = variable("LIGHT_DEPLOYER_TEMPLATE_BASE_DIR");
  if (base.empty()) {
    return Error{.code = Code::failed, .message = "LIGHT_DEPLOYER_TEMPLATE_BASE_DIR does not say where templates are"};
  }
  auto files = rendering::read_local_templates(parts_.disk, base, path);
  if (!files) return files.error();
  return Fetched{.files = *std::move(files)};
}

Result<Fetched> ClusterMeans::fetched(const kube::Policy& policy, const std::string& url, const std::string& ref,
                                      const std::string& path) {
  if (std::string why = policy.denial_of_repository(url); !why.empty()) {
    return Error{.code = Code::denied, .message = why};
  }
  const bool whole = path.empty() || path == ".";
  if (!whole && !Jail(parts_.disk, "/").check(path)) {
    return Error{.code = Code::denied, .message = "the template's path '" + path + "' leads out of its repository"};
  }
  git::Wanted wanted{.url = url, .ref = ref, .path = path, .only_public = !policy.names_host_of(url)};
  const std::string own = kube::repository_host(url);
  for (const kube::GitCredentials& each : policy.gitCredentials) {
    if (each.host != own) continue;
    auto token = read_file(parts_.disk, each.tokenFile, kMostTokenBytes);
    if (!token) return token.error();
    wanted.credentials.push_back({.host = each.host, .username = each.username, .token = first_line(*token)});
  }
  const std::string token = variable("LIGHT_DEPLOYER_GIT_TOKEN"), host = policy.only_repository_host();
  if (!token.empty() && !host.empty()) {
    // What the policy says of a host counts, and comes later in the list.
    wanted.credentials.insert(wanted.credentials.begin(),
                              {.host = host, .username = variable("LIGHT_DEPLOYER_GIT_USERNAME"), .token = token});
  }
  auto commit = repositories().read(wanted);
  if (!commit) {
    Error error = commit.error();
    if (error.code == Code::denied) error.code = Code::failed;  // by the server, not by the policy
    if (error.next.empty() && !token.empty() && host.empty()) {
      error.next = "LIGHT_DEPLOYER_GIT_TOKEN is sent only where the policy allows one host; name it in gitCredentials";
    }
    return error;
  }
  if (commit->files.empty()) {
    return Error{.code = Code::not_found,
                 .message = "the folder '" + path + "' of commit " + commit->id + " has no YAML file"};
  }
  Fetched fetched{.commit = commit->id};
  for (git::File& each : commit->files) fetched.files.push_back({std::move(each.path), std::move(each.text)});
  return fetched;
}

git::Repositories& ClusterMeans::repositories() {
  std::lock_guard lock(mutex_);
  if (!repositories_) {
    const std::string folder = variable("LIGHT_DEPLOYER_REMOTE_CACHE_DIR");
    git::Repositories::Settings settings{.folder = (folder.empty() ? parts_.home : folder) + "/repositories"};
    settings.network.proxy =
        http::proxy_of([&](const std::string& name) { return variable(name.c_str()); }, "https://any.example/");
    repositories_ = std::make_unique<git::Repositories>(std::move(settings), parts_.disk, parts_.clock);
  }
  return *repositories_;
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
