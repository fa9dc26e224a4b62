// VaultClient speaks Vault's HTTP API: the tool behind VaultProvider's effects. It logs in when it must, renews its
// token when two thirds of its life are over, and logs in again when the server does not know the token any more. What
// is read with a lease is kept alive likewise, whenever the server is asked for anything; once a lease has expired its
// secret is fetched again.
//
// An Error's code says what is wrong: `gate_rejected` Vault is sealed; `unauthenticated` the token is not known any
// more and there is no way to log in again; `denied` it may not; `not_found` there is no such secret; `conflict` the
// version has expired; `unavailable` and `timeout` it is away; `invalid` its settings or its answers make no sense. No
// error has a token or a value in it. May be used from many threads.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/disk.h"
#include "base/document.h"
#include "base/random.h"
#include "base/result.h"
#include "base/terminal.h"
#include "http/outgoing.h"

namespace sluice::deploy::vault_provider {

// The answers of the pack sluice.secrets.vault.
struct VaultSettings {
  std::string address;           // "https://vault.example:8200"
  std::string auth = "token";    // token, approle or kubernetes
  std::string auth_mount;        // where that is mounted; else under its own name
  std::string mount = "secret";  // of the key-value store
  std::string path;              // before the secrets' names; else the environment
  std::string namespace_;
  std::string ca_file;  // whom to believe; else whom the system believes
  std::string token_file;
  std::string role_id, secret_id_file;
  std::string role, jwt_file = "/var/run/secrets/kubernetes.io/serviceaccount/token";

  bool operator==(const VaultSettings&) const = default;
};
// `answer` gives a text by its name, empty if there is none.
Result<VaultSettings> vault_settings(const std::string& environment,
                                     const std::function<std::string(std::string_view)>& answer);

class VaultClient {
 public:
  VaultClient(Disk& disk, const Clock& clock, Random& random, Variables variables)
      : disk_(disk), clock_(clock), random_(random), variables_(std::move(variables)) {}

  struct Secret {
    std::string value;
    std::string version;
    std::string written_by;  // the effect that wrote it
  };
  // Of an expired version the error's `path` is the time.
  Result<Secret> read(const VaultSettings& settings, const std::string& name,
                      const std::optional<std::string>& version);
  // Nothing: there is no such secret.
  Result<std::optional<std::string>> newest(const VaultSettings& settings, const std::string& name);
  // The new version.
  Result<std::string> write(const VaultSettings& settings, const std::string& name, const std::string& value,
                            const std::string& written_by);
  Result<void> remove(const VaultSettings& settings, const std::string& name);

  std::string make_up();

 private:
  struct Lease {
    std::string id;
    int64_t life_s = 0;
    int64_t renew_ns = 0;  // when two thirds of its life are over
  };
  struct Session {
    VaultSettings settings;
    std::unique_ptr<http::Outgoing> outgoing;
    std::string token;
    int64_t renew_ns = 0;                 // when two thirds of its life are over; 0: never
    int64_t expires_ns = 0;               // 0: never
    std::map<std::string, Lease> leases;  // by the path that was read
  };
  using Reply = http::OutgoingAnswer;

  Result<std::shared_ptr<Session>> session_of(const VaultSettings& settings);
  Result<void> log_in(Session& session);
  Result<void> keep_token(Session& session);
  void take_token(Session& session, const json::object& auth);
  void take_lease(Session& session, const std::string& path, const Reply& answer);
  void keep_leases(Session& session);
  Result<Reply> ask(Session& session, const std::string& method, const std::string& path, const std::string& body);
  // With a token; one that is not known any more is replaced once.
  Result<Reply> call(const VaultSettings& settings, const std::string& method, const std::string& path,
                     const std::string& body = "");
  std::string data_path(const VaultSettings& settings, const std::string& kind, const std::string& name) const;

  Disk& disk_;
  const Clock& clock_;
  Random& random_;
  Variables variables_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Session>> sessions_;  // by address, path and role
};

}  // namespace sluice::deploy::vault_provider
