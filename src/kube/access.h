// Access says where an API server is and who one is there: from kubeconfig files, or from inside a pod.
//
//   auto access = find_access(disk, variables, "");     // KUBECONFIG, else the pod's own, else ~/.kube/config
//
// The server's certificate is always verified: a kubeconfig that asks not to is refused. http:// is taken for loopback
// alone. Certificates and keys are read once; a token file is read again for each request by KubeLogin, as the file
// changes while the pod lives; an exec plugin runs when its token or its certificate has expired or was refused.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"
#include "base/terminal.h"
#include "http/outgoing.h"

namespace sluice::kube {

struct ExecPlugin {
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;
  std::string api_version;
  std::string hint;  // how to install it
};

struct Access {
  std::string server;  // "https://10.0.0.1:6443", without a slash at its end
  http::Tls tls;
  std::string proxy;
  std::string name_space = "default";
  std::string token;
  std::string token_file;
  std::string basic;  // "user:password"
  std::optional<ExecPlugin> exec;
  std::string source;  // "the context kind of /root/.kube/config", for messages
};

// Of the files in KUBECONFIG, or ~/.kube/config; the first file that says something wins. Without a context the
// current one counts.
Result<Access> kubeconfig_access(Disk& disk, const Variables& variables, const std::string& context);
// What Kubernetes puts into every pod.
Result<Access> in_cluster_access(Disk& disk, const Variables& variables,
                                 const std::string& folder = "/var/run/secrets/kubernetes.io/serviceaccount");
Result<Access> find_access(Disk& disk, const Variables& variables, const std::string& context);

// Runs an exec plugin and says what it printed.
using RunPlugin = std::function<Result<std::string>(const ExecPlugin& plugin)>;

struct ClientCertificate {
  std::string chain_pem;
  std::string key_pem;

  bool operator==(const ClientCertificate&) const = default;
};

// The value of Authorization for the next request. May be used from many threads.
class KubeLogin {
 public:
  KubeLogin(const Access& access, Disk& disk, const Clock& clock, RunPlugin run)
      : access_(access), disk_(disk), clock_(clock), run_(std::move(run)) {}

  // Empty: none is needed. After a 401 `refused` asks for another than the last.
  Result<std::string> authorization(bool refused = false);
  // What the plugin has said to show in place of the kubeconfig's certificate; empty: nothing.
  ClientCertificate certificate();

 private:
  Result<std::string> from_plugin(bool refused);

  const Access access_;
  Disk& disk_;
  const Clock& clock_;
  RunPlugin run_;
  std::mutex mutex_;
  std::string plugin_token_;
  ClientCertificate plugin_certificate_;
  int64_t until_ms_ = 0;
};

}  // namespace sluice::kube
