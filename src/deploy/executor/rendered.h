// From a request to the objects that it wants: the policy asked, templates fetched and filled in, namespace and labels
// set, and everything checked that can be without the cluster.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "deploy/executor/cluster_means.h"
#include "deploy/executor/refusal.h"
#include "deploy/executor/request.h"
#include "render/taint.h"

namespace sluice::deploy::executor {

// The policy, if it allows the request as far as that says: cluster, action, namespace, host, ids.
Tried<kube::Policy> admitted(ClusterMeans& means, const Request& request);

struct Rendered {
  std::vector<boost::json::value> objects;  // in the order of the templates
  std::string manifest_hash;
  std::string values_hash;
  std::string runtime_values_hash;  // empty: there are no runtime values
  std::string commit;
  rendering::Taint taint;
  KnownSecrets secrets;  // to which the values referred
};
Tried<Rendered> rendered(ClusterMeans& means, const kube::Policy& policy, const Request& request, const Sent& sent);

// The same of objects that were kept: today's policy holds for them, too.
std::optional<Refusal> denial_of_objects(const kube::Policy& policy, const std::vector<boost::json::value>& objects);

// The waves, with the objects of each as pieces that are to be applied.
Tried<std::vector<Piece>> pieces_of(const std::vector<boost::json::value>& objects);

// The kinds without a namespace that these objects define: group and kind of each.
using Kinds = std::set<std::pair<std::string, std::string>>;
Kinds cluster_kinds_of(const std::vector<boost::json::value>& objects);

// Whether objects of this kind have no namespace, as far as it is known without a cluster.
bool is_cluster_scoped(const kube::ObjectRef& ref, const Kinds& defined);

}  // namespace sluice::deploy::executor
