// ClusterMeans is what the effects of Cluster work with: the deployer's policy, its templates, its cluster, and a place
// for what nobody may read on the disk.
//
//   LIGHT_DEPLOYER_CONFIG             the policy; else deployer.yml in LIGHT_DEPLOYER_CONFIG_DIR, else in the home
//   LIGHT_DEPLOYER_TEMPLATE_BASE_DIR  where templates of the repository `local` are
//   LIGHT_DEPLOYER_KUBE_MODE          real or noop; else real inside a pod or with KUBECONFIG, and noop elsewhere
//   LIGHT_DEPLOYER_REMOTE_CACHE_DIR   where copies of Git repositories are kept; else in the home
//   LIGHT_DEPLOYER_GIT_TOKEN          for the repositories of the one host that the policy allows; where it allows
//                                     several, its gitCredentials say whose a token is
//   LIGHT_DEPLOYER_GIT_USERNAME       beside that token; else what the host usually expects
//
// The policy is read anew whenever it is asked for. Once it was good, a bad file does not replace it, and
// policy_trouble says what is wrong with that. May be used from many threads.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/random.h"
#include "base/result.h"
#include "base/terminal.h"
#include "crypto/hmac.h"
#include "kube/client.h"
#include "kube/policy.h"
#include "lang/run/handler.h"
#include "process/run.h"
#include "render/template.h"

namespace sluice::git {
class Repositories;
}

namespace sluice::deploy::executor {

// Keeps texts under the data key of an environment, each in one version.
struct Safe {
  std::function<Result<void>(const lang::Snapshot& snapshot, const std::string& environment, const std::string& name,
                             const std::string& text, const std::string& by)>
      put;
  std::function<Result<std::string>(const std::string& environment, const std::string& name)> get;
  std::function<Result<void>(const std::string& environment, const std::string& name)> remove;
};

struct Fetched {
  std::vector<rendering::TemplateFile> files;
  std::string commit;  // empty: they are of no repository
};

class ClusterMeans {
 public:
  struct Parts {
    Disk& disk;
    Clock& clock;
    Random& random;
    process::Runner& runner;
    Variables variables;
    std::string home;
    Safe safe;
  };
  explicit ClusterMeans(Parts parts);
  ~ClusterMeans();

  Result<kube::Policy> policy();
  std::string policy_file() const;
  // What is wrong with the newest policy; empty if nothing is.
  std::string policy_trouble();

  bool is_noop() const;
  // The cluster. Not to be asked for if it is noop.
  Result<kube::Client*> client();

  // `denied`: the path leads out of its folder. `failed`: there is nothing to be had.
  Result<Fetched> templates(const kube::Policy& policy, const std::string& repository, const std::string& ref,
                            const std::string& path);
  // What stands for the values of Secrets in hashes.
  Result<crypto::Hmac> hmac();

  // Requests that are to stop, for steps that are under way in this process.
  void cancel(const std::string& request);
  bool is_cancelled(const std::string& request);
  void forget_cancelled(const std::string& request);
  // The program is about to end: nobody waits for a wave any more. What waits goes on when it is started again.
  void leave() { leaving_ = true; }
  bool is_leaving() const { return leaving_; }

  const Safe& safe() const { return parts_.safe; }
  Clock& clock() const { return parts_.clock; }

 private:
  std::string variable(const char* name) const { return parts_.variables(name).value_or(""); }
  Result<Fetched> fetched(const kube::Policy& policy, const std::string& url, const std::string& ref,
                          const std::string& path);
  git::Repositories& repositories();

  const Parts parts_;
  std::mutex mutex_;
  std::optional<kube::Policy> last_good_;
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<git::Repositories> repositories_;
  std::set<std::string> cancelled_;
  std::atomic<bool> leaving_ = false;
};

}  // namespace sluice::deploy::executor
