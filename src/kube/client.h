// Client speaks to one Kubernetes API server: any kind that discovery knows, custom ones as well.
//
//   Client client(access, disk, clock, run_plugin);
//   auto reply = client.apply(object, {.manager = "light-deployer"});
//   if (!reply) …                       // there was no answer: unavailable, timeout, verification_failed, limit
//   if (reply->failure) …               // the server said no: its status, reason and causes
//
// What may be repeated is: a 429, a 503 or a 500 that asks for it by Retry-After, and a connection that broke under a
// request that does the same when done twice; at most kMostAttempts times, and never longer than `patience_ms`. A 401
// asks for a new token once. May be used from many threads; eight connections are kept.
#pragma once

#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"
#include "http/outgoing.h"
#include "kube/access.h"
#include "kube/object.h"

namespace sluice::kube {

inline constexpr size_t kConnections = 8;
inline constexpr int kMostAttempts = 6;

// What a server says in place of what was asked for: a Status, or a plain text.
struct Failure {
  struct Cause {
    std::string reason;  // "FieldManagerConflict"
    std::string message;
    std::string field;
  };

  int status = 0;
  std::string reason;  // "Conflict", "NotFound"; empty in a plain text
  std::string message;
  std::vector<Cause> causes;
  int64_t retry_after_s = 0;

  bool is_field_conflict() const;
  // As an error of this program.
  Error error(const std::string& doing) const;
};
Failure read_failure(int status, std::string_view body, int64_t retry_after_s = 0);

struct Reply {
  int status = 0;
  json::value body;
  std::optional<Failure> failure;
};

// A kind of objects as discovery tells it.
struct Kind {
  std::string api_version;
  std::string kind;
  std::string resource;  // "deployments"
  bool namespaced = true;
  std::vector<std::string> verbs;

  std::string group() const { return ObjectRef{.api_version = api_version}.group(); }
};

struct ApplyOptions {
  std::string manager;
  bool force = false;
  bool dry_run = false;
};

struct RemoveOptions {
  std::string uid;  // only the object of this uid; empty: whichever has the name
  std::string propagation = "Background";
  bool dry_run = false;
};

struct Selection {
  std::string name_space;  // empty: of all
  std::string labels;      // "a=b,c=d"
  std::string fields;
  bool metadata_only = false;
  size_t page = 500;
  size_t most = 200'000;  // objects; more than these are a `limit`
};

struct Listed {
  std::vector<json::value> items;
  std::string version;  // from which a watch goes on
};

enum class Happened { added, modified, deleted };
using Visit = std::function<void(Happened, const json::value& object)>;

struct Review {
  std::string verb, group, resource, subresource, name_space, name;
};

class Client {
 public:
  Client(Access access, Disk& disk, Clock& clock, RunPlugin run, int64_t patience_ms = 60'000);

  const Access& access() const { return access_; }
  // Also ends what waits; asked often.
  void cancel_when(std::function<bool()> cancelled) { cancelled_ = std::move(cancelled); }

  // `not_found`: the server has no such kind, not even now.
  Result<Kind> kind_of(const std::string& api_version, const std::string& kind);
  // All kinds of a group and version.
  Result<std::vector<Kind>> kinds_of(const std::string& api_version);
  // Every group and version that the server prefers.
  Result<std::vector<std::string>> api_versions();

  Result<Reply> get(const ObjectRef& ref);
  Result<Reply> apply(const json::value& object, const ApplyOptions& options);
  Result<Reply> create(const json::value& object, const std::string& manager);
  // The whole object; its resourceVersion must be the newest.
  Result<Reply> replace(const json::value& object, const std::string& manager);
  Result<Reply> remove(const ObjectRef& ref, const RemoveOptions& options);

  // Page by page; a page that the server has forgotten is asked for anew, from the beginning.
  Result<Listed> list(const Kind& kind, const Selection& selection);
  // Lists, then watches, until `stop` says so; what was forgotten meanwhile is listed again.
  Result<void> follow(const Kind& kind, const Selection& selection, const Visit& visit,
                      const std::function<bool()>& stop);

  // The last lines of a pod's container.
  Result<std::string> logs(const std::string& name_space, const std::string& pod, const std::string& container,
                           int lines, bool previous);
  Result<bool> may(const Review& review);
  // A token of a service account, and when it ends.
  struct Token {
    std::string token;
    int64_t until_ms = 0;
  };
  Result<Token> request_token(const std::string& name_space, const std::string& account, int64_t seconds);
  // Whether the server answers at all.
  Result<void> ready();

  // How many requests were sent, repeated ones included.
  size_t sent() const;

 private:
  struct Ask {
    std::string method = "GET";
    std::string path;
    std::string body;
    std::string content_type;
    std::string accept = "application/json";
    size_t most_bytes = size_t{64} << 20;
    bool plain = false;  // the answer is no JSON
  };

  Result<http::OutgoingAnswer> send(const Ask& ask);
  Result<http::OutgoingAnswer> send_once(const Ask& ask, bool refused);
  Result<Reply> reply_to(const Ask& ask);
  Result<std::string> path_of(const ObjectRef& ref);
  static std::string path_of(const Kind& kind, const std::string& name_space);
  Result<std::string> watch_once(const Kind& kind, const Selection& selection, std::string version, const Visit& visit,
                                 const std::function<bool()>& stop, bool& expired);
  bool wait(int64_t duration_ms) const;
  // A plugin's certificate is shown on connections that are made with it.
  std::shared_ptr<http::Outgoing> outgoing();

  const Access access_;
  Clock& clock_;
  const int64_t patience_ms_;
  KubeLogin login_;
  std::function<bool()> cancelled_;
  mutable std::mutex mutex_;
  std::shared_ptr<http::Outgoing> outgoing_;
  ClientCertificate shown_;                         // on its connections
  std::map<std::string, std::vector<Kind>> known_;  // by apiVersion
  size_t sent_ = 0;
};

// Calls `each` for 0 … count-1, at most kConnections at once.
void at_once(size_t count, const std::function<void(size_t)>& each);

}  // namespace sluice::kube
