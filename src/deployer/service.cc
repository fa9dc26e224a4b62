// Paths, tools and the stream of events.
#include "deployer/service.h"

#include <algorithm>
#include <charconv>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_schema.h"
#include "base/json_writer.h"
#include "deployer/deployment.h"
#include "kube/object.h"

namespace sluice::deployer {
namespace {

using Path = std::vector<std::string>;

constexpr int64_t kLook_ms = 100;
constexpr int64_t kAlive_ns = 15'000'000'000;
constexpr std::string_view kInstructions =
    "Deploys templates of Kubernetes objects into one cluster. Begin with deployment.diff, show it to the person, then "
    "deployment.apply. An apply, a delete and a rollback go on in the background once they are accepted: "
    "deployment.status says what is ready.";

struct ToolWords {
  const char* name;
  const char* action;
  const char* title;
  const char* description;
  lang::Impact effect;
  bool renders;
};
constexpr ToolWords kTools[] = {
    {"deployment.render", "render", "Render templates",
     "Says which objects the templates make of the values, without asking the cluster.", lang::Impact::none, true},
    {"deployment.dryRun", "dryRun", "Check with the cluster", "Has the cluster check every object. Nothing is changed.",
     lang::Impact::none, true},
    {"deployment.diff", "diff", "Compare with the cluster",
     "What a deployment would add, modify and remove, and what others have changed since the last one.",
     lang::Impact::none, true},
    {"deployment.apply", "deploy", "Deploy",
     "Applies the objects wave by wave in the background, and removes what the templates no longer have.",
     lang::Impact::shifts, true},
    {"deployment.delete", "undeploy", "Remove", "Removes every object of the instance in the background.",
     lang::Impact::destroys, false},
    {"deployment.status", "status", "Look at an instance", "Whether each object of the instance is there and ready.",
     lang::Impact::none, false},
    {"deployment.rollback", "rollback", "Roll back", "Applies again exactly what an earlier request has applied.",
     lang::Impact::shifts, false}};

json::object input_of(const ToolWords& words) {
  json::object schema =
      json_schema<DeploymentRequest>(words.title, "urn:sluice:deployer:" + std::string(words.name)).as_object();
  json::object& properties = schema.at("properties").as_object();
  properties.erase("action");
  properties.erase("valuesRef");
  properties.erase("runtimeValuesRef");
  for (const char* each : {"values", "runtimeValues"}) properties[each] = json::object{{"type", "object"}};
  if (std::string_view(words.action) != "rollback") properties.erase("rollbackSnapshotId");
  json::array required;
  for (const json::value& each : schema.at("required").as_array()) {
    if (properties.contains(each.as_string())) required.push_back(each);
  }
  if (words.renders) required.emplace_back("template");
  schema["required"] = std::move(required);
  return schema;
}

http::Response in_json(const json::value& value, int status = 200) { return {.status = status, .body = write(value)}; }

// Whoever is refused before anything was done for them hears from the same deployer.
DeploymentResponse signed_by(deploy::executor::ClusterMeans* means, DeploymentResponse response) {
  if (means == nullptr || !response.deployerId.empty()) return response;
  if (auto policy = means->policy()) {
    response.deployerId = policy->deployerId;
    response.clusterId = policy->clusterId;
  }
  return response;
}

// What may be asked for at a path; empty: there is no such path.
std::string methods_of(const Path& path) {
  if (path == Path{"deployments"}) return "POST";
  if (path.size() == 2 && path[0] == "deployments") return "GET";
  if (path.size() == 3 && path[0] == "deployments" && path[2] == "cancel") return "POST";
  if (path == Path{"mcp", "tools"} || path == Path{"mcp", "tools", "list"}) return "GET";
  if (path.size() == 3 && path[0] == "mcp" && path[1] == "tools") return "GET, POST";
  if (path.size() == 1 && (path[0] == "events" || path[0] == "metrics" || path[0] == "health" || path[0] == "ready")) {
    return "GET";
  }
  return "";
}

http::Response plain(int status, std::string text) {
  return {.status = status, .content_type = "text/plain; charset=utf-8", .body = std::move(text)};
}

// The events of one request from a number on; it ends after the last one.
class EventFeed final : public http::Feed {
 public:
  EventFeed(std::shared_ptr<host::Door> door, std::string id, int64_t after, std::function<bool()> is_over)
      : door_(std::move(door)), id_(std::move(id)), after_(after), is_over_(std::move(is_over)) {}

