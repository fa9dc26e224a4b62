// One request at a time for each session: what Vault is asked is small and rare.
#include "deploy/providers/secret/vault/vault_client.h"

#include <array>
#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/utc_time.h"
#include "crypto/base64.h"
#include "http/message.h"

namespace sluice::deploy::vault_provider {
namespace {

constexpr int64_t kSecond_ns = 1'000'000'000;
constexpr int64_t kTimeout_ms = 10'000;
constexpr size_t kMaxCredentialBytes = 64 << 10;
constexpr size_t kMadeUpBytes = 32;

Error bad(std::string message) { return {.code = Code::invalid, .message = std::move(message)}; }

Result<std::string> read_credential(Disk& disk, const std::string& path, const std::string& what) {
  if (path.empty()) return bad("the answers of the pack name no " + what);
  auto text = read_file(disk, path, kMaxCredentialBytes);
  if (!text) return text.error();
  while (text->ends_with('\n') || text->ends_with('\r') || text->ends_with(' ')) text->pop_back();
  if (text->empty()) return bad(path + ", which has the " + what + ", is empty");
  return text;
}

// An object inside an answer; null if it is none.
const json::object* inner(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr ? value->if_object() : nullptr;
}

int64_t number_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

std::string text_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

Result<json::object> body_of(const http::OutgoingAnswer& answer, const std::string& address) {
  auto parsed = parse_json(answer.body, "answer");
  if (!parsed || !parsed->root.is_object()) return bad("what is at " + address + " does not answer as Vault does");
  return parsed->root.get_object();
}

Error nonsense(const VaultSettings& settings) {
  return bad("the Vault at " + settings.address + " answered without what it was asked for");
}

}  // namespace

Result<VaultSettings> vault_settings(const std::string& environment,
                                     const std::function<std::string(std::string_view)>& answer) {
  VaultSettings settings{.path = environment};
  auto take = [&](std::string& into, std::string_view name) {
    if (std::string text = answer(name); !text.empty()) into = std::move(text);
  };
  take(settings.address, "address");
  take(settings.auth, "auth");
  take(settings.auth_mount, "auth_mount");
  take(settings.mount, "mount");
  take(settings.path, "path");
  take(settings.namespace_, "namespace");
  take(settings.ca_file, "ca_file");
  take(settings.token_file, "token_file");
  take(settings.role_id, "role_id");
  take(settings.secret_id_file, "secret_id_file");
  take(settings.role, "role");
  take(settings.jwt_file, "jwt_file");
  if (settings.address.empty()) {
    return bad("the answers of the secrets pack of " + environment + " name no `address` of a Vault");
  }
  while (settings.address.ends_with('/')) settings.address.pop_back();
  if (auto url = http::parse_url(settings.address); !url) return url.error();
  if (settings.auth != "token" && settings.auth != "approle" && settings.auth != "kubernetes") {
    return bad("the answer `auth` is token, approle or kubernetes");
  }
  if (settings.auth_mount.empty()) settings.auth_mount = settings.auth;
  return settings;
}

std::string VaultClient::make_up() {
  std::array<uint8_t, kMadeUpBytes> bytes{};
  random_.fill(bytes);
  return crypto::to_base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, crypto::Base64::url_unpadded);
}

std::string VaultClient::data_path(const VaultSettings& settings, const std::string& kind,
                                   const std::string& name) const {
  std::string path = settings.mount + "/" + kind;
  for (std::string_view rest : {std::string_view(settings.path), std::string_view(name)}) {
    while (!rest.empty()) {
      const size_t slash = std::min(rest.find('/'), rest.size());
      path += "/" + http::percent_encoded(rest.substr(0, slash));
      rest.remove_prefix(std::min(slash + 1, rest.size()));
    }
  }
  return path;
}

