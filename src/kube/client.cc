// Paths and media types of the API are known here alone.
#include "kube/client.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <thread>

#include "base/json.h"
#include "base/utc_time.h"
#include "http/message.h"

namespace sluice::kube {
namespace {

constexpr int64_t kAsk_ms = 30'000;
constexpr int64_t kWatch_s = 240;
constexpr int64_t kLongestWait_ms = 30'000;
constexpr size_t kMostWatchLine = size_t{16} << 20;
constexpr size_t kMostMessage = 4096;
constexpr int kMostRelists = 5;
constexpr int kMostPages = 5'000;
const std::string kMetadataList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
const std::string kMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

std::string group_path(const std::string& api_version) {
  return api_version.find('/') == std::string::npos ? "/api/" + api_version : "/apis/" + api_version;
}

// What does the same when it is done twice.
bool may_be_repeated(const std::string& method, const std::string& content_type) {
  return method != "POST" && (method != "PATCH" || content_type == "application/apply-patch+yaml");
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& each : words) text += (text.empty() ? "?" : "&") + each;
  return text;
}

std::vector<std::string> words_of(const Selection& selection) {
  std::vector<std::string> words;
  if (!selection.labels.empty()) words.push_back("labelSelector=" + http::percent_encoded(selection.labels));
  if (!selection.fields.empty()) words.push_back("fieldSelector=" + http::percent_encoded(selection.fields));
  return words;
}

int64_t retry_after(const http::OutgoingAnswer& answer) {
  const std::string* text = answer.header("retry-after");
  int64_t seconds = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), seconds);
  return std::clamp<int64_t>(seconds, 0, 3600);
}

