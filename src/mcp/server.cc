// A request ends in a result, or in a refusal that becomes a JSON-RPC error.
#include "mcp/server.h"

#include <algorithm>

#include "base/json.h"
#include "crypto/sha256.h"
#include "host/problem.h"
#include "mcp/resources.h"
#include "mcp/words.h"

namespace sluice::mcp {

namespace {

constexpr std::string_view kServerKey = "io.modelcontextprotocol/serverInfo";
constexpr std::string_view kSubscriptionKey = "io.modelcontextprotocol/subscriptionId";

// Shorter than the minute after which clients give up.
constexpr int64_t kPatience_ns = 45'000'000'000;
constexpr int64_t kListsLast_ms = 60'000;
constexpr size_t kMostSubscriptions = 64;
constexpr size_t kMostSessions = 4096;

constexpr std::string_view kInstructions =
    "Sluice deploys software: bundles become revisions of deployments in environments, and revisions get shares of the "
    "traffic. Begin with status. To deploy, use deploy_plan and deploy_execute, or bundle_deploy; to shift traffic to "
    "a "
    "new revision, use rollout_start. Tools that shift traffic or destroy something answer first with a preview and a "
    "plan_id: show the preview to the person, and call the tool again with the plan_id only if they agree. When "
    "something is refused or stands still, use explain and logs. For all else, use find_action.";

json::object notification(std::string_view method, json::object params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

// A tool's arguments in the place of a command's options.
std::string in_arguments(std::string text) {
  for (auto [option, argument] : {std::pair("--customer-id", "the argument customer"),
                                  {"--bundle or --deployment", "the argument bundle or deployment"},
                                  {"--deployment", "the argument deployment"},
                                  {"--bundle", "the argument bundle"}}) {
    const std::string_view written = option;
    for (size_t at = text.find(written); at != std::string::npos; at = text.find(written, at + 1)) {
      // A whole command is for a person's shell.
      if (text.rfind("sluice ", at) == std::string::npos) text.replace(at, written.size(), argument);
    }
  }
  return text;
}

json::object in_words(Error error) {
  error.message = in_arguments(std::move(error.message));
  error.next = in_arguments(std::move(error.next));
  std::string text = (error.path.size() > 1 ? error.path.substr(1) + ": " : "") + error.message;
  if (!error.next.empty()) text += "\nnext: " + error.next;
  return {{"content",
           {{{"type", "text"}, {"text", std::move(text)}}, {{"type", "text"}, {"text", write(host::problem(error))}}}},
          {"isError", true}};
}

json::object shown(const Tool& tool) {
  return {{"name", tool.name},
          {"title", tool.title},
          {"description", tool.description},
          {"inputSchema", tool.input},
          {"outputSchema", tool.output},
          {"annotations",
           {{"title", tool.title},
            {"readOnlyHint", tool.effect == lang::Impact::none},
            {"destructiveHint", tool.effect >= lang::Impact::shifts},
            {"openWorldHint", false}}}};
}

}  // namespace

std::optional<std::string> Server::version_in(const json::object& message) {
  const json::value* version = object_in(object_in(message, "params"), "_meta").if_contains(kVersionKey);
  if (version == nullptr || !version->is_string()) return std::nullopt;
  return std::string(version->get_string());
}

bool Server::speaks(std::string_view version) {
  return version == kModernVersion || std::ranges::find(kHandshakeVersions, version) != kHandshakeVersions.end();
}

json::object Server::refusal(const json::value& id, int code, const std::string& message, json::value data) {
  json::object error{{"code", code}, {"message", message}};
  if (!data.is_null()) error["data"] = std::move(data);
  json::object answer{{"jsonrpc", "2.0"}, {"error", std::move(error)}};
  if (!id.is_null()) answer["id"] = id;
  return answer;
}

bool Server::streams(const json::object& message) {
  return object_in(object_in(message, "params"), "_meta").contains("progressToken");
}

json::object Server::about() const {
  return {{"name", parts_.offer.name}, {"title", parts_.offer.title}, {"version", parts_.version}};
}

json::object Server::capabilities() const {
  json::object all{{"tools", json::object()}};
  if (parts_.offer.tools != nullptr) return all;
  all["resources"] = json::object{{"subscribe", true}};
  all["prompts"] = json::object();
  return all;
}

std::string Server::instructions() const {
  return parts_.offer.tools != nullptr ? parts_.offer.instructions : std::string(kInstructions);
}

const std::vector<Tool>& Server::tools() const {
  return parts_.offer.tools != nullptr ? *parts_.offer.tools : all_tools();
}

std::optional<json::object> Server::answer(const json::object& message, const Asked& asked) {
  const json::value* given = message.if_contains("id");
  const std::string method = text_in(message, "method");
  if (given == nullptr) {
    if (method == "notifications/cancelled") cancel(object_in(message, "params"), asked);
    return std::nullopt;
  }
  const json::value id = *given;
  if (!(id.is_string() || id.is_int64() || id.is_uint64()) || text_in(message, "jsonrpc") != "2.0" || method.empty()) {
    return refusal({}, kInvalidRequest,
                   "a request has jsonrpc \"2.0\", a method, and an id that is a text or a number");
  }
  const auto version = version_in(message);
  if (version && *version != kModernVersion) {
    json::array supported{json::value(kModernVersion)};
    for (std::string_view each : kHandshakeVersions) supported.push_back(json::value(each));
    return refusal(id, kUnsupportedVersion, "the protocol version " + *version + " is not spoken here",
                   json::object{{"supported", std::move(supported)}, {"requested", *version}});
  }
  Outcome outcome = outcome_of(method, object_in(message, "params"), id, asked);
  if (const Refused* refused = std::get_if<Refused>(&outcome)) {
    const bool old = refused->code == kOldResourceNotFound && version;
    return refusal(id, old ? kInvalidParams : refused->code, refused->message, refused->data);
  }
  json::object result = std::get<json::object>(std::move(outcome));
  if (version) {
    result["resultType"] = "complete";
    json::object meta = object_in(result, "_meta");
    meta[kServerKey] = about();
    result["_meta"] = std::move(meta);
    const bool read = method == "resources/read";
    if (read || method == "server/discover" || method.ends_with("/list")) {
      result["ttlMs"] = read ? 0 : kListsLast_ms;
      result["cacheScope"] = "private";
    }
  }
  return json::object{{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

Server::Outcome Server::outcome_of(const std::string& method, const json::object& params, const json::value& id,
                                   const Asked& asked) {
  if (method == "server/discover") {
    json::array versions{json::value(kModernVersion)};
    return json::object{
        {"supportedVersions", std::move(versions)}, {"capabilities", capabilities()}, {"instructions", instructions()}};
  }
  if (method == "initialize") {
    const std::string wanted = text_in(params, "protocolVersion");
    const bool known = wanted != kModernVersion && speaks(wanted);
    return json::object{{"protocolVersion", known ? wanted : std::string(kHandshakeVersions[0])},
                        {"capabilities", capabilities()},
                        {"serverInfo", about()},
                        {"instructions", instructions()}};
  }
  if (method == "ping") return json::object();
  if (method == "tools/list") {
    json::array tools;
    for (const Tool& each : this->tools()) tools.push_back(shown(each));
    return json::object{{"tools", std::move(tools)}};
  }
  if (method == "tools/call") return call_tool(params, id, asked);
  // A server with tools of its own has nothing else.
  if (parts_.offer.tools != nullptr) return Refused{kNoMethod, "there is no method " + method};
  if (method == "resources/list") {
    auto all = list_resources(asked.door);
    if (!all) return Refused{kInternal, all.error().message, host::problem(all.error())};
    return json::object{{"resources", *std::move(all)}};
  }
  if (method == "resources/templates/list") return json::object{{"resourceTemplates", resource_templates()}};
  if (method == "resources/read") return read(params, asked);
  if (method == "resources/subscribe" || method == "resources/unsubscribe") {
    if (asked.session.empty()) return Refused{kInvalidRequest, "only a session can subscribe; begin with initialize"};
    const std::string uri = text_in(params, "uri");
    if (auto there = read(params, asked); method == "resources/subscribe" && std::holds_alternative<Refused>(there)) {
      return there;
    }
    std::lock_guard lock(mutex_);
    auto& all = subscribed_[{asked.caller, asked.session}];
    if (method == "resources/unsubscribe") {
      all.erase(uri);
    } else if (all.size() >= kMostSubscriptions || subscribed_.size() > kMostSessions) {
      return Refused{kInvalidRequest, "there are too many subscriptions"};
    } else {
      all.insert(uri);
    }
    return json::object();
  }
  if (method == "prompts/list") return json::object{{"prompts", list_prompts()}};
  if (method == "prompts/get") {
    auto prompt = get_prompt(text_in(params, "name"), object_in(params, "arguments"));
    if (!prompt) return Refused{kInvalidParams, prompt.error().message};
    return *std::move(prompt);
  }
  if (method == "subscriptions/listen") {
    return Refused{kInvalidRequest, "subscriptions/listen is a request of its own, over HTTP"};
  }
  return Refused{kNoMethod, "there is no method " + method};
}

// A refusal of the tool itself is an answer that a model can read; only a call that is no call is an error.
Server::Outcome Server::call_tool(const json::object& params, const json::value& id, const Asked& asked) {
  const std::string name = text_in(params, "name");
  const auto found = std::ranges::find(tools(), name, &Tool::name);
  if (found == tools().end()) return Refused{kInvalidParams, "there is no tool " + name};
  const Tool* tool = &*found;
  const json::value* given = params.if_contains("arguments");
  if (given != nullptr && !given->is_object()) return Refused{kInvalidParams, "arguments is an object"};
  const json::object arguments = given != nullptr ? given->get_object() : json::object();
  if (auto sound = check_arguments(*tool, arguments); !sound) {
    if (parts_.offer.tools != nullptr) return Refused{kInvalidParams, sound.error().message};
    return in_words(sound.error());
  }

  auto cancelled = std::make_shared<std::atomic<bool>>(false);
  const std::pair<Key, std::string> key{{asked.caller, asked.session}, write(id)};
  {
    std::lock_guard lock(mutex_);
    running_[key] = cancelled;
  }
  const int64_t until_ns = parts_.clock.monotonic_ns() + kPatience_ns;
  const json::value* token = object_in(params, "_meta").if_contains("progressToken");
  std::string told;
  int64_t progress = 0;
  Turn turn{.door = asked.door,
            .caller = asked.caller,
            .kit = parts_.kit(),
            .previews = previews_,
            .clock = parts_.clock,
            .waiting = {.stop = [&] { return *cancelled || asked.stop() || parts_.clock.monotonic_ns() > until_ns; },
                        .waits_for =
                            [&](const std::string& what) {
                              if (token == nullptr || what == told) return;
                              told = what;
                              asked.tell(notification(
                                  "notifications/progress",
                                  {{"progressToken", *token}, {"progress", ++progress}, {"message", what}}));
                            }}};
  if (token != nullptr) turn.waiting.waits_for(tool->title);
  auto done = tool->run(turn, arguments);
  {
    std::lock_guard lock(mutex_);
    running_.erase(key);
  }
  if (!done) return in_words(done.error());
  json::object result{{"content", {{{"type", "text"}, {"text", write(*done)}}}}};
  if (tool->is_failure && tool->is_failure(*done)) result["isError"] = true;
  result["structuredContent"] = *std::move(done);
  return result;
}

// The waiting ends; what the call has begun goes on, as it does when a person ends a command.
void Server::cancel(const json::object& params, const Asked& asked) {
  const json::value* id = params.if_contains("requestId");
  if (id == nullptr) return;
  std::lock_guard lock(mutex_);
  auto found = running_.find({{asked.caller, asked.session}, write(*id)});
  if (found != running_.end()) *found->second = true;
}

Server::Outcome Server::read(const json::object& params, const Asked& asked) const {
  const std::string uri = text_in(params, "uri");
  auto document = read_resource(asked.door, uri);
  if (!document) return Refused{kOldResourceNotFound, document.error().message, json::object{{"uri", uri}}};
  return json::object{{"contents", {{{"uri", uri}, {"mimeType", "application/json"}, {"text", write(*document)}}}}};
}

// ------------------------------------------------------------------------------------------------------ subscriptions

bool Server::is_listening(const json::object& message) {
  const auto version = version_in(message);
  const json::value* id = message.if_contains("id");
  return text_in(message, "method") == "subscriptions/listen" && (!version || *version == kModernVersion) &&
         text_in(message, "jsonrpc") == "2.0" && id != nullptr && (id->is_string() || id->is_number());
}

Server::Listening Server::listen(const json::object& message, const std::string& caller, const std::string& session,
                                 std::shared_ptr<host::Door> door) {
  const json::object& params = object_in(message, "params");
  const json::value id = message.at("id");
  std::set<std::string> wanted;
  const json::value* uris = object_in(params, "notifications").if_contains("resourceSubscriptions");
  for (const json::value& each : uris != nullptr && uris->is_array() ? uris->get_array() : json::array()) {
    if (each.is_string() && wanted.size() < kMostSubscriptions) wanted.emplace(each.get_string());
  }
  json::array honoured;
  for (const std::string& each : wanted) honoured.push_back(json::value(each));
  auto cancelled = std::make_shared<std::atomic<bool>>(false);
  {
    std::lock_guard lock(mutex_);
    running_[{{caller, session}, write(id)}] = cancelled;
  }
  json::object result{{"_meta", {{kSubscriptionKey, id}}}};
  if (version_in(message)) {
    result["resultType"] = "complete";
    result["_meta"].as_object()[kServerKey] = about();
  }
  return {.acknowledged = notification(
              "notifications/subscriptions/acknowledged",
              {{"_meta", {{kSubscriptionKey, id}}}, {"notifications", {{"resourceSubscriptions", honoured}}}}),
          .following = Following(
              std::move(door), [wanted] { return wanted; }, id),
          .cancelled = cancelled,
          .answer = {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}}};
}

void Server::listened(const json::object& message, const std::string& caller, const std::string& session) {
  std::lock_guard lock(mutex_);
  running_.erase({{caller, session}, write(message.at("id"))});
}

Following Server::follow_session(const std::string& caller, const std::string& session,
                                 std::shared_ptr<host::Door> door) {
  return Following(std::move(door),
                   [this, caller, session] {
                     std::lock_guard lock(mutex_);
                     auto found = subscribed_.find({caller, session});
                     return found == subscribed_.end() ? std::set<std::string>() : found->second;
                   },
                   {});
}

void Server::forget_session(const std::string& caller, const std::string& session) {
  std::lock_guard lock(mutex_);
  subscribed_.erase({caller, session});
}

bool Following::look(const std::function<void(const json::object&)>& tell) {
  auto now = door_->view("whoami");
  if (!now) return false;
  if (seen_ == now->position) return true;
  const bool first = !seen_;
  seen_ = now->position;
  for (const std::string& uri : wanted_()) {
    auto document = read_resource(*door_, uri);
    const std::string digest = document ? crypto::to_string(crypto::sha256(write(*document))) : "gone";
    auto [before, fresh] = known_.emplace(uri, digest);
    if (before->second == digest) continue;
    before->second = digest;
    json::object params{{"uri", uri}};
    if (!id_.is_null()) params["_meta"] = json::object{{kSubscriptionKey, id_}};
    if (!first) tell(notification("notifications/resources/updated", std::move(params)));
  }
  return true;
}

}  // namespace sluice::mcp