Result<std::shared_ptr<VaultClient::Session>> VaultClient::session_of(const VaultSettings& settings) {
  auto& session = sessions_[settings.address + " " + settings.path + " " + settings.auth + " " + settings.role_id +
                            settings.role + settings.token_file];
  if (session && session->settings == settings) return session;
  http::Outgoing::Settings outgoing;
  if (!settings.ca_file.empty()) {
    auto roots = read_file(disk_, settings.ca_file, 1 << 20);
    if (!roots) return roots.error();
    outgoing.tls.roots_pem = *std::move(roots);
  }
  outgoing.proxy =
      http::proxy_of([&](const std::string& name) { return variables_(name).value_or(""); }, settings.address);
  session = std::make_shared<Session>();
  session->settings = settings;
  session->outgoing = std::make_unique<http::Outgoing>(std::move(outgoing), clock_);
  return session;
}

Result<VaultClient::Reply> VaultClient::ask(Session& session, const std::string& method, const std::string& path,
                                            const std::string& body) {
  http::OutgoingRequest request{.method = method,
                                .url = session.settings.address + "/v1/" + path,
                                .headers = {{"X-Vault-Request", "true"}},
                                .body = body,
                                .timeout_ms = kTimeout_ms};
  if (!body.empty()) request.headers.push_back({"Content-Type", "application/json"});
  if (!session.token.empty()) request.headers.push_back({"X-Vault-Token", session.token});
  if (!session.settings.namespace_.empty())
    request.headers.push_back({"X-Vault-Namespace", session.settings.namespace_});
  auto answer = session.outgoing->send(request);
  if (!answer) return answer;
  // What stands before a Vault says 503 as well, while it restarts.
  if (answer->status == 503 && answer->body.find("sealed") != std::string::npos) {
    return Error{.code = Code::gate_rejected, .message = "the Vault at " + session.settings.address + " is sealed"};
  }
  if (answer->status >= 500 || answer->status == 429) {
    return Error{.code = Code::unavailable,
                 .message = "the Vault at " + session.settings.address + " answered " + std::to_string(answer->status)};
  }
  return answer;
}

void VaultClient::take_token(Session& session, const json::object& auth) {
  if (std::string token = text_in(auth, "client_token"); !token.empty()) session.token = token;
  const int64_t life_s = number_in(auth, "lease_duration");
  const int64_t now_ns = clock_.monotonic_ns();
  session.renew_ns = life_s > 0 ? now_ns + life_s * kSecond_ns * 2 / 3 : 0;
  session.expires_ns = life_s > 0 ? now_ns + life_s * kSecond_ns : 0;
}

Result<void> VaultClient::log_in(Session& session) {
  const VaultSettings& settings = session.settings;
  session.token.clear();
  json::object credentials;
  if (settings.auth == "token") {
    auto token = read_credential(disk_, settings.token_file, "token_file");
    if (!token) return token.error();
    session.token = *std::move(token);
    auto answer = ask(session, "GET", "auth/token/lookup-self", "");
    if (!answer) return answer.error();
    if (answer->status != 200) {
      session.token.clear();
      return Error{.code = Code::unauthenticated,
                   .message = "the Vault at " + settings.address + " does not know the token of " +
                              settings.token_file + "; it has expired or was revoked"};
    }
    auto body = body_of(*answer, settings.address);
    if (!body) return body.error();
    const json::object* data = inner(*body, "data");
    if (data == nullptr) return nonsense(settings);
    json::object auth{{"lease_duration", number_in(*data, "ttl")}};
    const json::value* renewable = data->if_contains("renewable");
    take_token(session, auth);
    if (renewable == nullptr || *renewable != json::value(true)) session.renew_ns = 0;
    return {};
  }
  if (settings.auth == "approle") {
    auto secret_id = read_credential(disk_, settings.secret_id_file, "secret_id_file");
    if (!secret_id) return secret_id.error();
    credentials = {{"role_id", settings.role_id}, {"secret_id", *secret_id}};
  } else {
    auto jwt = read_credential(disk_, settings.jwt_file, "jwt_file");
    if (!jwt) return jwt.error();
    credentials = {{"role", settings.role}, {"jwt", *jwt}};
  }
  auto answer = ask(session, "POST", "auth/" + settings.auth_mount + "/login", sluice::write(credentials));
  if (!answer) return answer.error();
  if (answer->status != 200) {
    return Error{.code = Code::unauthenticated,
                 .message = "the Vault at " + settings.address + " refused the login by " + settings.auth + " with " +
                            std::to_string(answer->status)};
  }
  auto body = body_of(*answer, settings.address);
  if (!body) return body.error();
  const json::object* auth = inner(*body, "auth");
  if (auth == nullptr || text_in(*auth, "client_token").empty()) return nonsense(settings);
  take_token(session, *auth);
  return {};
}

