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
constexpr int64_t kLookAgain_ns = 300'000'000;
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
  std::string text = error.message;
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
  const json::object& params = object_in(message, "params");
  return text_in(message, "method") == "subscriptions/listen" || object_in(params, "_meta").contains("progressToken");
}

json::object Server::about() const { return {{"name", "sluice"}, {"title", "Sluice"}, {"version", parts_.version}}; }

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
  const json::object capabilities{
      {"tools", json::object()}, {"resources", {{"subscribe", true}}}, {"prompts", json::object()}};
  if (method == "server/discover") {
    json::array versions{json::value(kModernVersion)};
    return json::object{
        {"supportedVersions", std::move(versions)}, {"capabilities", capabilities}, {"instructions", kInstructions}};
  }
  if (method == "initialize") {
    const std::string wanted = text_in(params, "protocolVersion");
    const bool known = wanted != kModernVersion && speaks(wanted);
    return json::object{{"protocolVersion", known ? wanted : std::string(kHandshakeVersions[0])},
                        {"capabilities", capabilities},
                        {"serverInfo", about()},
                        {"instructions", kInstructions}};
  }
  if (method == "ping") return json::object();
  if (method == "tools/list") {
    json::array tools;
    for (const Tool& each : all_tools()) tools.push_back(shown(each));
    return json::object{{"tools", std::move(tools)}};
  }
  if (method == "tools/call") return call_tool(params, id, asked);
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
  if (method == "subscriptions/listen") return listen(params, id, asked);
  return Refused{kNoMethod, "there is no method " + method};
}

// A refusal of the tool itself is an answer that a model can read; only a call that is no call is an error.
Server::Outcome Server::call_tool(const json::object& params, const json::value& id, const Asked& asked) {
  const std::string name = text_in(params, "name");
  const Tool* tool = find_tool(name);
  if (tool == nullptr) return Refused{kInvalidParams, "there is no tool " + name};
  const json::value* given = params.if_contains("arguments");
  if (given != nullptr && !given->is_object()) return Refused{kInvalidParams, "arguments is an object"};
  const json::object arguments = given != nullptr ? given->get_object() : json::object();
  if (auto sound = check_arguments(*tool, arguments); !sound) return in_words(sound.error());

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
  return json::object{{"content", {{{"type", "text"}, {"text", write(*done)}}}},
                      {"structuredContent", *std::move(done)}};
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

json::object Server::listen(const json::object& params, const json::value& id, const Asked& asked) {
  std::set<std::string> wanted;
  const json::value* uris = object_in(params, "notifications").if_contains("resourceSubscriptions");
  for (const json::value& each : uris != nullptr && uris->is_array() ? uris->get_array() : json::array()) {
    if (each.is_string() && wanted.size() < kMostSubscriptions) wanted.emplace(each.get_string());
  }
  json::array honoured;
  for (const std::string& each : wanted) honoured.push_back(json::value(each));
  asked.tell(notification(
      "notifications/subscriptions/acknowledged",
      {{"_meta", {{kSubscriptionKey, id}}}, {"notifications", {{"resourceSubscriptions", std::move(honoured)}}}}));
  auto cancelled = std::make_shared<std::atomic<bool>>(false);
  const std::pair<Key, std::string> key{{asked.caller, asked.session}, write(id)};
  {
    std::lock_guard lock(mutex_);
    running_[key] = cancelled;
  }
  Asked until = asked;
  until.stop = [&] { return *cancelled || asked.stop(); };
  follow(
      until, [&] { return wanted; }, id);
  std::lock_guard lock(mutex_);
  running_.erase(key);
  return {{"_meta", {{kSubscriptionKey, id}}}};
}

void Server::follow_session(const Asked& asked) {
  follow(asked,
         [&] {
           std::lock_guard lock(mutex_);
           auto found = subscribed_.find({asked.caller, asked.session});
           return found == subscribed_.end() ? std::set<std::string>() : found->second;
         },
         {});
}

void Server::forget_session(const std::string& caller, const std::string& session) {
  std::lock_guard lock(mutex_);
  subscribed_.erase({caller, session});
}

// Three times a second, if anything was committed, the documents that are followed are read again: who follows is told
// of those that differ.
void Server::follow(const Asked& asked, const std::function<std::set<std::string>()>& wanted, const json::value& id) {
  std::map<std::string, std::string> known;  // digests
  auto look = [&](bool tell) {
    for (const std::string& uri : wanted()) {
      auto document = read_resource(asked.door, uri);
      const std::string digest = document ? crypto::to_string(crypto::sha256(write(*document))) : "gone";
      auto [before, fresh] = known.emplace(uri, digest);
      if (before->second == digest) continue;
      before->second = digest;
      json::object params{{"uri", uri}};
      if (!id.is_null()) params["_meta"] = json::object{{kSubscriptionKey, id}};
      if (tell) asked.tell(notification("notifications/resources/updated", std::move(params)));
    }
  };
  look(false);
  uint64_t seen = 0;
  while (!asked.stop()) {
    auto now = asked.door.view("whoami");
    if (!now) return;
    if (seen != 0 && now->position != seen) look(true);
    seen = now->position;
    const int64_t until_ns = parts_.clock.monotonic_ns() + kLookAgain_ns;
    auto waited = asked.door.follow(
        seen + 1, [](const engine::Step&) { return true; },
        [&] { return asked.stop() || parts_.clock.monotonic_ns() >= until_ns; });
    if (!waited) return;
  }
}

}  // namespace sluice::mcp
