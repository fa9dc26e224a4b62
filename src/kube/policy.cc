// Lists are compared by whole parts: a host, a path segment, never a prefix of a word.
#include "kube/policy.h"

#include <algorithm>
#include <boost/describe.hpp>
#include <set>

#include "base/ascii.h"
#include "base/json_reader.h"
#include "base/yaml.h"
#include "http/outgoing.h"

namespace sluice::kube {
namespace {

// Those that Kubernetes' own baseline lets containers have.
constexpr std::string_view kUsualCapabilities[] = {"AUDIT_WRITE", "CHOWN",  "DAC_OVERRIDE",     "FOWNER",  "FSETID",
                                                   "KILL",        "MKNOD",  "NET_BIND_SERVICE", "SETFCAP", "SETGID",
                                                   "SETPCAP",     "SETUID", "SYS_CHROOT"};
constexpr int kDeepest = 100;

// As it stands in the file: whatever is left out keeps its default.
struct PruneFile {
  bool enabled = true;
  int64_t maxDeletePercent = 30;
  std::optional<int64_t> maxDeleteCount;
  std::vector<std::string> sensitiveKinds = {"PersistentVolumeClaim"};
  bool overrideRequired = true;
  static constexpr std::string_view kDefaulted[] = {"enabled", "maxDeletePercent", "sensitiveKinds",
                                                    "overrideRequired"};
};
BOOST_DESCRIBE_STRUCT(PruneFile, (), (enabled, maxDeletePercent, maxDeleteCount, sensitiveKinds, overrideRequired))

struct CredentialsFile {
  std::string host;
  std::string username;
  std::string tokenFile;
  static constexpr std::string_view kDefaulted[] = {"username"};
};
BOOST_DESCRIBE_STRUCT(CredentialsFile, (), (host, username, tokenFile))

struct CallerFile {
  std::string caller;
  std::vector<std::string> hostIds;
};
BOOST_DESCRIBE_STRUCT(CallerFile, (), (caller, hostIds))

struct PolicyFile {
  std::optional<std::string> deployerId, hostId, clusterId, podSecurity;
  std::optional<std::vector<std::string>> allowedNamespaces, allowedRepoHosts, allowedRepoPrefixes,
      allowedImageRegistries, allowedActions, allowedKinds, blockedKinds;
  std::optional<PruneFile> prune;
  std::optional<std::vector<CredentialsFile>> gitCredentials;
  std::optional<std::vector<CallerFile>> callers;
  std::optional<bool> allowForce, devInsecure;
};
BOOST_DESCRIBE_STRUCT(PolicyFile, (),
                      (deployerId, hostId, clusterId, podSecurity, allowedNamespaces, allowedRepoHosts,
                       allowedRepoPrefixes, allowedImageRegistries, allowedActions, allowedKinds, blockedKinds, prune,
                       gitCredentials, callers, allowForce, devInsecure))

template <class T>
void take(std::optional<T>& from, T& into) {
  if (from) into = *std::move(from);
}

bool lists(const std::vector<std::string>& list, std::string_view word) {
  return std::ranges::any_of(list, [&](const std::string& each) { return each == "*" || each == word; });
}
bool is_any(const std::vector<std::string>& list) { return std::ranges::count(list, "*") > 0; }

std::string with_port(const http::Url& url) {
  return url.host + (url.port == 443 ? "" : ":" + std::to_string(url.port));
}
// A host stands for all of its ports, "host:8443" for one.
bool lists_host(const std::vector<std::string>& list, const http::Url& url) {
  return lists(list, url.host) || lists(list, with_port(url));
}

// "a/b" is a beginning of "a/b" and "a/b/c", not of "a/bc".
bool begins_with_parts(std::string_view text, std::string_view beginning) {
  while (beginning.ends_with('/')) beginning.remove_suffix(1);
  return text.starts_with(beginning) && (text.size() == beginning.size() || text[beginning.size()] == '/' ||
                                         text[beginning.size()] == ':' || text[beginning.size()] == '@');
}

// Servers resolve "..", also when it is encoded, so a path with such parts is not below what it begins with.
bool is_plain_path(std::string_view target) {
  std::string small(target);
  std::ranges::transform(small, small.begin(), [](char c) { return to_lower(c); });
  for (const char* encoded : {"%2e", "%2f", "%5c", "\\"}) {
    if (small.find(encoded) != std::string::npos) return false;
  }
  for (size_t begin = 1; begin < small.size();) {
    const size_t end = std::min(small.find('/', begin), small.size());
    const std::string part = small.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return true;
}

bool is_below(const http::Url& url, const std::string& prefix) {
  auto parsed = http::parse_url(prefix);
  return parsed && parsed->tls && parsed->host == url.host && parsed->port == url.port &&
         begins_with_parts(url.target, parsed->target);
}

// "docker.io/library/nginx:1" of "nginx:1".
std::string whole_image(const std::string& image) {
  const size_t slash = image.find('/');
  if (slash == std::string::npos) return "docker.io/library/" + image;
  const std::string first = image.substr(0, slash);
  const bool is_host = first.find_first_of(".:") != std::string::npos || first == "localhost";
  return is_host ? image : "docker.io/" + image;
}

bool is_built_in_group(const std::string& group) {
  return group.find('.') == std::string::npos || group.ends_with(".k8s.io");
}

// "Deployment" is Kubernetes' own; a kind of somebody else is named with its group: "acme.example/Widget".
bool allows_kind(const std::vector<std::string>& list, const ObjectRef& ref) {
  return std::ranges::any_of(list, [&](const std::string& each) {
    if (each == "*") return true;
    if (each.find('/') == std::string::npos) return each == ref.kind && is_built_in_group(ref.group());
    return each == ref.group() + "/" + ref.kind || each == ref.group() + "/*";
  });
}

bool blocks_kind(const std::vector<std::string>& list, const ObjectRef& ref) {
  return std::ranges::any_of(list, [&](const std::string& each) {
    return each == "*" || each == ref.kind || each == ref.group() + "/" + ref.kind;
  });
}

class PodSpecs {
 public:
  PodSpecs(const Policy& policy, const std::string& name) : policy_(policy), name_(name) {}

  // Whatever has containers is a pod's spec, also inside kinds that nobody here knows.
  std::string walk(const json::value& node, int depth = 0) const {
    if (depth > kDeepest) return name_ + " is nested deeper than " + std::to_string(kDeepest) + " levels";
    if (const json::array* array = node.if_array()) {
      for (const json::value& each : *array) {
        if (std::string why = walk(each, depth + 1); !why.empty()) return why;
      }
    }
    const json::object* object = node.if_object();
    if (object == nullptr) return "";
    if (std::string why = spec(node); !why.empty()) return why;
    for (const auto& each : *object) {
      if (std::string why = walk(each.value(), depth + 1); !why.empty()) return why;
    }
    return "";
  }

 private:
  std::string spec(const json::value& spec) const {
    bool is_pod = false;
    for (const char* list : {"containers", "initContainers", "ephemeralContainers"}) {
      for (const json::value& each : list_at(spec, {list})) {
        if (!each.is_object()) continue;
        is_pod = true;
        if (std::string why = container(each); !why.empty()) return why;
      }
    }
    if (!is_pod) return "";
    for (const json::value& each : list_at(spec, {"volumes"})) {
      const std::string image = text_at(each, {"image", "reference"});
      if (std::string why = registry(image, "volume " + text_at(each, {"name"})); !why.empty()) return why;
    }
    if (policy_.podSecurity == "privileged") return "";
    for (const char* space : {"hostNetwork", "hostPID", "hostIPC"}) {
      if (flag_at(spec, {space})) return needs_privilege(std::string("a pod with ") + space);
    }
    for (const json::value& each : list_at(spec, {"volumes"})) {
      if (at(each, {"hostPath"}).is_object()) {
        return needs_privilege("the hostPath volume " + text_at(each, {"name"}));
      }
    }
    return "";
  }

  std::string container(const json::value& container) const {
    const std::string name = text_at(container, {"name"});
    if (std::string why = registry(text_at(container, {"image"}), "container " + name); !why.empty()) return why;
    if (policy_.podSecurity == "privileged") return "";
    if (flag_at(container, {"securityContext", "privileged"}) ||
        flag_at(container, {"securityContext", "windowsOptions", "hostProcess"})) {
      return needs_privilege("the privileged container " + name);
    }
    for (const json::value& each : list_at(container, {"securityContext", "capabilities", "add"})) {
      if (!each.is_string() ||
          std::ranges::find(kUsualCapabilities, each.get_string()) == std::end(kUsualCapabilities)) {
        return needs_privilege("the capability " + (each.is_string() ? std::string(each.get_string()) : "") +
                               " of container " + name);
      }
    }
    return "";
  }

  std::string registry(const std::string& image, const std::string& of) const {
    if (image.empty()) return "";
    const std::string whole = whole_image(image);
    const bool good = std::ranges::any_of(policy_.allowedImageRegistries, [&](const std::string& each) {
      return each == "*" || begins_with_parts(whole, each);
    });
    return good ? "" : "image registry is not allowed: " + image + " of " + of + " in " + name_;
  }

  std::string needs_privilege(const std::string& what) const {
    return what + " in " + name_ + " needs podSecurity: privileged";
  }

  const Policy& policy_;
  const std::string name_;
};

std::string percent_message(const Pruned& pruned) {
  const size_t percent = pruned.tracked == 0 ? 0 : 100 * pruned.removed / pruned.tracked;
  return "prune would delete " + std::to_string(pruned.removed) + " of " + std::to_string(pruned.tracked) +
         " tracked resources (" + std::to_string(percent) + "%)";
}

std::string sensitive_of(const PrunePolicy& policy, const Pruned& pruned) {
  for (const std::string& each : pruned.kinds) {
    if (lists(policy.sensitiveKinds, each)) return each;
  }
  return "";
}

}  // namespace

std::string repository_host(std::string_view url) {
  auto parsed = http::parse_url(url);
  return parsed ? with_port(*parsed) : "";
}

Result<Policy> read_policy(std::string_view text, const std::string& file) {
  auto document = parse_yaml(text, file);
  if (!document) return document.error();
  if (document->root.is_null()) document->root = json::object();
  auto read_in = read<PolicyFile>(*document);
  if (!read_in) return read_in.error();
  Policy policy;
  take(read_in->deployerId, policy.deployerId);
  take(read_in->hostId, policy.hostId);
  take(read_in->clusterId, policy.clusterId);
  take(read_in->podSecurity, policy.podSecurity);
  take(read_in->allowedNamespaces, policy.allowedNamespaces);
  take(read_in->allowedImageRegistries, policy.allowedImageRegistries);
  take(read_in->allowedActions, policy.allowedActions);
  take(read_in->allowedKinds, policy.allowedKinds);
  take(read_in->blockedKinds, policy.blockedKinds);
  take(read_in->allowForce, policy.allowForce);
  take(read_in->devInsecure, policy.devInsecure);
  policy.allowedRepoHosts = read_in->allowedRepoHosts;
  policy.allowedRepoPrefixes = read_in->allowedRepoPrefixes;
  if (read_in->prune) {
    const PruneFile& prune = *read_in->prune;
    policy.prune = {prune.enabled, prune.maxDeletePercent, prune.maxDeleteCount, prune.sensitiveKinds,
                    prune.overrideRequired};
  }
  for (const CredentialsFile& each : read_in->gitCredentials.value_or(std::vector<CredentialsFile>())) {
    policy.gitCredentials.push_back({each.host, each.username, each.tokenFile});
  }
  for (const CallerFile& each : read_in->callers.value_or(std::vector<CallerFile>())) {
    policy.callers.push_back({each.caller, each.hostIds});
  }
  auto refuse = [&](const std::string& field, const std::string& why) {
    return Error{
        .code = Code::invalid, .message = why, .path = "/" + field, .position = document->position_of("/" + field)};
  };
  if (policy.podSecurity != "baseline" && policy.podSecurity != "privileged") {
    return refuse("podSecurity", "expected \"baseline\" or \"privileged\"");
  }
  if (policy.prune.maxDeletePercent < 0 || policy.prune.maxDeletePercent > 100) {
    return refuse("prune/maxDeletePercent", "expected 0 to 100");
  }
  const std::vector<std::string> known = Policy().allowedActions;
  for (const std::string& each : policy.allowedActions) {
    if (each != "*" && !lists(known, each)) return refuse("allowedActions", "there is no action " + each);
  }
  return policy;
}

std::string Policy::denial_of_action(std::string_view action) const {
  return lists(allowedActions, action) ? "" : "action is not allowed: " + std::string(action);
}

std::string Policy::denial_of_namespace(std::string_view name_space) const {
  return lists(allowedNamespaces, name_space) ? "" : "namespace is not allowed: " + std::string(name_space);
}

std::string Policy::denial_of_repository(std::string_view url) const {
  const std::string denied = "repository is not allowed: " + std::string(url);
  auto parsed = http::parse_url(url);
  if (!parsed || !parsed->tls || !parsed->user.empty() || (!allowedRepoHosts && !allowedRepoPrefixes)) return denied;
  if (!is_plain_path(parsed->target)) return denied + ": its path has empty, encoded or '..' parts";
  if (allowedRepoHosts && !lists_host(*allowedRepoHosts, *parsed)) return denied;
  if (allowedRepoPrefixes) {
    const bool good = std::ranges::any_of(
        *allowedRepoPrefixes, [&](const std::string& each) { return each == "*" || is_below(*parsed, each); });
    if (!good) return denied;
  }
  return "";
}

bool Policy::names_host_of(std::string_view url) const {
  auto parsed = http::parse_url(url);
  if (!parsed) return false;
  const bool by_host = allowedRepoHosts && std::ranges::any_of(*allowedRepoHosts, [&](const std::string& each) {
                         return each == parsed->host || each == with_port(*parsed);
                       });
  return by_host || (allowedRepoPrefixes && std::ranges::any_of(*allowedRepoPrefixes, [&](const std::string& each) {
                       return is_below(*parsed, each);
                     }));
}

std::string Policy::only_repository_host() const {
  const bool any_host = !allowedRepoHosts || is_any(*allowedRepoHosts);
  std::set<std::string> hosts;
  if (allowedRepoPrefixes && !is_any(*allowedRepoPrefixes)) {
    for (const std::string& each : *allowedRepoPrefixes) {
      auto prefix = http::parse_url(each);
      if (prefix && (any_host || lists_host(*allowedRepoHosts, *prefix))) hosts.insert(with_port(*prefix));
    }
  } else if (!any_host) {
    hosts.insert(allowedRepoHosts->begin(), allowedRepoHosts->end());
  }
  return hosts.size() == 1 ? *hosts.begin() : "";
}

std::string Policy::denial_of_host(std::string_view caller, std::string_view host_id) const {
  const std::string denied = "host is not allowed: " + std::string(host_id);
  if (!hostId.empty() && hostId != host_id) return denied;
  if (callers.empty()) return hostId.empty() ? denied : "";
  for (const CallerHosts& each : callers) {
    if ((each.caller == "*" || each.caller == caller) && lists(each.hostIds, host_id)) return "";
  }
  return denied;
}

std::string Policy::denial_of(const json::value& object) const {
  const ObjectRef ref = ref_of(object);
  const std::string kind = ref.group().empty() ? ref.kind : ref.group() + "/" + ref.kind;
  if (blocks_kind(blockedKinds, ref)) return "resource kind is blocked: " + kind;
  if (!allows_kind(allowedKinds, ref)) return "resource kind is not allowed: " + kind;
  if (!ref.name_space.empty()) {
    if (std::string why = denial_of_namespace(ref.name_space); !why.empty()) return why;
  }
  if (ref.kind == "PersistentVolume" && podSecurity != "privileged" && at(object, {"spec", "hostPath"}).is_object()) {
    return "the hostPath of PersistentVolume/" + ref.name + " needs podSecurity: privileged";
  }
  return PodSpecs(*this, ref.kind + "/" + ref.name).walk(object);
}

std::string override_needed(const PrunePolicy& policy, const Pruned& pruned) {
  if (!policy.enabled || !policy.overrideRequired || pruned.removed == 0) return "";
  const size_t percent = pruned.tracked == 0 ? 100 : 100 * pruned.removed / pruned.tracked;
  if (const std::string kind = sensitive_of(policy, pruned); !kind.empty()) {
    return percent_message(pruned) + ", and " + kind + " is a sensitive kind";
  }
  const bool many = policy.maxDeleteCount && pruned.removed > static_cast<size_t>(*policy.maxDeleteCount);
  if (percent > static_cast<size_t>(policy.maxDeletePercent) || many) return percent_message(pruned);
  return "";
}

std::string override_needed_for_all(const PrunePolicy& policy, const Pruned& pruned) {
  if (!policy.overrideRequired) return "";
  const std::string kind = sensitive_of(policy, pruned);
  return kind.empty() ? "" : percent_message(pruned) + ", and " + kind + " is a sensitive kind";
}

}  // namespace sluice::kube