Result<void> VaultClient::keep_token(Session& session) {
  const int64_t now_ns = clock_.monotonic_ns();
  if (session.token.empty() || (session.expires_ns > 0 && now_ns >= session.expires_ns)) return log_in(session);
  if (session.renew_ns == 0 || now_ns < session.renew_ns) return {};
  auto answer = ask(session, "POST", "auth/token/renew-self", "{}");
  if (answer && answer->status == 200) {
    auto body = body_of(*answer, session.settings.address);
    const json::object* auth = body ? inner(*body, "auth") : nullptr;
    if (auth != nullptr) {
      take_token(session, *auth);
      return {};
    }
  }
  // One that cannot be renewed is good until it expires, unless there is a way to log in again.
  if (session.settings.auth == "token") return {};
  return log_in(session);
}

// A lease that the server does not name is none; key-value secrets usually have none.
void VaultClient::take_lease(Session& session, const std::string& path, const Reply& answer) {
  auto body = answer.status == 200 ? body_of(answer, session.settings.address) : Error{};
  const std::string id = body ? text_in(*body, "lease_id") : "";
  const int64_t life_s = body ? number_in(*body, "lease_duration") : 0;
  if (id.empty() || life_s <= 0) {
    session.leases.erase(path);
  } else {
    session.leases[path] = {id, life_s, clock_.monotonic_ns() + life_s * kSecond_ns * 2 / 3};
  }
}

void VaultClient::keep_leases(Session& session) {
  std::vector<std::string> due;
  for (const auto& [path, lease] : session.leases) {
    if (clock_.monotonic_ns() >= lease.renew_ns) due.push_back(path);
  }
  for (const std::string& path : due) {
    Lease& lease = session.leases[path];
    auto answer = ask(session, "PUT", "sys/leases/renew",
                      sluice::write(json::object{{"lease_id", lease.id}, {"increment", lease.life_s}}));
    if (!answer) return;  // it is away; the lease is asked about again with the next call
    auto body = answer->status == 200 ? body_of(*answer, session.settings.address) : Error{};
    if (const int64_t life_s = body ? number_in(*body, "lease_duration") : 0; life_s > 0) {
      lease.life_s = life_s;
      lease.renew_ns = clock_.monotonic_ns() + life_s * kSecond_ns * 2 / 3;
      continue;
    }
    auto fetched = ask(session, "GET", path, "");
    if (!fetched) return;
    take_lease(session, path, *fetched);
  }
}

Result<VaultClient::Reply> VaultClient::call(const VaultSettings& settings, const std::string& method,
                                             const std::string& path, const std::string& body) {
  std::lock_guard lock(mutex_);
  auto session = session_of(settings);
  if (!session) return session.error();
  for (bool again = true;; again = false) {
    if (auto kept = keep_token(**session); !kept) return kept.error();
    keep_leases(**session);
    auto answer = ask(**session, method, path, body);
    if (answer && method == "GET") take_lease(**session, path, *answer);
    if (!answer || answer->status != 403) return answer;
    auto known = ask(**session, "GET", "auth/token/lookup-self", "");
    if (!known) return known;
    if (known->status == 200 || !again) {
      return Error{.code = Code::denied,
                   .message = "the Vault at " + settings.address + " does not allow " + method + " " + path};
    }
    (*session)->token.clear();
  }
}

