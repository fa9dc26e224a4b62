// The routes are those of the API, without asking who calls.
#include "host/link/testing_desk.h"

#include <boost/json.hpp>

#include "base/json.h"
#include "crypto/key_file.h"
#include "crypto/x509.h"
#include "host/problem.h"

namespace sluice::host {
namespace {

http::Response said(const Result<json::object>& answer) {
  if (answer) return {.body = json::serialize(*answer)};
  const json::object told = problem(answer.error());
  return {.status = static_cast<int>(told.at("status").to_number<int64_t>()), .body = json::serialize(told)};
}

}  // namespace

TestingDesk::TestingDesk() {
  const int64_t now_ms = clock.wall_ms();
  const auto keys = home.folder("keys").value();
  (void)crypto::store_private_key(disk, (keys / "operator.pem").string(), crypto::PrivateKey::generate());
  authority =
      crypto::make_certificate({.name = "plane", .is_ca = true, .until_ms = now_ms + 86'400'000}, nullptr, now_ms)
          .value();
  fingerprint = crypto::read_certificates(authority.chain_pem)->front().fingerprint;
  desk = RouterDesk::start(
             {.hub = {.disk = disk,
                      .home = home,
                      .clock = clock,
                      .key = [keys, this] { return crypto::load_private_key(disk, (keys / "operator.pem").string()); },
                      .urls = [this] { return std::vector<std::string>{url()}; },
                      .log = [](const std::string&) {}},
              .url = [this] { return url(); },
              .fingerprint = [this] { return fingerprint; }})
             .value();
  // It was there before the certificates of routers that have ended since.
  auto roots = JoinedRouters(disk, home).ensure_authority(now_ms - 60 * int64_t{86'400'000}).value();
  auto leaf = crypto::make_certificate({.names = {"127.0.0.1"}, .until_ms = now_ms + 86'400'000}, &authority, now_ms);
  auto shown =
      http::ServerTls::make(
          {.chain_pem = leaf->chain_pem, .key_pem = std::string(leaf->key_pem.reveal()), .client_roots_pem = roots})
          .value();
  auto listening = http::listen_tcp("127.0.0.1", 0).value();
  port = http::port_of(listening);
  server = http::Server::start(
               std::move(listening),
               [this](const http::Request& request, const http::Peer& peer) { return answer(request, peer); }, clock,
               {}, {}, [shown] { return shown; })
               .value();
}

TestingDesk::~TestingDesk() {
  server.reset();
  desk.reset();
}

http::Response TestingDesk::answer(const http::Request& request, const http::Peer& peer) {
  if (request.method == "GET") {
    auto linked = desk->link(request.path.at(2), request, peer);
    return linked ? *std::move(linked) : said(linked.error());
  }
  const auto body = parse_json(request.body)->root.as_object();
  auto text = [&](const char* name) { return std::string(body.at(name).as_string()); };
  if (request.path.back() == "renew") return said(desk->renew(text("certificate"), text("request")));
  return said(desk->join({.token = text("token"),
                          .name = text("name"),
                          .router = text("router"),
                          .machine = text("machine"),
                          .request = text("request")}));
}

}  // namespace sluice::host