  void begin(std::function<void()>) override {}
  int64_t look_ms() const override { return kLook_ms; }
  bool takes_time() const override { return true; }
  bool next(std::string& out) override {
    auto happened = events_of(*door_, id_, after_);
    if (!happened) return false;
    for (const auto& [number, event] : happened->events) {
      out += "id: " + std::to_string(number) + "\nevent: deployment\ndata: " + write(to_json(event)) + "\n\n";
      after_ = number;
    }
    const int64_t now_ns = clock_.monotonic_ns();
    if (out.empty() && now_ns - said_ns_ > kAlive_ns) out += ": keep-alive\n\n";
    if (!out.empty()) said_ns_ = now_ns;
    return !happened->ended && !is_over_();
  }

 private:
  RealClock clock_;
  std::shared_ptr<host::Door> door_;
  const std::string id_;
  int64_t after_ = 0;
  std::function<bool()> is_over_;
  int64_t said_ns_ = 0;
};

}  // namespace

std::vector<mcp::Tool> deployment_tools(deploy::executor::ClusterMeans* means) {
  std::vector<mcp::Tool> all;
  for (const ToolWords& words : kTools) {
    mcp::Tool tool{
        .name = words.name,
        .title = words.title,
        .description = words.description,
        .input = input_of(words),
        .output = json_schema<DeploymentResponse>("A deployment", "urn:sluice:deployer:response").as_object(),
        .effect = words.effect};
    tool.run = [means, action = std::string(words.action)](mcp::Turn& turn,
                                                           const json::object& given) -> Result<json::object> {
      auto request = read_request(given, action);
      Responded responded = request ? respond(turn.door, *request, turn.waiting)
                                    : failed(action, "invalid", to_string(request.error()), 400);
      return to_json(signed_by(means, std::move(responded.response))).as_object();
    };
    tool.is_failure = [](const json::object& response) { return response.contains("error"); };
    all.push_back(std::move(tool));
  }
  return all;
}

bool admits_without_token(const kube::Policy& policy, std::string_view address) {
  return policy.devInsecure && (address.starts_with("127.") || address == "::1");
}

Service::Service(host::ServiceParts parts, std::string version, deploy::executor::ClusterMeans& means)
    : means_(means),
      owner_(parts.owner),
      clock_(*parts.clock),
      tools_(deployment_tools(&means)),
      api_(parts),
      mcp_(std::move(version), parts.kit, clock_, stopping_,
           {.tools = &tools_,
            .name = "sluice-deployer",
            .title = "Sluice deployer",
            .instructions = std::string(kInstructions)}) {}

http::Response Service::in_json(Responded responded) {
  return deployer::in_json(to_json(signed_by(&means_, std::move(responded.response))), responded.status);
}

http::Response Service::refused(const std::string& action, const std::string& code, const std::string& message,
                                int status) {
  return in_json(failed(action, code, message, status));
}

Result<engine::Caller> Service::caller_of(const http::Request& request, const http::Peer& peer) {
  auto known = api_.who(request, peer);
  if (known || request.header("Authorization") != nullptr) return known;
  auto policy = means_.policy();
  if (policy && admits_without_token(*policy, peer.address)) return engine::Caller{.name = owner_};
  return known;
}

http::Response Service::ready() {
  if (std::string trouble = means_.policy_trouble(); !trouble.empty()) {
    http::Response response = plain(503, "the policy is not good: " + trouble + "\n");
    response.headers.push_back({"Retry-After", "5"});
    return response;
  }
  if (means_.is_noop()) return plain(200, "ok");
  auto client = means_.client();
  auto reached = client ? (*client)->ready() : Result<void>(client.error());
  if (reached) return plain(200, "ok");
  http::Response response = plain(503, "the cluster does not answer: " + to_string(reached.error()) + "\n");
  response.headers.push_back({"Retry-After", "5"});
  return response;
}

http::Response Service::deploy(const http::Request& request, host::Door& door, std::string_view action) {
  const auto invalid = [&](const std::string& message, int status) {
    return refused(std::string(action), "invalid", message, status);
  };
  const std::string* type = request.header("Content-Type");
  if (type == nullptr || !type->starts_with("application/json")) {
    return invalid("the body is JSON, and its Content-Type must say so", 415);
  }
  auto body = parse_json(request.body, "body");
  if (!body) return invalid(to_string(body.error()), 400);
  if (!body->root.is_object()) return invalid("the body is a JSON object", 400);
  auto asked = read_request(body->root.get_object(), action);
  if (!asked) {
    Responded responded = failed(std::string(action), "invalid", to_string(asked.error()), 400);
    if (action.empty()) responded.response.action = kube::text_at(body->root, {"action"});
    responded.response.requestId = kube::text_at(body->root, {"requestId"});
    responded.response.namespace_ = kube::text_at(body->root, {"namespace"});
    return in_json(std::move(responded));
  }
  return in_json(respond(door, *asked, {.stop = [this] { return stopping_.load(); }}));
}

http::Response Service::events(const http::Request& request, std::shared_ptr<host::Door> door) {
  const std::string* id = request.parameter("request_id");
  if (id == nullptr) id = request.parameter("requestId");
  if (id == nullptr) return refused("status", "invalid", "request_id says whose events are meant", 400);
  int64_t after = 0;
  if (const std::string* last = request.header("Last-Event-ID")) {
    const auto read = std::from_chars(last->data(), last->data() + last->size(), after);
    if (read.ec != std::errc() || read.ptr != last->data() + last->size() || after < 0) {
      return refused("status", "invalid", "Last-Event-ID is the number of an event", 400);
    }
  }
  if (auto there = events_of(*door, *id, after); !there) {
    return refused("status", "notFound", "there is no request " + *id, 404);
  }
  return {.content_type = "text/event-stream",
          .headers = {{"Cache-Control", "no-store"}},
          .feed = std::make_shared<EventFeed>(std::move(door), *id, after, [this] { return stopping_.load(); })};
}

// All tools, or one of them, as the seed lists them.
http::Response Service::tool_words(const std::string& name) {
  json::array all;
  for (const mcp::Tool& each : tools_) {
    if (!name.empty() && each.name != name) continue;
    all.push_back(json::object{{"name", each.name},
                               {"description", each.description},
                               {"inputSchema", each.input},
                               {"endpoint", "/mcp/tools/" + each.name},
                               {"method", "POST"}});
  }
  if (name.empty()) return deployer::in_json(json::object{{"tools", std::move(all)}});
  if (all.empty()) return refused("", "TOOL_NOT_FOUND", "there is no tool " + name, 404);
  return deployer::in_json(all.front());
}

http::Response Service::answer(const http::Request& request, const http::Peer& peer) {
  if (peer.credentials) return api_.answer(request, peer);
  const Path& path = request.path;
  const bool get = request.method == "GET", post = request.method == "POST";
  if (get && path == Path{"health"}) return plain(200, "ok");
  if (get && path == Path{"ready"}) return ready();
  if (get && !path.empty() && path[0] == ".well-known") return api_.answer(request, peer);
  auto caller = caller_of(request, peer);
  if (!caller) {
    // Who is not known does not hear whose deployer it is.
    http::Response response =
        deployer::in_json(to_json(failed("", "unauthenticated", to_string(caller.error()), 401).response), 401);
    const bool agent = path == Path{"mcp"};
    response.headers.push_back(
        {"WWW-Authenticate",
         "Bearer realm=\"sluice\"" +
             (agent ? ", resource_metadata=\"" + mcp::Endpoint::metadata_url(request, peer.tls) + "\""
                    : std::string())});
    return response;
  }
  auto door = std::make_shared<host::EngineDoor>(api_.door_of(*caller));
  if (path == Path{"mcp"}) return mcp_.answer(request, {.caller = caller->name, .door = door});
  if (get && path == Path{"metrics"}) return api_.answer(request, peer);
  if (get && (path == Path{"mcp", "tools"} || path == Path{"mcp", "tools", "list"})) return tool_words("");
  if (path.size() == 3 && path[0] == "mcp" && path[1] == "tools") {
    if (get) return tool_words(path[2]);
    const auto* const found = std::ranges::find_if(kTools, [&](const ToolWords& each) { return path[2] == each.name; });
    if (found == std::end(kTools)) return tool_words(path[2]);
    if (post) return deploy(request, *door, found->action);
  }
  if (post && path == Path{"deployments"}) return deploy(request, *door, "");
  if (path.size() == 2 && path[0] == "deployments" && get) return in_json(respond_with(*door, path[1]));
  if (path.size() == 3 && path[0] == "deployments" && path[2] == "cancel" && post) {
    return in_json(cancel(*door, path[1]));
  }
  if (get && path == Path{"events"}) return events(request, door);
  if (const std::string methods = methods_of(path); !methods.empty()) {
    http::Response response =
        refused("", "invalid", request.target + " takes " + methods + ", not " + request.method, 405);
    response.headers.push_back({"Allow", methods});
    return response;
  }
  return refused("", "notFound", "there is nothing at " + request.method + " " + request.target, 404);
}

}  // namespace sluice::deployer