std::vector<Kind> read_kinds(const json::value& body, const std::string& api_version) {
  std::vector<Kind> kinds;
  for (const json::value& each : list_at(body, {"resources"})) {
    Kind kind{.api_version = api_version,
              .kind = text_at(each, {"kind"}),
              .resource = text_at(each, {"name"}),
              .namespaced = flag_at(each, {"namespaced"})};
    if (kind.resource.find('/') != std::string::npos) continue;
    for (const json::value& verb : list_at(each, {"verbs"})) {
      if (verb.is_string()) kind.verbs.emplace_back(verb.get_string());
    }
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

// Items of a list come without the two fields that each of them has alone.
void complete(json::value& item, const Kind& kind) {
  json::object* object = item.if_object();
  if (object == nullptr) return;
  (*object)["apiVersion"] = kind.api_version;
  (*object)["kind"] = kind.kind;
}

}  // namespace

bool Failure::is_field_conflict() const {
  return status == 409 &&
         std::ranges::any_of(causes, [](const Cause& each) { return each.reason == "FieldManagerConflict"; });
}

Error Failure::error(const std::string& doing) const {
  Error error{.code = Code::failed, .message = doing + ": " + message};
  switch (status) {
    case 400:
    case 422:
      error.code = Code::invalid;
      break;
    case 401:
      error.code = Code::unauthenticated;
      break;
    case 403:
      error.code = Code::denied;
      break;
    case 404:
      error.code = Code::not_found;
      break;
    case 409:
    case 410:
      error.code = Code::conflict;
      break;
    case 413:
      error.code = Code::limit;
      break;
    case 429:
    case 503:
      error.code = Code::unavailable;
      break;
    case 504:
      error.code = Code::timeout;
      break;
    default:
      break;
  }
  return error;
}

Failure read_failure(int status, std::string_view body, int64_t retry_after_s) {
  Failure failure{.status = status, .retry_after_s = retry_after_s};
  auto document = parse_json_value(body);
  if (document && text_at(*document, {"kind"}) == "Status") {
    failure.reason = text_at(*document, {"reason"});
    failure.message = text_at(*document, {"message"});
    for (const json::value& each : list_at(*document, {"details", "causes"})) {
      failure.causes.push_back({.reason = text_at(each, {"reason"}),
                                .message = text_at(each, {"message"}),
                                .field = text_at(each, {"field"})});
    }
    const int64_t said = number_at(*document, {"details", "retryAfterSeconds"});
    if (said > 0) failure.retry_after_s = std::min<int64_t>(said, 3600);
  } else {
    std::string text(body.substr(0, kMostMessage));
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
    failure.message = printable(text);
  }
  if (failure.message.empty()) failure.message = "the server answered " + std::to_string(status);
  return failure;
}

Client::Client(Access access, Disk& disk, Clock& clock, RunPlugin run, int64_t patience_ms)
    : access_(std::move(access)),
      clock_(clock),
      patience_ms_(patience_ms),
      login_(access_, disk, clock, std::move(run)) {}

// ------------------------------------------------------------------------------------------------------- requests

std::shared_ptr<http::Outgoing> Client::outgoing() {
  const ClientCertificate shown = login_.certificate();
  std::lock_guard lock(mutex_);
  if (outgoing_ && shown == shown_) return outgoing_;
  http::Tls tls = access_.tls;
  if (!shown.chain_pem.empty()) {
    tls.chain_pem = shown.chain_pem;
    tls.key_pem = shown.key_pem;
  }
  http::Outgoing::Settings settings{.tls = std::move(tls), .proxy = {.url = access_.proxy}};
  outgoing_ = std::make_shared<http::Outgoing>(std::move(settings), clock_);
  shown_ = shown;
  return outgoing_;
}

Result<http::OutgoingAnswer> Client::send_once(const Ask& ask, bool refused) {
  auto authorization = login_.authorization(refused);
  if (!authorization) return authorization.error();
  http::OutgoingRequest request{.method = ask.method, .url = access_.server + ask.path, .body = ask.body};
  request.headers.push_back({"Accept", ask.accept});
  if (!ask.content_type.empty()) request.headers.push_back({"Content-Type", ask.content_type});
  if (!authorization->empty()) request.headers.push_back({"Authorization", *authorization});
  request.timeout_ms = kAsk_ms;
  request.most_bytes = ask.most_bytes;
  request.cancelled = cancelled_;
  {
    std::lock_guard lock(mutex_);
    ++sent_;
  }
  return outgoing()->send(request);
}

Result<http::OutgoingAnswer> Client::send(const Ask& ask) {
  const int64_t until_ns = clock_.monotonic_ns() + patience_ms_ * 1'000'000;
  int64_t pause_ms = 200;
  bool refused = false;
  for (int attempt = 1;; ++attempt) {
    auto answer = send_once(ask, refused);
    int64_t wait_ms = pause_ms;
    if (!answer) {
      const Code code = answer.error().code;
      const bool broke = code == Code::unavailable || code == Code::timeout;
      if (!broke || !may_be_repeated(ask.method, ask.content_type)) return answer;
    } else if (answer->status == 401 && !refused) {
      refused = true;
      wait_ms = 0;
    } else if (answer->status == 429 || answer->status == 503 || answer->status == 504 ||
               (answer->status == 500 && retry_after(*answer) > 0)) {
      wait_ms = std::max(wait_ms, retry_after(*answer) * 1000);
    } else {
      return answer;
    }
    if (attempt >= kMostAttempts || clock_.monotonic_ns() + wait_ms * 1'000'000 > until_ns) return answer;
    if (!wait(std::min(wait_ms, kLongestWait_ms))) return answer;
    pause_ms = std::min<int64_t>(pause_ms * 2, 5'000);
  }
}

bool Client::wait(int64_t duration_ms) const {
  for (int64_t left_ms = duration_ms; left_ms > 0; left_ms -= 100) {
    if (cancelled_ && cancelled_()) return false;
    clock_.sleep_ms(std::min<int64_t>(left_ms, 100));
  }
  return !(cancelled_ && cancelled_());
}

Result<Reply> Client::reply_to(const Ask& ask) {
  auto answer = send(ask);
  if (!answer) return answer.error();
  Reply reply{.status = answer->status};
  if (answer->status / 100 != 2) {
    reply.failure = read_failure(answer->status, answer->body, retry_after(*answer));
    return reply;
  }
  if (ask.plain) {
    reply.body = answer->body;
    return reply;
  }
  auto body = parse_json_value(answer->body);
  if (!body) {
    return Error{.code = Code::failed,
                 .message = ask.method + " " + ask.path.substr(0, ask.path.find('?')) +
                            ": the server answered something else than JSON"};
  }
  reply.body = *std::move(body);
  return reply;
}

size_t Client::sent() const {
  std::lock_guard lock(mutex_);
  return sent_;
}

// ------------------------------------------------------------------------------------------------------ discovery

Result<std::vector<Kind>> Client::kinds_of(const std::string& api_version) {
  auto reply = reply_to({.path = group_path(api_version)});
  if (!reply) return reply.error();
  if (reply->failure && reply->status != 404) return reply->failure->error("discovery of " + api_version);
  std::vector<Kind> kinds = reply->failure ? std::vector<Kind>() : read_kinds(reply->body, api_version);
  std::lock_guard lock(mutex_);
  known_[api_version] = kinds;
  return kinds;
}

Result<Kind> Client::kind_of(const std::string& api_version, const std::string& kind) {
  auto is_it = [&](const Kind& each) { return each.kind == kind; };
  {
    std::lock_guard lock(mutex_);
    auto known = known_.find(api_version);
    if (known != known_.end()) {
      auto found = std::ranges::find_if(known->second, is_it);
      if (found != known->second.end()) return *found;
    }
  }
  auto kinds = kinds_of(api_version);
  if (!kinds) return kinds.error();
  auto found = std::ranges::find_if(*kinds, is_it);
  if (found != kinds->end()) return *found;
  return Error{.code = Code::not_found, .message = "the cluster has no kind " + kind + " of " + api_version};
}

Result<std::vector<std::string>> Client::api_versions() {
  auto reply = reply_to({.path = "/apis"});
  if (!reply) return reply.error();
  if (reply->failure) return reply->failure->error("discovery");
  std::vector<std::string> versions = {"v1"};
  for (const json::value& each : list_at(reply->body, {"groups"})) {
    versions.push_back(text_at(each, {"preferredVersion", "groupVersion"}));
  }
  return versions;
}

std::string Client::path_of(const Kind& kind, const std::string& name_space) {
  std::string path = group_path(kind.api_version);
  if (kind.namespaced && !name_space.empty()) path += "/namespaces/" + http::percent_encoded(name_space);
  return path + "/" + kind.resource;
}

Result<std::string> Client::path_of(const ObjectRef& ref) {
  auto kind = kind_of(ref.api_version, ref.kind);
  if (!kind) return kind.error();
  return path_of(*kind, ref.name_space) + "/" + http::percent_encoded(ref.name);
}

// -------------------------------------------------------------------------------------------------------- objects

Result<Reply> Client::get(const ObjectRef& ref) {
  auto path = path_of(ref);
  if (!path) return path.error();
  return reply_to({.path = *path});
}

Result<Reply> Client::apply(const json::value& object, const ApplyOptions& options) {
  auto path = path_of(ref_of(object));
  if (!path) return path.error();
  std::vector<std::string> words = {"fieldManager=" + http::percent_encoded(options.manager)};
  if (options.force) words.push_back("force=true");
  if (options.dry_run) words.push_back("dryRun=All");
  return reply_to({.method = "PATCH",
                   .path = *path + joined(words),
                   .body = write(object),
                   .content_type = "application/apply-patch+yaml"});
}

Result<Reply> Client::create(const json::value& object, const std::string& manager) {
  const ObjectRef ref = ref_of(object);
  auto kind = kind_of(ref.api_version, ref.kind);
  if (!kind) return kind.error();
  return reply_to({.method = "POST",
                   .path = path_of(*kind, ref.name_space) + "?fieldManager=" + http::percent_encoded(manager),
                   .body = write(object),
                   .content_type = "application/json"});
}

Result<Reply> Client::replace(const json::value& object, const std::string& manager) {
  auto path = path_of(ref_of(object));
  if (!path) return path.error();
  return reply_to({.method = "PUT",
                   .path = *path + "?fieldManager=" + http::percent_encoded(manager),
                   .body = write(object),
                   .content_type = "application/json"});
}

Result<Reply> Client::remove(const ObjectRef& ref, const RemoveOptions& options) {
  auto path = path_of(ref);
  if (!path) return path.error();
  json::object how{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", options.propagation}};
  if (!options.uid.empty()) how["preconditions"] = {{"uid", options.uid}};
  if (options.dry_run) how["dryRun"] = json::array{"All"};
  return reply_to({.method = "DELETE", .path = *path, .body = write(how), .content_type = "application/json"});
}

// --------------------------------------------------------------------------------------------------------- lists

Result<Listed> Client::list(const Kind& kind, const Selection& selection) {
  for (int again = 0;; ++again) {
    Listed listed;
    std::string rest;
    bool forgotten = false;
    int pages = 0;
    do {
      std::vector<std::string> words = words_of(selection);
      words.push_back("limit=" + std::to_string(selection.page));
      if (!rest.empty()) words.push_back("continue=" + http::percent_encoded(rest));
      auto reply = reply_to({.path = path_of(kind, selection.name_space) + joined(words),
                             .accept = selection.metadata_only ? kMetadataList : "application/json"});
      if (!reply) return reply.error();
      if (reply->status == 410 && again < kMostRelists) {
        forgotten = true;
        break;
      }
      if (reply->failure) return reply->failure->error("listing " + kind.resource);
      listed.version = text_at(reply->body, {"metadata", "resourceVersion"});
      rest = text_at(reply->body, {"metadata", "continue"});
      json::object* root = reply->body.if_object();
      json::value* items = root == nullptr ? nullptr : root->if_contains("items");
      if (items == nullptr || !items->is_array()) break;
      for (json::value& each : items->get_array()) {
        complete(each, kind);
        listed.items.push_back(std::move(each));
      }
      if (listed.items.size() > selection.most || ++pages > kMostPages) {
        return Error{.code = Code::limit,
                     .message = "listing " + kind.resource + ": there are more than " + std::to_string(selection.most) +
                                " of them"};
      }
    } while (!rest.empty());
    if (!forgotten) return listed;
  }
}

Result<void> Client::follow(const Kind& kind, const Selection& selection, const Visit& visit,
                            const std::function<bool()>& stop) {
  auto key_of = [](const json::value& object) {
    return text_at(object, {"metadata", "namespace"}) + "/" + text_at(object, {"metadata", "name"});
  };
  std::map<std::string, json::value> held;
  const Visit keep = [&](Happened what, const json::value& object) {
    if (what == Happened::deleted) {
      held.erase(key_of(object));
    } else {
      held[key_of(object)] = object;
    }
    visit(what, object);
  };
  while (!stop()) {
    auto listed = list(kind, selection);
    if (!listed) return listed.error();
    std::map<std::string, json::value> gone = std::move(held);
    held.clear();
    for (const json::value& each : listed->items) {
      const bool known = gone.erase(key_of(each)) > 0;
      keep(known ? Happened::modified : Happened::added, each);
    }
    for (const auto& [key, object] : gone) visit(Happened::deleted, object);
    bool expired = false;
    for (std::string version = listed->version; !expired && !stop();) {
      auto reached = watch_once(kind, selection, version, keep, stop, expired);
      if (!reached && reached.error().code != Code::unavailable && reached.error().code != Code::timeout) {
        return reached.error();
      }
      if (reached) {
        version = *reached;
      } else if (!stop() && !wait(200)) {
        return {};
      }
    }
  }
  return {};
}

Result<std::string> Client::watch_once(const Kind& kind, const Selection& selection, std::string version,
                                       const Visit& visit, const std::function<bool()>& stop, bool& expired) {
  auto authorization = login_.authorization(false);
  if (!authorization) return authorization.error();
  std::vector<std::string> words = words_of(selection);
  words.push_back("watch=1");
  words.push_back("allowWatchBookmarks=true");
  words.push_back("timeoutSeconds=" + std::to_string(kWatch_s));
  words.push_back("resourceVersion=" + http::percent_encoded(version));
  std::string held;
  std::optional<Failure> failure;
  bool stopped = false, broken = false;
  auto take_line = [&](std::string_view line) {
    auto event = parse_json_value(line);
    if (!event) return broken = true, false;
    const std::string type = text_at(*event, {"type"});
    const json::value& object = at(*event, {"object"});
    if (type == "ERROR") {
      failure = read_failure(static_cast<int>(number_at(object, {"code"})), write(object));
      return false;
    }
    if (const std::string newer = text_at(object, {"metadata", "resourceVersion"}); !newer.empty()) version = newer;
    if (type == "ADDED") visit(Happened::added, object);
    if (type == "MODIFIED") visit(Happened::modified, object);
    if (type == "DELETED") visit(Happened::deleted, object);
    stopped = stop();
    return !stopped;
  };
  http::OutgoingRequest request{.url = access_.server + path_of(kind, selection.name_space) + joined(words)};
  request.headers.push_back({"Accept", selection.metadata_only ? kMetadata : "application/json"});
  if (!authorization->empty()) request.headers.push_back({"Authorization", *authorization});
  request.timeout_ms = (kWatch_s + 30) * 1000;
  request.cancelled = [&] { return stop() || (cancelled_ && cancelled_()); };
  request.downloads = [](int status) { return status == 200; };
  request.download = [&](std::string_view piece) {
    held.append(piece);
    size_t begin = 0;
    for (size_t end = held.find('\n'); end != std::string::npos; end = held.find('\n', begin)) {
      if (!take_line(std::string_view(held).substr(begin, end - begin))) return false;
      begin = end + 1;
    }
    held.erase(0, begin);
    return held.size() <= kMostWatchLine;
  };
  {
    std::lock_guard lock(mutex_);
    ++sent_;
  }
  auto answer = outgoing()->send(request);
  if (answer && answer->status != 200) failure = read_failure(answer->status, answer->body, retry_after(*answer));
  if (failure) {
    expired = failure->status == 410;
    if (expired) return version;
    return failure->error("watching " + kind.resource);
  }
  if (stopped || stop()) return version;
  if (held.size() > kMostWatchLine) {
    return Error{.code = Code::limit, .message = "watching " + kind.resource + ": an event has more than 16 MB"};
  }
  if (broken) return Error{.code = Code::failed, .message = "watching " + kind.resource + ": an event is no JSON"};
  if (!answer) return answer.error();
  return version;
}

// ----------------------------------------------------------------------------------------------------- everything else

Result<std::string> Client::logs(const std::string& name_space, const std::string& pod, const std::string& container,
                                 int lines, bool previous) {
  std::vector<std::string> words = {"tailLines=" + std::to_string(lines), "limitBytes=65536"};
  if (!container.empty()) words.push_back("container=" + http::percent_encoded(container));
  if (previous) words.push_back("previous=true");
  auto reply = reply_to({.path = "/api/v1/namespaces/" + http::percent_encoded(name_space) + "/pods/" +
                                 http::percent_encoded(pod) + "/log" + joined(words),
                         .accept = "*/*",
                         .most_bytes = 1 << 20,
                         .plain = true});
  if (!reply) return reply.error();
  if (reply->failure) return reply->failure->error("the logs of pod " + pod);
  return std::string(reply->body.as_string());
}

Result<bool> Client::may(const Review& review) {
  json::object what{{"verb", review.verb}, {"group", review.group}, {"resource", review.resource}};
  if (!review.subresource.empty()) what["subresource"] = review.subresource;
  if (!review.name_space.empty()) what["namespace"] = review.name_space;
  if (!review.name.empty()) what["name"] = review.name;
  const json::object ask{{"apiVersion", "authorization.k8s.io/v1"},
                         {"kind", "SelfSubjectAccessReview"},
                         {"spec", {{"resourceAttributes", std::move(what)}}}};
  auto reply = reply_to({.method = "POST",
                         .path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                         .body = write(ask),
                         .content_type = "application/json"});
  if (!reply) return reply.error();
  if (reply->failure) return reply->failure->error("asking what is allowed");
  return flag_at(reply->body, {"status", "allowed"});
}

Result<Client::Token> Client::request_token(const std::string& name_space, const std::string& account,
                                            int64_t seconds) {
  const json::object ask{
      {"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}, {"spec", {{"expirationSeconds", seconds}}}};
  auto reply = reply_to({.method = "POST",
                         .path = "/api/v1/namespaces/" + http::percent_encoded(name_space) + "/serviceaccounts/" +
                                 http::percent_encoded(account) + "/token",
                         .body = write(ask),
                         .content_type = "application/json"});
  if (!reply) return reply.error();
  if (reply->failure) return reply->failure->error("asking for a token of " + account);
  auto until = parse_utc(text_at(reply->body, {"status", "expirationTimestamp"}));
  return Token{.token = text_at(reply->body, {"status", "token"}), .until_ms = until ? *until : 0};
}

Result<void> Client::ready() {
  auto reply = reply_to({.path = "/readyz", .accept = "*/*", .most_bytes = 1 << 20, .plain = true});
  if (!reply) return reply.error();
  // Some clusters forbid /readyz to service accounts; that they say so is an answer.
  if (reply->failure && reply->status != 403) return reply->failure->error("the API server is not ready");
  return {};
}

void at_once(size_t count, const std::function<void(size_t)>& each) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < count; i = next++) each(i);
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < std::min(kConnections, count); ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
}

}  // namespace sluice::kube
