// PodHost brings the pods of instances to run in clusters: the tool behind K8sRuntime's effects, and a seam for its
// tests. Everything may be repeated under the same service and serial after a crash.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "bundle/manifest/manifest.h"
#include "deploy/providers/runtime/k8s/pod_objects.h"
#include "deploy/views/pod_place.h"

namespace sluice::deploy::k8s_runtime {

struct Pod {
  std::string name;
  std::string endpoint;  // "http://10.1.0.7:8080"

  bool operator==(const Pod&) const = default;
};

// Why pods could not be brought to run.
struct Misfortune {
  enum class Kind { crash_loop, image, quota, unschedulable, not_ready, unreachable, refused, unavailable, cancelled };
  Kind kind = Kind::unavailable;
  std::string pod;
  std::string reason;
  std::vector<std::string> last_lines;
};

// A bundle, as far as a cluster needs it.
struct PodBundle {
  bundle::Manifest manifest;
  std::string image;  // by digest
  std::string hash;   // of the archive
};

// What a cluster is asked with. The handle says which it is without saying what it is.
struct PodCredential {
  std::string handle;  // empty: what the kubeconfig says
  std::string token;
};

class PodHost {
 public:
  virtual ~PodHost() = default;

  // Asks the cluster with this credential from now on.
  virtual void hold(const views::PodPlace& place, const PodCredential& credential) = 0;

  // `invalid` for what is no bundle with an image that is pinned by digest.
  virtual Result<PodBundle> open(const std::string& artifact) = 0;
  // Applies the objects and waits until all pods are ready and can be reached.
  virtual std::variant<std::vector<Pod>, Misfortune> bring_up(const views::PodPlace& place, const PodPlan& plan,
                                                              const std::function<bool()>& cancelled) = 0;
  // Removes all objects of a service, but those of the serial that is kept; 0 keeps none.
  virtual Result<void> take_down(const views::PodPlace& place, const std::string& service, int64_t kept) = 0;
  // Removes the objects of this serial alone.
  virtual Result<void> take_down_one(const views::PodPlace& place, const std::string& service, int64_t serial) = 0;
  virtual Result<void> resize(const views::PodPlace& place, const std::string& service, int64_t serial,
                              int64_t replicas) = 0;
  // Waits for so many pods of what is applied already.
  virtual std::variant<std::vector<Pod>, Misfortune> await(const views::PodPlace& place, const std::string& service,
                                                           int64_t serial, int64_t replicas, int64_t within_ms,
                                                           const std::function<bool()>& cancelled) = 0;
  // How long the slowest pod took to be connected to.
  virtual Result<int64_t> reach(const views::PodPlace& place, const std::string& service, int64_t serial,
                                int64_t replicas) = 0;
};

}  // namespace sluice::deploy::k8s_runtime
