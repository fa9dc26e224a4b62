// A server for tests that answers as Vault's documentation says.
#pragma once

#include <atomic>
#include <boost/json.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/json.h"
#include "http/server.h"

namespace sluice::deploy::vault_provider {

// As much of Vault as a client meets.
class VaultStandIn {
 public:
  explicit VaultStandIn(const Clock& clock) {
    auto listening = http::listen_tcp("127.0.0.1", 0);
    port = http::port_of(*listening);
    server_ = http::Server::start(
                  *std::move(listening),
                  [this](const http::Request& request, const http::Peer&) { return answer(request); }, clock)
                  .value();
  }
  std::string address() const { return "http://127.0.0.1:" + std::to_string(port); }

  std::atomic<bool> sealed = false, nonsense = false, forbids = false;
  std::atomic<bool> restarts = false;  // what stands before it answers in its place
  std::atomic<int> logins = 0, renewals = 0, lease_renewals = 0, reads = 0;
  std::atomic<int64_t> lease_s = 0;          // of what is read; 0: there is none
  std::atomic<bool> forgets_leases = false;  // those that it gave before
  std::atomic<int64_t> ttl_s = 3600;
  std::string token = "s.token";  // that it knows
  std::map<std::string, std::vector<std::string>> values;
  uint16_t port = 0;

 private:
  static http::Response said(int status, const json::object& body) { return {.status = status, .body = write(body)}; }
  http::Response answer(const http::Request& request) {
    std::lock_guard lock(mutex_);
    if (nonsense) return {.status = 200, .body = "<html>what?</html>"};
    if (restarts) return {.status = 503, .body = "<html>Service Unavailable</html>"};
    if (sealed) return said(503, {{"errors", json::array{"Vault is sealed"}}});
    std::string path;
    for (const std::string& each : request.path) path += "/" + each;
    if (path.ends_with("/login")) return login(path, parse_json(request.body)->root.as_object());
    const std::string* given = request.header("X-Vault-Token");
    if (given == nullptr || *given != token) return said(403, {{"errors", json::array{"permission denied"}}});
    if (path == "/v1/auth/token/lookup-self") {
      return said(200, {{"data", json::object{{"ttl", ttl_s.load()}, {"renewable", true}}}});
    }
    if (path == "/v1/auth/token/renew-self") {
      renewals++;
      return said(200, {{"auth", json::object{{"client_token", token}, {"lease_duration", ttl_s.load()}}}});
    }
    if (path == "/v1/sys/leases/renew") {
      lease_renewals++;
      if (forgets_leases.exchange(false)) return said(400, {{"errors", json::array{"lease not found"}}});
      return said(200, {{"lease_id", "secret/1"}, {"lease_duration", lease_s.load()}});
    }
    if (forbids) return said(403, {{"errors", json::array{"permission denied"}}});
    return data(request, path);
  }
  http::Response login(const std::string& path, const json::object& body) {
    const bool approle = path == "/v1/auth/approle/login" && body.at("role_id") == json::value("role") &&
                         body.at("secret_id") == json::value("secret-id");
    const bool kubernetes = path == "/v1/auth/k8s/login" && body.at("role") == json::value("sluice") &&
                            body.at("jwt") == json::value("jwt");
    if (!approle && !kubernetes) return said(400, {{"errors", json::array{"invalid role"}}});
    logins++;
    token = "s.login" + std::to_string(logins);
    return said(
        200, {{"auth", json::object{{"client_token", token}, {"lease_duration", ttl_s.load()}, {"renewable", true}}}});
  }
  http::Response data(const http::Request& request, const std::string& path) {
    const bool metadata = path.starts_with("/v1/secret/metadata/");
    const std::string name = path.substr(metadata ? 20 : 16);
    auto& versions = values[name];
    if (request.method == "DELETE") {
      values.erase(name);
      return {.status = 204};
    }
    if (request.method == "POST") {
      versions.push_back(write(parse_json(request.body)->root.at("data")));
      return said(200, {{"data", json::object{{"version", versions.size()}}}});
    }
    if (versions.empty()) return said(404, {{"errors", json::array()}});
    if (metadata)
      return said(200, {{"data", json::object{{"current_version", versions.size()}, {"versions", json::object()}}}});
    const std::string* asked = request.parameter("version");
    const size_t version = asked != nullptr ? std::stoul(*asked) : versions.size();
    if (version > versions.size()) return said(404, {{"errors", json::array()}});
    json::object about{{"version", version}, {"deletion_time", ""}};
    if (versions[version - 1].empty()) {
      about["deletion_time"] = "2030-01-31T12:00:00.123456789Z";
      return said(404, {{"data", json::object{{"data", nullptr}, {"metadata", about}}}});
    }
    reads++;
    return said(200, {{"lease_id", lease_s > 0 ? "secret/1" : ""},
                      {"lease_duration", lease_s.load()},
                      {"data", json::object{{"data", parse_json(versions[version - 1])->root}, {"metadata", about}}}});
  }

  std::mutex mutex_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace sluice::deploy::vault_provider
