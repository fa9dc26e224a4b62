// The router's tables and its control socket.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <boost/json.hpp>
#include <cstring>

#include "bench/folder.h"
#include "bench/router_control.h"
#include "crypto/dsse.h"
#include "crypto/sha256.h"

namespace sluice::bench {
namespace {

std::string request_text(const crypto::PrivateKey& key, boost::json::object order, const std::string& body) {
  order["schema"] = "sluice.router-order.v1";
  order["environment"] = "local";
  order["router"] = "*";
  order["digest"] = crypto::to_string(crypto::sha256(body));
  auto envelope =
      must(crypto::sign_envelope("application/vnd.sluice.router-order+json", boost::json::serialize(order), {&key, 1}));
  boost::json::object line = {
      {"op", order["op"]}, {"order", crypto::write_envelope(envelope)}, {"bytes", static_cast<int64_t>(body.size())}};
  return boost::json::serialize(line) + "\n" + body;
}

std::string replica_text(const std::string& endpoint) {
  return R"([{"address":")" + (endpoint.starts_with("unix:") ? endpoint : "tcp:" + endpoint) + "\"}]";
}

}  // namespace

std::string deployment_text(const std::vector<std::string>& replicas, int weight_bps) {
  return R"({"id":"01JABCDEFGHJKMNPQRSTVWXYZ0","bundle":"app","customer":"acme","tenant":"default","team":"default",)"
         R"("routes":{"hosts":["app.example"],"path_prefixes":["/"]},"stickiness":{"mode":"session","secure":false},)"
         R"("revisions":[{"id":"r2","weight_bps":)" +
         std::to_string(weight_bps) + R"(,"replicas":)" + replica_text(replicas[1]) + R"(},{"id":"r1","weight_bps":)" +
         std::to_string(10000 - weight_bps) + R"(,"replicas":)" + replica_text(replicas[0]) + "}]}";
}

std::string bulk_text(int count, int hosts) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    std::string id = "bulk-" + std::to_string(i);
    text += (i == 0 ? "{\"id\":\"" : ",{\"id\":\"") + id + R"(","bundle":"app","customer":"acme","routes":{"hosts":[)";
    for (int k = 0; k < hosts; ++k) {
      text += (k == 0 ? "\"" : ",\"") + id + "-" + std::to_string(k) + ".bulk.example\"";
    }
    text +=
        R"(],"path_prefixes":["/"]},"revisions":[{"id":"r1","weight_bps":10000,"replicas":[{"address":"unix:/run/)" +
        id + R"(.sock"}]}]})";
  }
  return text;
}

std::string table_text(int generation, const std::string& deployments) {
  return R"({"schema":"sluice.router-table.v1","environment":"local","generation":)" + std::to_string(generation) +
         R"(,"cookie_keys":[{"id":"k1","key":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}],"access_log_bps":0,"deployments":[)" +
         deployments + "]}";
}

std::string load_request(const crypto::PrivateKey& key, int generation, const std::string& table) {
  return request_text(key, {{"op", "load"}, {"generation", generation}}, table);
}

std::string patch_request(const crypto::PrivateKey& key, int generation, const std::string& deployment) {
  return request_text(key, {{"op", "patch"}, {"generation", generation}, {"from", generation - 1}},
                      R"({"schema":"sluice.router-patch.v1","deployment":)" + deployment + "}");
}

ControlSocket::ControlSocket(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  must(path.size() < sizeof address.sun_path, "the control socket's path is too long");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  must(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "no control socket at " + path);
}

ControlSocket::~ControlSocket() { ::close(fd_); }

std::string ControlSocket::acknowledged(const std::string& request) {
  for (size_t sent = 0; sent < request.size();) {
    ssize_t put = ::send(fd_, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
    must(put > 0, "the control socket ended");
    sent += static_cast<size_t>(put);
  }
  std::string line;
  std::array<char, 65536> piece{};
  while (!line.ends_with('\n')) {
    ssize_t got = ::recv(fd_, piece.data(), piece.size(), 0);
    must(got > 0, "the control socket ended");
    line.append(piece.data(), static_cast<size_t>(got));
  }
  must(boost::json::parse(line).at("ok").as_bool(), "refused: " + line);
  return line;
}

}  // namespace sluice::bench
