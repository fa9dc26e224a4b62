// What is decided here is written before it is answered.
#include "host/link/router_desk.h"

#include "base/utc_time.h"
#include "crypto/base64.h"
#include "crypto/ed25519.h"

namespace sluice::host {
namespace {

Result<std::string> der_in(const std::string& base64) {
  auto der = crypto::from_base64(base64);
  if (!der) return Error{.code = Code::invalid, .message = "the signing request is not in base64"};
  return *std::move(der);
}

json::array urls_array(const std::vector<std::string>& urls) {
  json::array all;
  for (const std::string& each : urls) all.emplace_back(each);
  return all;
}

}  // namespace

RouterDesk::RouterDesk(Means means)
    : means_(std::move(means)),
      tokens_(means_.hub.disk, means_.hub.home, means_.hub.clock, JoinsAs::router),
      joined_(means_.hub.disk, means_.hub.home) {}

Result<std::unique_ptr<RouterDesk>> RouterDesk::start(Means means) {
  std::unique_ptr<RouterDesk> desk(new RouterDesk(std::move(means)));
  auto joined = desk->joined_.list();
  if (!joined) return joined.error();
  auto hub = LinkHub::start(desk->means_.hub, *joined);
  if (!hub) return hub.error();
  desk->hub_ = *std::move(hub);
  return desk;
}

Result<json::object> RouterDesk::invite(const std::string& environment) {
  const std::string url = means_.url();
  if (!url.starts_with("https://")) {
    return Error{.code = Code::conflict,
                 .message = "this control plane listens at no address where a router could join",
                 .next = "sluice serve --listen ADDRESS:PORT --tls-own"};
  }
  // Before a router comes: connections ask for its certificates from then on.
  if (auto authority = joined_.ensure_authority(means_.hub.clock.wall_ms()); !authority) return authority.error();
  auto made = tokens_.make(means_.fingerprint(), environment);
  if (!made) return made.error();
  return json::object{
      {"token", made->token}, {"expires", utc_text(made->expires_ms)}, {"url", url}, {"environment", environment}};
}

Result<json::object> RouterDesk::join(const Ask& ask) {
  auto der = der_in(ask.request);
  if (!der) return der.error();
  auto key = means_.hub.key();
  if (!key) return key.error();
  auto taken = tokens_.take(ask.token);
  if (!taken) {
    means_.hub.log("a router was refused that wanted to join: " + taken.error().message);
    return taken.error();
  }
  const std::string environment = taken->environment.value_or("local");
  auto chain = joined_.join({.name = ask.name,
                             .router = ask.router,
                             .environment = environment,
                             .machine = ask.machine,
                             .request = *std::move(der)},
                            means_.hub.clock.wall_ms());
  if (!chain) return chain.error();
  means_.hub.log("the router " + ask.name + " has joined, for " + environment);
  return json::object{{"certificate", *std::move(chain)},
                      {"environment", environment},
                      {"trust", json::array{key->public_key().to_pem()}},
                      {"urls", urls_array(means_.hub.urls())}};
}

Result<json::object> RouterDesk::renew(const std::string& chain_pem, const std::string& request) {
  auto der = der_in(request);
  if (!der) return der.error();
  auto chain = joined_.renew(chain_pem, *der, means_.hub.clock.wall_ms());
  if (!chain) return chain.error();
  return json::object{{"certificate", *std::move(chain)}};
}

Result<json::object> RouterDesk::remove(const std::string& name) {
  auto removed = joined_.remove(name);
  if (!removed) return removed.error();
  hub_->forget(name);
  means_.hub.log("the router " + name + " was removed");
  return json::object{{"removed", name}, {"machine", removed->machine}};
}

Result<http::Response> RouterDesk::link(const std::string& name, const http::Request& request, const http::Peer& peer) {
  if (peer.certificate.empty()) {
    return Error{.code = Code::unauthenticated, .message = "a router shows its certificate when it links itself"};
  }
  const std::string* versions = request.header(kLinkVersionsHeader);
  if (auto common = common_link_version(versions != nullptr ? *versions : "", "the router " + name); !common) {
    means_.hub.log("the router " + name + " was refused: " + common.error().message);
    return common.error();
  }
  auto router = joined_.known_by(peer.certificate, name, means_.hub.clock.wall_ms());
  if (!router) {
    means_.hub.log("the router " + name + " was refused: " + router.error().message);
    return router.error();
  }
  return http::Response{.protocol = std::string(kLinkProtocol),
                        .give_away = [hub = hub_.get(), router = *std::move(router)](
                                         std::unique_ptr<http::HeldConnection> connection, std::string input) {
                          hub->take(router, std::move(connection), std::move(input));
                        }};
}

}  // namespace sluice::host
