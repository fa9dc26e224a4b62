// RouterDesk is what a control plane answers to routers on other machines, and to the operator who lets them in:
// tokens, certificates, and the connection over which a router obeys.
//
//   auto token = desk.invite("prod");                    // good once, for an hour, for a router of that environment
//   auto joined = desk.join({.token = …, .request = …}); // its certificate, and whom it is to trust
//   return desk.link("edge", request, peer);             // takes over the connection
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/join_tokens.h"
#include "host/link/joined_routers.h"
#include "host/link/link_hub.h"
#include "http/message.h"
#include "http/server.h"

namespace sluice::host {

namespace json = boost::json;

class RouterDesk {
 public:
  struct Means {
    LinkHub::Means hub;
    std::function<std::string()> url;          // where this replica listens; empty: nowhere
    std::function<std::string()> fingerprint;  // of the authority for its certificate; empty: it is not its own
  };
  // What the means refer to must outlive it.
  static Result<std::unique_ptr<RouterDesk>> start(Means means);

  Result<json::object> invite(const std::string& environment);

  struct Ask {
    std::string token, name, router, machine;
    std::string request;  // in base64
  };
  Result<json::object> join(const Ask& ask);
  Result<json::object> renew(const std::string& chain_pem, const std::string& request);
  Result<json::object> remove(const std::string& name);
  // An error, or an answer that gives the connection away.
  Result<http::Response> link(const std::string& name, const http::Request& request, const http::Peer& peer);

 private:
  explicit RouterDesk(Means means);

  Means means_;
  JoinTokens tokens_;
  JoinedRouters joined_;
  std::unique_ptr<LinkHub> hub_;
};

}  // namespace sluice::host