Result<VaultClient::Secret> VaultClient::read(const VaultSettings& settings, const std::string& name,
                                              const std::optional<std::string>& version) {
  std::string path = data_path(settings, "data", name);
  if (version) path += "?version=" + http::percent_encoded(*version);
  auto answer = call(settings, "GET", path);
  if (!answer) return answer.error();
  const std::string what = (version ? "version " + *version + " of " : "") + name;
  const Error none{.code = Code::not_found, .message = "the Vault at " + settings.address + " has no " + what};
  auto body = body_of(*answer, settings.address);
  if (!body) return answer->status == 404 ? none : body.error();
  const json::object* data = inner(*body, "data");
  const json::object* metadata = data != nullptr ? inner(*data, "metadata") : nullptr;
  if (answer->status == 404) {
    const std::string gone_at = metadata != nullptr ? text_in(*metadata, "deletion_time") : "";
    if (gone_at.empty()) return none;
    return Error{.code = Code::conflict,
                 .message = what + " expired or was deleted in the Vault at " + settings.address,
                 .path = gone_at};
  }
  if (answer->status != 200) {
    return Error{.code = Code::unavailable,
                 .message = "the Vault at " + settings.address + " answered " + std::to_string(answer->status)};
  }
  const json::object* values = data != nullptr ? inner(*data, "data") : nullptr;
  if (values == nullptr || metadata == nullptr || number_in(*metadata, "version") < 1) return nonsense(settings);
  const json::value* value = values->if_contains("value");
  if (value == nullptr || !value->is_string()) {
    return bad(name + " in the Vault at " + settings.address + " has no text under the key `value`");
  }
  return Secret{.value = std::string(value->get_string()),
                .version = std::to_string(number_in(*metadata, "version")),
                .written_by = text_in(*values, "sluice_effect")};
}

Result<std::optional<std::string>> VaultClient::newest(const VaultSettings& settings, const std::string& name) {
  auto answer = call(settings, "GET", data_path(settings, "metadata", name));
  if (!answer) return answer.error();
  if (answer->status == 404) return std::optional<std::string>();
  auto body = body_of(*answer, settings.address);
  if (!body) return body.error();
  const json::object* data = inner(*body, "data");
  if (answer->status != 200 || data == nullptr) return nonsense(settings);
  const json::value* current = data->if_contains("current_version");
  if (current == nullptr || !current->is_int64()) return nonsense(settings);
  const int64_t newest = current->get_int64();
  if (newest < 1) return std::optional<std::string>();
  const json::object* versions = inner(*data, "versions");
  const json::object* one = versions != nullptr ? inner(*versions, std::to_string(newest)) : nullptr;
  const json::value* destroyed = one != nullptr ? one->if_contains("destroyed") : nullptr;
  if (destroyed != nullptr && *destroyed == json::value(true)) return std::optional<std::string>();
  return std::optional(std::to_string(newest));
}

Result<std::string> VaultClient::write(const VaultSettings& settings, const std::string& name, const std::string& value,
                                       const std::string& written_by) {
  const json::object body{{"data", json::object{{"value", value}, {"sluice_effect", written_by}}}};
  auto answer = call(settings, "POST", data_path(settings, "data", name), sluice::write(body));
  if (!answer) return answer.error();
  auto said = body_of(*answer, settings.address);
  if (!said) return said.error();
  const json::object* data = inner(*said, "data");
  if (answer->status != 200 || data == nullptr || number_in(*data, "version") < 1) return nonsense(settings);
  return std::to_string(number_in(*data, "version"));
}

Result<void> VaultClient::remove(const VaultSettings& settings, const std::string& name) {
  auto answer = call(settings, "DELETE", data_path(settings, "metadata", name));
  if (!answer) return answer.error();
  if (answer->status == 204 || answer->status == 200 || answer->status == 404) return {};
  return nonsense(settings);
}

}  // namespace sluice::deploy::vault_provider
