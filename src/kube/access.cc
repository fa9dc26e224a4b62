// What a kubeconfig says is taken apart here; https://kubernetes.io/docs/reference/config-api/kubeconfig.v1 names its
// fields.
#include "kube/access.h"

#include <algorithm>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/utc_time.h"
#include "base/yaml.h"
#include "crypto/base64.h"
#include "kube/object.h"

namespace sluice::kube {
namespace {

constexpr size_t kMostConfigBytes = 4 << 20;
constexpr size_t kMostTokenBytes = 1 << 20;
constexpr int64_t kNoEnd_ms = INT64_MAX;
constexpr size_t kMostTries = 1'000;

struct ConfigFile {
  std::string path;
  json::value root;
};

Error unusable(const std::string& why) {
  return {.code = Code::invalid, .message = "the kubeconfig cannot be used: " + why};
}

std::string beside(const ConfigFile& file, const std::string& path) {
  return path.starts_with('/') ? path : folder_of(file.path) + "/" + path;
}

// What a plugin is told of who asks and, if it wants to know, of the cluster.
std::string told_to_plugin(const ExecPlugin& plugin, const json::value& exec, const Access& access) {
  json::object spec{{"interactive", false}};
  if (flag_at(exec, {"provideClusterInfo"})) {
    json::object cluster{{"server", access.server}};
    if (!access.tls.roots_pem.empty()) cluster["certificate-authority-data"] = crypto::to_base64(access.tls.roots_pem);
    if (!access.tls.server_name.empty()) cluster["tls-server-name"] = access.tls.server_name;
    if (!access.proxy.empty()) cluster["proxy-url"] = access.proxy;
    spec["cluster"] = std::move(cluster);
  }
  return write(json::object{{"apiVersion", plugin.api_version}, {"kind", "ExecCredential"}, {"spec", std::move(spec)}});
}

// The credential among what a plugin printed, which may have warned besides.
json::value credential_in(const std::string& said) {
  size_t tries = 0;
  for (size_t begin = said.find('{'); begin != std::string::npos && tries < kMostTries;
       begin = said.find('{', begin + 1)) {
    for (size_t end = said.rfind('}'); end != std::string::npos && end > begin && tries < kMostTries; ++tries) {
      auto document = parse_json_value(std::string_view(said).substr(begin, end + 1 - begin));
      if (document && at(*document, {"status"}).is_object()) return *std::move(document);
      end = said.rfind('}', end - 1);
    }
  }
  return {};
}

// The entry of this name among "clusters", "users" or "contexts", with the file that it stands in.
struct Entry {
  const ConfigFile* file = nullptr;
  const json::value* value = nullptr;
};
Entry entry_named(const std::vector<ConfigFile>& files, std::string_view list, std::string_view inner,
                  const std::string& name) {
  for (const ConfigFile& file : files) {
    for (const json::value& each : list_at(file.root, {list})) {
      if (text_at(each, {"name"}) == name) return {&file, &at(each, {inner})};
    }
  }
  return {};
}

// The bytes that a field holds in base64, or that the file has which it names.
Result<std::string> bytes_of(Disk& disk, const Entry& entry, std::string_view field) {
  const std::string data = text_at(*entry.value, {std::string(field) + "-data"});
  if (!data.empty()) {
    auto decoded = crypto::from_base64(data);
    if (!decoded) return unusable(std::string(field) + "-data is no base64");
    return *decoded;
  }
  const std::string path = text_at(*entry.value, {field});
  if (path.empty()) return std::string();
  return read_file(disk, beside(*entry.file, path), kMostConfigBytes);
}

Result<void> check_server(const std::string& server) {
  auto url = http::parse_url(server);
  if (!url) return unusable("its server is no URL");
  const bool here = url->host == "localhost" || url->host == "::1" || url->host.starts_with("127.");
  if (!url->tls && !here) return unusable("its server is not reached by https");
  return {};
}

Result<ExecPlugin> read_plugin(const Entry& user) {
  const json::value& exec = at(*user.value, {"exec"});
  ExecPlugin plugin{.api_version = text_at(exec, {"apiVersion"}), .hint = text_at(exec, {"installHint"})};
  std::string command = text_at(exec, {"command"});
  if (command.empty()) return unusable("its exec plugin has no command");
  if (plugin.api_version != "client.authentication.k8s.io/v1" &&
      plugin.api_version != "client.authentication.k8s.io/v1beta1") {
    return unusable("its exec plugin has the version '" + plugin.api_version + "', which is none that is known");
  }
  // A command with a slash is beside the file that names it.
  if (command.find('/') != std::string::npos) command = beside(*user.file, command);
  plugin.command.push_back(command);
  for (const json::value& each : list_at(exec, {"args"})) {
    if (each.is_string()) plugin.command.emplace_back(each.get_string());
  }
  for (const json::value& each : list_at(exec, {"env"})) {
    plugin.environment[text_at(each, {"name"})] = text_at(each, {"value"});
  }
  return plugin;
}

Result<void> take_user(Disk& disk, const Entry& user, Access& access) {
  auto chain = bytes_of(disk, user, "client-certificate");
  if (!chain) return chain.error();
  auto key = bytes_of(disk, user, "client-key");
  if (!key) return key.error();
  access.tls.chain_pem = *chain;
  access.tls.key_pem = *key;
  access.token = text_at(*user.value, {"token"});
  const std::string file = text_at(*user.value, {"tokenFile"});
  if (!file.empty()) access.token_file = beside(*user.file, file);
  const std::string name = text_at(*user.value, {"username"});
  if (!name.empty()) access.basic = name + ":" + text_at(*user.value, {"password"});
  if (at(*user.value, {"auth-provider"}).is_object()) {
    return unusable("its user logs in by an auth-provider, which Kubernetes gave up; use an exec plugin");
  }
  for (const char* field : {"as", "as-uid", "as-groups", "as-user-extra"}) {
    if (!at(*user.value, {field}).is_null()) {
      return unusable("its user acts as somebody else ('" + std::string(field) +
                      "'), which Sluice does not do; name a user who has just the rights that are needed");
    }
  }
  if (at(*user.value, {"exec"}).is_object()) {
    auto plugin = read_plugin(user);
    if (!plugin) return plugin.error();
    plugin->environment["KUBERNETES_EXEC_INFO"] = told_to_plugin(*plugin, at(*user.value, {"exec"}), access);
    access.exec = *std::move(plugin);
  }
  return {};
}

Result<std::vector<ConfigFile>> read_files(Disk& disk, const Variables& variables) {
  std::vector<std::string> paths;
  const std::string listed = variables("KUBECONFIG").value_or("");
  for (size_t begin = 0; begin < listed.size();) {
    const size_t colon = std::min(listed.find(':', begin), listed.size());
    if (colon > begin) paths.push_back(listed.substr(begin, colon - begin));
    begin = colon + 1;
  }
  if (paths.empty()) paths.push_back(variables("HOME").value_or("") + "/.kube/config");
  std::vector<ConfigFile> files;
  for (const std::string& path : paths) {
    auto text = read_file(disk, path, kMostConfigBytes);
    if (!text && text.error().code == Code::not_found && paths.size() > 1) continue;
    if (!text) return text.error();
    auto document = parse_yaml(*text, path);
    if (!document) return document.error();
    files.push_back({path, std::move(document->root)});
  }
  return files;
}

}  // namespace

Result<Access> kubeconfig_access(Disk& disk, const Variables& variables, const std::string& context) {
  auto files = read_files(disk, variables);
  if (!files) return files.error();
  std::string name = context;
  for (size_t i = 0; name.empty() && i < files->size(); ++i) name = text_at((*files)[i].root, {"current-context"});
  if (name.empty()) return unusable("it has no current-context");
  const Entry chosen = entry_named(*files, "contexts", "context", name);
  if (chosen.value == nullptr) return unusable("it has no context '" + name + "'");
  const Entry cluster = entry_named(*files, "clusters", "cluster", text_at(*chosen.value, {"cluster"}));
  if (cluster.value == nullptr) return unusable("its context '" + name + "' names a cluster that it does not have");
  if (flag_at(*cluster.value, {"insecure-skip-tls-verify"})) {
    return Error{.code = Code::verification_failed,
                 .message = "the kubeconfig says insecure-skip-tls-verify, and the server is always verified",
                 .next = "name the certificate that signed the server's in certificate-authority"};
  }
  Access access{.source = "the context " + name + " of " + chosen.file->path};
  access.server = text_at(*cluster.value, {"server"});
  while (access.server.ends_with('/')) access.server.pop_back();
  if (auto good = check_server(access.server); !good) return good.error();
  auto roots = bytes_of(disk, cluster, "certificate-authority");
  if (!roots) return roots.error();
  access.tls.roots_pem = *std::move(roots);
  access.tls.server_name = text_at(*cluster.value, {"tls-server-name"});
  access.proxy = text_at(*cluster.value, {"proxy-url"});
  if (const std::string space = text_at(*chosen.value, {"namespace"}); !space.empty()) access.name_space = space;
  const std::string user_name = text_at(*chosen.value, {"user"});
  const Entry user = entry_named(*files, "users", "user", user_name);
  if (user.value == nullptr && !user_name.empty()) {
    return unusable("its context '" + name + "' names a user that it does not have");
  }
  if (user.value != nullptr) {
    if (auto taken = take_user(disk, user, access); !taken) return taken.error();
  }
  return access;
}

Result<Access> in_cluster_access(Disk& disk, const Variables& variables, const std::string& folder) {
  const auto host = variables("KUBERNETES_SERVICE_HOST"), port = variables("KUBERNETES_SERVICE_PORT");
  if (!host || !port) return Error{.code = Code::not_found, .message = "this is no pod of a Kubernetes cluster"};
  auto roots = read_file(disk, folder + "/ca.crt", kMostConfigBytes);
  if (!roots) return roots.error();
  const bool v6 = host->find(':') != std::string::npos;
  Access access{.server = "https://" + (v6 ? "[" + *host + "]" : *host) + ":" + *port,
                .token_file = folder + "/token",
                .source = "the pod's own service account"};
  access.tls.roots_pem = *std::move(roots);
  if (auto space = read_file(disk, folder + "/namespace", 1024)) access.name_space = *space;
  return access;
}

Result<Access> find_access(Disk& disk, const Variables& variables, const std::string& context) {
  const bool named = !variables("KUBECONFIG").value_or("").empty() || !context.empty();
  if (!named && variables("KUBERNETES_SERVICE_HOST")) return in_cluster_access(disk, variables);
  return kubeconfig_access(disk, variables, context);
}

Result<std::string> KubeLogin::authorization(bool refused) {
  if (access_.exec) {
    auto token = from_plugin(refused);
    if (!token || token->empty()) return token;
    return "Bearer " + *token;
  }
  if (!access_.token_file.empty()) {
    auto token = read_file(disk_, access_.token_file, kMostTokenBytes);
    if (!token) return token.error();
    while (!token->empty() && (token->back() == '\n' || token->back() == '\r' || token->back() == ' ')) {
      token->pop_back();
    }
    return "Bearer " + *token;
  }
  if (!access_.token.empty()) return "Bearer " + access_.token;
  if (!access_.basic.empty()) return "Basic " + crypto::to_base64(access_.basic);
  return std::string();
}

ClientCertificate KubeLogin::certificate() {
  std::lock_guard lock(mutex_);
  return plugin_certificate_;
}

Result<std::string> KubeLogin::from_plugin(bool refused) {
  std::lock_guard lock(mutex_);
  if (!refused && clock_.wall_ms() < until_ms_) return plugin_token_;
  if (!run_) return Error{.code = Code::unavailable, .message = "exec plugins of kubeconfigs cannot be run here"};
  auto said = run_(*access_.exec);
  if (!said) {
    Error error = said.error();
    if (error.next.empty()) error.next = access_.exec->hint;
    return error;
  }
  const json::value document = credential_in(*said);
  const std::string token = text_at(document, {"status", "token"});
  const ClientCertificate shown{.chain_pem = text_at(document, {"status", "clientCertificateData"}),
                                .key_pem = text_at(document, {"status", "clientKeyData"})};
  if ((token.empty() && shown.chain_pem.empty()) || shown.chain_pem.empty() != shown.key_pem.empty()) {
    return Error{.code = Code::unauthenticated,
                 .message = "the exec plugin " + access_.exec->command[0] +
                            " printed neither a token nor a certificate with its key",
                 .next = access_.exec->hint};
  }
  const std::string until = text_at(document, {"status", "expirationTimestamp"});
  auto parsed = parse_utc(until);
  until_ms_ = until.empty() || !parsed ? kNoEnd_ms : *parsed - 10'000;
  plugin_token_ = token;
  plugin_certificate_ = shown;
  return plugin_token_;
}

}  // namespace sluice::kube
