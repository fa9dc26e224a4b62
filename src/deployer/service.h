// Service answers what drives Light-Deployer: its paths over TCP, to the callers, roles and actions that Sluice has. At
// the home's socket it is the API, so commands go on working while it runs.
//
// A caller shows a token. Without one they are let in as the home's owner if the policy says `devInsecure: true` and
// they come from loopback.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/service.h"
#include "deploy/executor/cluster_means.h"
#include "deployer/deployment.h"
#include "mcp/endpoint.h"
#include "mcp/tools.h"

namespace sluice::deployer {

// The seven, with schemas of their own. `means` says who the deployer is, and must outlive them.
std::vector<mcp::Tool> deployment_tools(deploy::executor::ClusterMeans* means);

// Whether the policy admits a caller from this address without a token.
bool admits_without_token(const kube::Policy& policy, std::string_view address);

class Service final : public host::SocketService {
 public:
  // `means` must outlive it.
  Service(host::ServiceParts parts, std::string version, deploy::executor::ClusterMeans& means);

  http::Response answer(const http::Request& request, const http::Peer& peer) override;
  void stop_waiting() override {
    stopping_ = true;
    means_.leave();
    api_.stop_waiting();
  }

 private:
  Result<engine::Caller> caller_of(const http::Request& request, const http::Peer& peer);
  http::Response ready();
  http::Response in_json(Responded responded);
  http::Response refused(const std::string& action, const std::string& code, const std::string& message, int status);
  http::Response deploy(const http::Request& request, host::Door& door, std::string_view tool);
  http::Response events(const http::Request& request, std::shared_ptr<host::Door> door);
  http::Response tool_words(const std::string& name);

  deploy::executor::ClusterMeans& means_;
  const std::string owner_;
  const Clock& clock_;
  std::atomic<bool> stopping_ = false;
  const std::vector<mcp::Tool> tools_;
  api::Service api_;
  mcp::Endpoint mcp_;
};

}  // namespace sluice::deployer
