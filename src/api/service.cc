// One table of routes, one function each.
#include "api/service.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <map>

#include "api/git_hook.h"
#include "api/log_feed.h"
#include "api/mesh_routes.h"
#include "api/metrics_text.h"
#include "api/openapi.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/terminal.h"
#include "crypto/base64.h"
#include "deploy/views/objects.h"
#include "engine/outcome_code.h"
#include "host/access_views.h"
#include "host/attachment.h"
#include "host/background.h"
#include "host/caller.h"
#include "host/events.h"
#include "host/flow_rows.h"
#include "host/moment.h"
#include "host/problem.h"
#include "host/row_json.h"
#include "host/seen_rows.h"
#include "host/wire_words.h"
#include "lang/codegen/generate_schema.h"

namespace sluice::api {
namespace {

constexpr int64_t kAnswerPatience_ms = 30'000;
constexpr int64_t kDecided_ms = 20'000;
constexpr int64_t kLongestPatience_ms = 600'000;

http::Response in_json(const json::value& value, int status = 200) { return {.status = status, .body = write(value)}; }

// With a status of its own where HTTP has a word for what the code says less exactly.
http::Response refused(const Error& error, json::object more = {}, int status = 0) {
  json::object object = host::problem(error);
  for (auto& member : more) object[member.key()] = std::move(member.value());
  if (status != 0) object["status"] = status;
  return {.status = status != 0 ? status : http_status(error.code),
          .content_type = std::string(host::kProblemType),
          .body = write(object)};
}

Result<uint64_t> number_in(const std::string& text, const std::string& name) {
  uint64_t number = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc() && end == text.data() + text.size()) return number;
  return Error{.code = Code::invalid, .message = name + " is a whole number, not '" + text.substr(0, 60) + "'"};
}

Result<uint64_t> parameter_number(const http::Request& request, const std::string& name, uint64_t otherwise) {
  const std::string* text = request.parameter(name);
  return text == nullptr ? Result<uint64_t>(otherwise) : number_in(*text, name);
}

// The body as an object; empty if there is none.
Result<json::object> any_body_of(const http::Request& request) {
  if (request.body.empty()) return json::object();
  const std::string* type = request.header("Content-Type");
  if (type == nullptr || !(*type == "application/json" || type->starts_with("application/json;"))) {
    return Error{.code = Code::invalid, .message = "the body is JSON, and its Content-Type must say so"};
  }
  auto parsed = parse_json(request.body, "body");
  if (!parsed) return parsed.error();
  if (!parsed->root.is_object()) return Error{.code = Code::invalid, .message = "the body is a JSON object"};
  return std::move(parsed->root.get_object());
}

// The same where only these members may stand.
Result<json::object> body_of(const http::Request& request, std::initializer_list<std::string_view> members) {
  auto body = any_body_of(request);
  if (!body) return body;
  for (const auto& member : *body) {
    if (std::ranges::find(members, std::string_view(member.key())) != members.end()) continue;
    return Error{.code = Code::invalid,
                 .message = "the body has no member " + std::string(member.key()),
                 .path = "/" + std::string(member.key())};
  }
  return body;
}

Result<std::string> text_member(const json::object& body, std::string_view name) {
  const json::value* value = body.if_contains(name);
  if (value == nullptr) return std::string();
  if (value->is_string()) return std::string(value->get_string());
  return Error{.code = Code::invalid, .message = std::string(name) + " is a text", .path = "/" + std::string(name)};
}

Result<bool> flag_member(const json::object& body, std::string_view name) {
  const json::value* value = body.if_contains(name);
  if (value == nullptr) return false;
  if (value->is_bool()) return value->get_bool();
  return Error{
      .code = Code::invalid, .message = std::string(name) + " is true or false", .path = "/" + std::string(name)};
}

Result<json::object> object_member(const json::object& body, std::string_view name) {
  const json::value* value = body.if_contains(name);
  if (value == nullptr) return json::object();
  if (value->is_object()) return value->get_object();
  return Error{.code = Code::invalid, .message = std::string(name) + " is an object", .path = "/" + std::string(name)};
}

// The generation in If-Match: 7 or "7".
Result<std::optional<uint64_t>> expected_generation(const http::Request& request) {
  const std::string* given = request.header("If-Match");
  if (given == nullptr) return std::optional<uint64_t>();
  std::string text = *given;
  if (text.size() > 1 && text.starts_with('"') && text.ends_with('"')) text = text.substr(1, text.size() - 2);
  auto number = number_in(text, "the generation in If-Match");
  if (!number) return number.error();
  return std::optional(*number);
}

// What a call does not know may not be left out silently: ?dryRun=true would do what it asks to try.
Result<void> only_parameters(const http::Request& request, std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : request.query) {
    if (std::ranges::find(known, name) != known.end()) continue;
    return Error{.code = Code::invalid,
                 .message = "a call takes no parameter " + printable(name) + "; nothing was done",
                 .next = "arguments, reason and dryRun stand in the body"};
  }
  return {};
}

Result<host::WaitFor> wait_of(const http::Request& request) {
  const std::string* given = request.parameter("wait");
  if (given == nullptr) return host::WaitFor::answer;
  if (auto wait = host::wait_named(*given)) return *wait;
  return Error{.code = Code::invalid, .message = "wait is start, answer, settled or all"};
}

// How old an answer may be for whoever asks: Cache-Control: max-age=1. Only a GET says it all in its address.
int64_t accepted_age_ms(const http::Request& request) {
  constexpr std::string_view kMaxAge = "max-age=";
  const std::string* said = request.header("Cache-Control");
  if (said == nullptr || request.method != "GET" || !request.body.empty() || !said->starts_with(kMaxAge)) return 0;
  auto seconds = number_in(said->substr(kMaxAge.size()), "max-age");
  return seconds ? static_cast<int64_t>(std::min<uint64_t>(*seconds, 60)) * 1000 : 0;
}

struct SizeDocument {
  int64_t rows = 0;
  int64_t columns = 0;
};
BOOST_DESCRIBE_STRUCT(SizeDocument, (), (rows, columns))

struct ExecDocument {
  std::string name;
  std::vector<std::string> command;
  std::optional<std::string> customer;
  std::optional<std::string> reason;
  std::optional<SizeDocument> terminal;
};
BOOST_DESCRIBE_STRUCT(ExecDocument, (), (name, command, customer, reason, terminal))

// Those of state, and those about the caller.
std::vector<const lang::ViewWords*> views_there_are() {
  std::vector<const lang::ViewWords*> all;
  for (const host::HostView& each : host::all_views()) all.push_back(&each);
  for (const host::AccessView& each : host::access_views()) all.push_back(&each);
  std::ranges::sort(all, {}, &lang::ViewWords::name);
  return all;
}

Result<const lang::ViewWords*> words_of_view(const std::string& name) {
  if (const host::AccessView* about = host::find_access_view(name)) return about;
  auto view = host::find_view(name);
  if (!view) return view.error();
  return *view;
}

Error not_shared() {
  return {.code = Code::conflict,
          .message = "the store of this control plane is in its home, so it has no replicas",
          .next = "sluice serve --store postgresql://USER@HOST/DATABASE"};
}

std::string version_in(const json::object& about) {
  const json::value* version = about.if_contains("version");
  return version != nullptr && version->is_string() ? std::string(version->get_string()) : "0";
}

}  // namespace

// A request, the caller that it came from, and what stood in the place of the route's asterisks.
struct Service::Call {
  const http::Request& request;
  const http::Peer& peer;
  engine::Caller caller;
  std::vector<std::string> parts;
  std::optional<Logins::Who> in = std::nullopt;  // the session that they came by

  std::string session() const { return in ? in->in.session : ""; }
};

struct Service::Known {
  engine::Caller caller;
  std::optional<Logins::Who> in = std::nullopt;
};

struct Service::Route {
  std::string_view method;
  std::vector<std::string_view> path;  // "*" is anything
  http::Response (Service::*answer)(const Call&);
  std::string_view summary;  // for the description of the API
  // `known`: whoever has shown who they are; what they get is what they may see, or the engine decides. `admin`: those
  // who administer the whole of it. `anybody`: nobody is asked who they are.
  enum class For : uint8_t { known, admin, anybody } for_ = For::known;
  bool from_committed = false;  // it needs nothing but what is committed, so any replica answers it

  std::optional<std::vector<std::string>> match(const std::vector<std::string>& asked) const {
    if (asked.size() != path.size()) return std::nullopt;
    std::vector<std::string> parts;
    for (size_t i = 0; i < path.size(); ++i) {
      if (path[i] == "*" && !asked[i].empty()) {
        parts.push_back(asked[i]);
      } else if (path[i] != asked[i]) {
        return std::nullopt;
      }
    }
    return parts;
  }
};

const std::vector<Service::Route>& Service::routes() {
  constexpr bool kRead = true;
  static const std::vector<Route> kRoutes = {
      {"GET", {"v1", "status"}, &Service::status, "What runs, since when, on which store"},
      {"POST", {"v1", "stop"}, &Service::stop, "End the server in order", Route::For::admin},
      {"POST", {"v1", "login"}, &Service::login, "Log in with a token or a code", Route::For::anybody},
      {"POST", {"v1", "login", "codes"}, &Service::make_code, "Make a code to log in with elsewhere"},
      {"GET", {"v1", "login", "sso"}, &Service::sso, "Say with whom people log in", Route::For::anybody},
      {"GET",
       {"v1", "login", "sso", "start"},
       &Service::sso_start,
       "Send a browser to the provider with whom people log in",
       Route::For::anybody},
      {"GET",
       {"v1", "login", "sso", "callback"},
       &Service::sso_callback,
       "Take a browser back from the provider, with a session",
       Route::For::anybody},
      {"POST",
       {"v1", "replicas", "tokens"},
       &Service::invite_replica,
       "Make a token with which another home may join as a replica",
       Route::For::admin},
      {"POST",
       {"v1", "replicas", "join"},
       &Service::join_replica,
       "Join as a replica with a token, which is good once",
       Route::For::anybody},
      {"POST",
       {"v1", "routers", "tokens"},
       &Service::invite_router,
       "Make a token with which a router on another machine may join",
       Route::For::admin},
      {"POST",
       {"v1", "routers", "join"},
       &Service::join_router,
       "Join as a router with a token, which is good once",
       Route::For::anybody},
      {"POST",
       {"v1", "routers", "renew"},
       &Service::renew_router,
       "Renew a router's certificate by its key",
       Route::For::anybody},
      {"GET",
       {"v1", "routers", "*", "link"},
       &Service::link_router,
       "Link a router, over a connection that is switched",
       Route::For::anybody},
      {"DELETE",
       {"v1", "routers", "*"},
       &Service::remove_router,
       "Remove a router on another machine: its certificate counts no more",
       Route::For::admin},
      {"POST", {"v1", "logout"}, &Service::logout, "End the session that the request came by"},
      {"GET", {"v1", "session"}, &Service::session, "Say who calls, with what roles, and until when"},
      {"POST", {"v1", "actions", "*", "*"}, &Service::act, "Call an action"},
      {"GET", {"v1", "actions", "*", "*"}, &Service::describe, "Describe an action", Route::For::known, kRead},
      {"POST", {"deployments", "*"}, &Service::reserved, "Stage, warm, activate, rollback or complete-drain"},
      {"GET", {"v1", "openapi.json"}, &Service::openapi, "Describe this API in OpenAPI 3.1", Route::For::known, kRead},
      {"GET",
       {"metrics"},
       &Service::metrics,
       "Read metrics in the text format of Prometheus",
       Route::For::known,
       kRead},
      {"GET", {"v1", "views"}, &Service::views, "List the views", Route::For::known, kRead},
      {"GET", {"v1", "views", "*"}, &Service::view, "Read a view", Route::For::known, kRead},
      {"POST",
       {"v1", "views", "*"},
       &Service::view,
       "Read a view whose question is too long for an address",
       Route::For::known,
       kRead},
      {"GET",
       {"v1", "views", "*", "schema"},
       &Service::view_schema,
       "Read the schemas of a view",
       Route::For::known,
       kRead},
      {"GET", {"v1", "flows"}, &Service::flows, "List flows, the newest first", Route::For::known, kRead},
      {"GET", {"v1", "flows", "*"}, &Service::flow, "Read a flow, and wait for it"},
      {"GET", {"v1", "flows", "*", "steps"}, &Service::steps, "Read the records of a flow", Route::For::known, kRead},
      {"GET", {"v1", "flows", "*", "answer"}, &Service::answer_of, "Read how the call that began a flow stands"},
      {"POST", {"v1", "flows", "*", "decisions"}, &Service::decide, "Decide about a flow"},
      {"PUT", {"v1", "blobs", "*"}, &Service::put_blob, "Put bytes under their digest"},
      {"PATCH", {"v1", "blobs", "*"}, &Service::patch_blob, "Put some of the bytes, from an offset on"},
      {"HEAD", {"v1", "blobs", "*"}, &Service::head_blob, "Say how many of the bytes are there"},
      {"GET", {"v1", "state", "*"}, &Service::state, "Read committed rows of a concept", Route::For::known, kRead},
      {"GET",
       {"v1", "position"},
       &Service::position,
       "Read the newest position, and wait for one",
       Route::For::known,
       kRead},
      {"GET",
       {"v1", "journal"},
       &Service::journal,
       "Read records of the journal, and wait for some",
       Route::For::known,
       kRead},
      {"GET",
       {"v1", "events"},
       &Service::events,
       "Follow what happens, as server-sent events",
       Route::For::known,
       kRead},
      {"GET", {"v1", "events", "types"}, &Service::event_kinds, "List the types of events", Route::For::known, kRead},
      {"GET", {"v1", "logs"}, &Service::logs, "Read what replicas say, and follow it"},
      {"POST", {"v1", "exec"}, &Service::exec, "Run a command inside a replica, over a connection that is switched"},
      {"POST",
       {"v1", "git", "*", "hook"},
       &Service::git_hook,
       "Look at a branch that is watched, as a forge says that it has a new commit",
       Route::For::anybody},
      {"POST", {"publish", "*"}, &Service::publish_mesh, "Publish signed artifacts of a mesh"},
      {"POST", {"mcp"}, &Service::mcp, "Send a message of the Model Context Protocol"},
      {"GET", {"mcp"}, &Service::mcp, "Follow what a session of the Model Context Protocol has subscribed to"},
      {"DELETE", {"mcp"}, &Service::mcp, "End a session of the Model Context Protocol"},
  };
  return kRoutes;
}

// What the journal says was denied: what the caller says it is for, if that reads like a command, else the route:
// whatever somebody sends who may do nothing, the record is short and readable.
std::string Service::denied_thing(const Route& route, const http::Request& request) {
  const std::string* purpose = request.header(host::kPurposeHeader);
  if (purpose == nullptr) purpose = request.parameter("for");
  bool words = purpose != nullptr && !purpose->empty() && purpose->size() <= 30 &&
               std::ranges::all_of(*purpose, [](char c) { return (c >= 'a' && c <= 'z') || c == ' ' || c == '-'; });
  if (words) return *purpose;
  std::string text(route.method);
  text += ' ';
  for (std::string_view part : route.path) text += "/" + std::string(part);
  return text;
}

Service::Service(host::ServiceParts parts, std::span<const Page> pages)
    : parts_(std::move(parts)), pages_(pages), mcp_(version_in(parts_.about()), parts_.kit, *parts_.clock, stopping_) {
  if (parts_.committed == nullptr) parts_.committed = &by_engine_.emplace(*parts_.engine);
}

http::Response Service::answer(const http::Request& request, const http::Peer& peer) {
  if (request.method == "GET" && request.path == std::vector<std::string>{"healthz"}) return health();
  // Which clients ask for before they have a token.
  if (request.method == "GET" && request.path.size() > 1 && request.path[0] == ".well-known" &&
      request.path[1] == "oauth-protected-resource") {
    return mcp::Endpoint::metadata(request, peer.tls);
  }
  if (auto page = pages_.answer(request)) return *std::move(page);
  // Nodes of a mesh show who they are in another way.
  if (!request.path.empty() && request.path[0] == "artifact") {
    host::EngineDoor door = door_for({.request = request, .peer = peer, .caller = {.name = parts_.owner}, .parts = {}});
    return answer_mesh_node(request, door, parts_.clock->wall_ms());
  }
  std::string allowed;
  for (const Route& route : routes()) {
    auto parts = route.match(request.path);
    if (!parts) continue;
    if (route.method != request.method) {
      allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
      continue;
    }
    auto known = route.for_ == Route::For::anybody ? Known() : caller_of(request, peer);
    if (!known) {
      http::Response response = refused(known.error());
      if (response.status == 401) {
        const bool agent = route.answer == &Service::mcp;
        response.headers.push_back(
            {"WWW-Authenticate",
             "Bearer realm=\"sluice\"" +
                 (agent ? ", resource_metadata=\"" + mcp::Endpoint::metadata_url(request, peer.tls) + "\"" : "")});
      }
      return response;
    }
    Call call{.request = request,
              .peer = peer,
              .caller = std::move(known->caller),
              .parts = *std::move(parts),
              .in = std::move(known->in)};
    if (route.for_ == Route::For::anybody) return (this->*route.answer)(call);
    if (auto denied = denied_at(route, call)) {
      (void)parts_.engine->deny(call.caller, denied_thing(route, request));
      return refused(*denied);
    }
    if (auto other = other_kit(request)) return refused(*other);
    return (this->*route.answer)(call);
  }
  if (allowed.empty()) {
    return refused({.code = Code::not_found, .message = "there is nothing at " + request.target});
  }
  http::Response response = refused(
      {.code = Code::invalid, .message = request.target + " takes " + allowed + ", not " + request.method}, {}, 405);
  response.headers.push_back({"Allow", allowed});
  return response;
}

// Who is not known here, or denied, is left to whoever runs the engine and writes that down.
std::optional<http::Response> Service::answer_from_committed(const http::Request& request, const http::Peer& peer) {
  for (const Route& route : routes()) {
    auto parts = route.match(request.path);
    if (!parts || route.method != request.method) continue;
    if (!route.from_committed) return std::nullopt;
    auto known = caller_of(request, peer);
    if (!known) return std::nullopt;
    const Call call{.request = request,
                    .peer = peer,
                    .caller = std::move(known->caller),
                    .parts = *std::move(parts),
                    .in = std::move(known->in)};
    if (denied_at(route, call) || other_kit(request)) return std::nullopt;
    return (this->*route.answer)(call);
  }
  return std::nullopt;
}

// A token says who calls, on every listener, then a session, then a certificate; without any it is the person at the
// other end of the socket.
Result<Service::Known> Service::caller_of(const http::Request& request, const http::Peer& peer) const {
  constexpr std::string_view kBearer = "Bearer ";
  for (const char* name : {"access_token", "token"}) {
    if (request.parameter(name) == nullptr) continue;
    return Error{.code = Code::invalid,
                 .message = "a token must not be part of a URL, which others can read",
                 .next = "send it in the header: Authorization: Bearer TOKEN"};
  }
  const std::string* given = request.header("Authorization");
  if (given != nullptr && parts_.authority != nullptr) {
    if (!given->starts_with(kBearer)) {
      return Error{.code = Code::unauthenticated, .message = "the header Authorization holds no bearer token"};
    }
    const std::string_view token = std::string_view(*given).substr(kBearer.size());
    auto caller = parts_.authority->authenticate(token);
    if (!caller) return caller.error();
    // Another replica passes on what its caller has shown to it.
    const std::string* shown = request.header(host::kCertificateHeader);
    if (shown != nullptr && token.starts_with(host::kReplicaTokenPrefix)) {
      auto chain = crypto::from_base64(*shown, crypto::Base64::standard);
      caller = chain ? parts_.authority->authenticate_certificate(*chain) : Result<engine::Caller>(chain.error());
      if (!caller) return caller.error();
    }
    return Known{.caller = *std::move(caller)};
  }
  auto in = logins_.who(request, peer);
  if (!in) return in.error();
  if (*in) return Known{.caller = (*in)->in.caller, .in = *in};
  if (!peer.certificate.empty() && parts_.authority != nullptr) {
    auto certified = parts_.authority->authenticate_certificate(peer.certificate);
    if (!certified) return certified.error();
    return Known{.caller = *std::move(certified)};
  }
  if (peer.credentials) return Known{.caller = {.name = host::caller_behind(*parts_.disk, *peer.credentials)}};
  return Error{.code = Code::unauthenticated,
               .message = "the request does not say who is calling",
               .next = "send a token in the header: Authorization: Bearer TOKEN"};
}

// Who may call an action, the engine itself decides, and writes down.
std::optional<Error> Service::denied_at(const Route& route, const Call& call) const {
  if (route.answer == &Service::act || call.caller.name == parts_.owner) return std::nullopt;
  const std::string thing = denied_thing(route, call.request);
  if (parts_.authority == nullptr || call.caller.token.empty()) {
    const bool is_route = thing.find('/') != std::string::npos;
    return Error{.code = Code::denied,
                 .message = call.caller.name + " may not " +
                            (is_route ? "call " + thing : "run sluice " + thing + " on this home"),
                 .next = "ask the owner of this home, who is its admin"};
  }
  if (route.for_ == Route::For::known) return std::nullopt;
  auto may = parts_.authority->may_globally(call.caller, "administer", "use " + thing);
  return may ? std::nullopt : std::optional(may.error());
}

std::unique_ptr<host::VisibleStore> Service::visible_to(const engine::Caller& caller) const {
  if (parts_.authority == nullptr || parts_.authority->is_unbound(caller)) return nullptr;
  return std::make_unique<host::VisibleStore>(*parts_.store, *parts_.authority, caller);
}

Result<std::unique_ptr<store::Snapshot>> Service::read_for(const Call& call) const {
  auto seen = visible_to(call.caller);
  return seen ? seen->read() : parts_.store->read();
}

std::optional<Error> Service::other_kit(const http::Request& request) const {
  const std::string* needed = request.header(host::kKitHeader);
  if (needed == nullptr) return std::nullopt;
  const json::object about = parts_.about();
  const json::value* runs = about.if_contains("kitFolder");
  if (runs != nullptr && *runs == json::value(*needed)) return std::nullopt;
  const std::string other = runs != nullptr && runs->is_string() ? std::string(runs->get_string()) : "another";
  return Error{.code = Code::conflict,
               .message = "sluice serve runs the kit " + other + ", and this command needs " + *needed,
               .next = "sluice stop, then run the command again"};
}

http::Response Service::health() {
  auto trouble = parts_.engine->trouble();
  if (!trouble) return in_json(json::object{{"status", "ok"}});
  return refused({.code = Code::unavailable, .message = trouble->message, .next = trouble->next});
}

// -------------------------------------------------------------------------------------------------------- sessions

http::Response Service::session_shown(const engine::Caller& caller, const std::optional<Logins::Who>& in) {
  const bool owner = parts_.authority == nullptr || parts_.authority->is_unbound(caller);
  json::array grants, roles;
  for (const deploy::AccessGrant& each :
       owner ? std::vector<deploy::AccessGrant>() : parts_.authority->grants_of(caller)) {
    grants.push_back(to_json(each));
    if (!each.role) continue;
    const json::value role(deploy::role_name(*each.role));
    if (std::ranges::find(roles, role) == roles.end()) roles.push_back(role);
  }
  json::object shown{{"caller", caller.name},
                     {"owner", owner},
                     {"roles", owner ? json::array{"admin"} : std::move(roles)},
                     {"grants", std::move(grants)},
                     {"session", nullptr}};
  if (in) {
    shown["session"] = in->in.session;
    shown["expires"] = utc_text(in->in.expires_ms);
    shown["csrf"] = in->csrf;
  }
  http::Response response = in_json(shown);
  response.headers.push_back({"Cache-Control", "no-store"});
  return response;
}

http::Response Service::login(const Call& call) {
  auto body = body_of(call.request, {"token", "code"});
  if (!body) return refused(body.error());
  auto token = text_member(*body, "token"), code = text_member(*body, "code");
  if (!token) return refused(token.error());
  if (!code) return refused(code.error());
  if (token->empty() == code->empty()) {
    return refused({.code = Code::invalid, .message = "the body has a token or a code"});
  }
  auto opened = logins_.open(call.request, call.peer, *token, *code);
  if (!opened) {
    http::Response response = refused(opened.error());
    if (opened.error().code == Code::limit) response.headers.push_back({"Retry-After", "60"});
    return response;
  }
  http::Response response = session_shown(opened->who.in.caller, opened->who);
  response.headers.push_back({"Set-Cookie", opened->cookie});
  return response;
}

http::Response Service::sso(const Call&) {
  auto about = sso_.about();
  if (!about && about.error().code != Code::not_found) return refused(about.error());
  return in_json(to_json(host::SsoAnswer{about ? std::optional(*about) : std::nullopt}));
}

http::Response Service::sso_start(const Call& call) { return sso_.begin(call.request, call.peer); }

http::Response Service::sso_callback(const Call& call) { return sso_.finish(call.request, call.peer); }

http::Response Service::logout(const Call& call) {
  if (!call.in) return refused({.code = Code::invalid, .message = "the request came by no session"});
  auto closed = logins_.close(*call.in, call.peer);
  if (!closed) return refused(closed.error());
  log(call.caller.name + " logged out");
  http::Response response = in_json(json::object{{"session", call.in->in.session}});
  response.headers.push_back({"Set-Cookie", *closed});
  return response;
}

http::Response Service::session(const Call& call) { return session_shown(call.caller, call.in); }

// A session that could make codes would never end.
http::Response Service::make_code(const Call& call) {
  if (call.in) {
    return refused({.code = Code::denied,
                    .message = "a session makes no codes",
                    .next = "ask with a token, or at the home itself: sluice console"});
  }
  auto body = body_of(call.request, {});
  if (!body) return refused(body.error());
  const std::string* bearer = call.request.header("Authorization");
  constexpr size_t kScheme = 7;  // "Bearer "
  auto made = logins_.make_code(call.caller, bearer != nullptr ? bearer->substr(kScheme) : "");
  if (!made) return refused(made.error());
  http::Response response = in_json(json::object{{"code", made->code}, {"expires", utc_text(made->expires_ms)}}, 201);
  response.headers.push_back({"Cache-Control", "no-store"});
  return response;
}

http::Response Service::invite_replica(const Call& call) {
  if (auto body = body_of(call.request, {}); !body) return refused(body.error());
  if (!parts_.invite) return refused(not_shared());
  auto made = parts_.invite();
  if (!made) return refused(made.error());
  http::Response response = in_json(*made, 201);
  response.headers.push_back({"Cache-Control", "no-store"});
  return response;
}

// Whoever shows a token is told the cluster's key, so nobody on the way may read the answer.
http::Response Service::join_replica(const Call& call) {
  auto body = body_of(call.request, {"token"});
  if (!body) return refused(body.error());
  auto token = text_member(*body, "token");
  if (!token) return refused(token.error());
  if (!parts_.admit) return refused(not_shared());
  if (!call.peer.tls && !call.peer.credentials) {
    return refused({.code = Code::denied,
                    .message = "the key of a cluster crosses no network in the clear",
                    .next = "let the replica that leads listen with a certificate: --tls-own"});
  }
  auto admitted = parts_.admit(*token);
  if (!admitted) return refused(admitted.error());
  http::Response response = in_json(*admitted);
  response.headers.push_back({"Cache-Control", "no-store"});
  return response;
}

namespace {

http::Response of_routers(const Result<json::object>& answer, int status) {
  if (!answer) return refused(answer.error());
  http::Response response = in_json(*answer, status);
  response.headers.push_back({"Cache-Control", "no-store"});
  return response;
}

}  // namespace

http::Response Service::invite_router(const Call& call) {
  auto body = body_of(call.request, {"environment"});
  if (!body) return refused(body.error());
  auto environment = text_member(*body, "environment");
  if (!environment) return refused(environment.error());
  if (auto known = door_for(call).view("environment", {{"environment", *environment}}); !known) {
    return refused(known.error());
  }
  return of_routers(parts_.routers->invite(*environment), 201);
}

// The token is as good as a login, so nobody on the way may read it.
http::Response Service::join_router(const Call& call) {
  auto body = body_of(call.request, {"token", "name", "router", "machine", "request"});
  if (!body) return refused(body.error());
  host::RouterDesk::Ask ask;
  for (const auto& [name, into] : {std::pair{"token", &ask.token},
                                   {"name", &ask.name},
                                   {"router", &ask.router},
                                   {"machine", &ask.machine},
                                   {"request", &ask.request}}) {
    auto text = text_member(*body, name);
    if (!text) return refused(text.error());
    *into = *std::move(text);
  }
  return of_routers(parts_.routers->join(ask), 201);
}

http::Response Service::renew_router(const Call& call) {
  auto body = body_of(call.request, {"certificate", "request"});
  if (!body) return refused(body.error());
  auto chain = text_member(*body, "certificate");
  if (!chain) return refused(chain.error());
  auto request = text_member(*body, "request");
  if (!request) return refused(request.error());
  return of_routers(parts_.routers->renew(*chain, *request), 200);
}

http::Response Service::link_router(const Call& call) {
  auto linked = parts_.routers->link(call.parts.front(), call.request, call.peer);
  return linked ? *std::move(linked) : refused(linked.error());
}

http::Response Service::remove_router(const Call& call) {
  return of_routers(parts_.routers->remove(call.parts.front()), 200);
}

std::function<bool()> Service::gone(const engine::Caller& caller, const std::string& session) const {
  constexpr int64_t kLook_ns = 1'000'000'000;
  if (parts_.authority == nullptr || (parts_.authority->is_unbound(caller) && session.empty())) {
    return [] { return false; };
  }
  return [this, caller, session, next_ns = int64_t{0}, ended = false]() mutable {
    const int64_t now_ns = parts_.clock->monotonic_ns();
    if (ended || now_ns < next_ns) return ended;
    next_ns = now_ns + kLook_ns;
    ended = session.empty() ? !parts_.authority->holds(caller) : !parts_.authority->holds_session(session);
    return ended;
  };
}

http::Response Service::status(const Call&) {
  json::object object = parts_.about();
  object["position"] = parts_.engine->position();
  auto snapshot = parts_.store->read();
  if (!snapshot) return refused(snapshot.error());
  uint64_t open = 0;
  auto counted = (*snapshot)->open_flows([&](const store::FlowRow&) {
    ++open;
    return true;
  });
  if (!counted) return refused(counted.error());
  object["openFlows"] = open;
  if (auto trouble = parts_.engine->trouble()) object["trouble"] = trouble->message;
  return in_json(object);
}

http::Response Service::stop(const Call& call) {
  auto body = body_of(call.request, {"reason"});
  if (!body) return refused(body.error());
  auto reason = text_member(*body, "reason");
  if (!reason) return refused(reason.error());
  log(call.caller.name + " asked to stop" + (reason->empty() ? "" : ": " + *reason));
  parts_.stop();
  http::Response response = in_json(parts_.about(), 202);
  response.close = true;
  return response;
}

// A time after which a waiting request is answered as things are; earlier if the server stops.
std::function<bool()> Service::until(const Call& call, int64_t otherwise_ms) const {
  auto given = parameter_number(call.request, "for_ms", static_cast<uint64_t>(otherwise_ms));
  int64_t for_ms = given ? static_cast<int64_t>(std::min<uint64_t>(*given, kLongestPatience_ms)) : otherwise_ms;
  int64_t until_ns = parts_.clock->monotonic_ns() + for_ms * 1'000'000;
  return [this, until_ns] { return stopping_ || parts_.clock->monotonic_ns() >= until_ns; };
}

// What a caller has changed they read everywhere: who asks for a position gets nothing older.
std::optional<http::Response> Service::not_there_yet(const Call& call) const {
  auto at_least = parameter_number(call.request, "at_least", 0);
  if (!at_least) return refused(at_least.error());
  if (*at_least == 0) return std::nullopt;
  auto stop = until(call, kDecided_ms);
  uint64_t position = parts_.committed->position();
  while (position < *at_least && !stop()) position = parts_.committed->wait_for(*at_least, 100);
  if (position >= *at_least) return std::nullopt;
  return refused({.code = Code::timeout,
                  .message = "position " + std::to_string(*at_least) + " is not there: the newest is " +
                             std::to_string(position)});
}

// --------------------------------------------------------------------------------------------------------- actions

host::EngineDoor Service::door_for(const Call& call) { return door_of(call.caller); }

Result<engine::Caller> Service::who(const http::Request& request, const http::Peer& peer) const {
  auto known = caller_of(request, peer);
  if (!known) return known.error();
  return known->caller;
}

host::EngineDoor Service::door_of(const engine::Caller& caller) {
  return host::EngineDoor({.engine = parts_.engine,
                           .store = parts_.store,
                           .blobs = parts_.blobs,
                           .uploads = parts_.uploads,
                           .concepts = parts_.concepts,
                           .clock = parts_.clock,
                           .disk = parts_.disk,
                           .home = parts_.home,
                           .kit = parts_.kit(),
                           .authority = parts_.authority},
                          caller);
}

http::Response Service::act(const Call& call) {
  std::string name = call.parts[0] + "/" + call.parts[1];
  auto body = body_of(call.request, {"input", "reason", "dryRun"});
  if (!body) return refused(body.error());
  auto input = object_member(*body, "input");
  if (!input) return refused(input.error());
  auto reason = text_member(*body, "reason");
  if (!reason) return refused(reason.error());
  auto dry_run = flag_member(*body, "dryRun");
  if (!dry_run) return refused(dry_run.error());
  return run_action(call, name, *std::move(input), *reason, *dry_run);
}

// By the names that others reserve for it: one deployment's revisions, step by step. All but what says which deployment
// and revision are meant goes to the action as it is.
http::Response Service::reserved(const Call& call) {
  auto body = any_body_of(call.request);
  if (!body) return refused(body.error());
  const std::string& step = call.parts[0];
  auto environment = text_member(*body, "environment"), deployment = text_member(*body, "deployment_id"),
       revision = text_member(*body, "revision_id"), reason = text_member(*body, "reason");
  for (const auto* each : {&environment, &deployment, &revision, &reason}) {
    if (!*each) return refused(each->error());
  }
  const bool of_revision = step == "warm" || step == "activate" || step == "complete-drain";
  for (const auto& [name, given] : {std::pair("environment", &*environment), std::pair("deployment_id", &*deployment),
                                    std::pair("revision_id", of_revision ? &*revision : &*deployment)}) {
    if (given->empty()) return refused({.code = Code::invalid, .message = std::string("the body needs ") + name});
  }
  json::object query{{"environment", *environment}, {"deployment", *deployment}};
  if (of_revision) query["revisions"] = json::array{json::value(*revision)};
  auto names = door_for(call).view("names", query);
  if (!names) return refused(names.error());
  auto meant = sluice::read<deploy::views::MeantNames>(names->document);
  if (!meant) return refused(meant.error());
  json::object input = *body;
  for (const char* each : {"environment", "deployment_id", "revision_id", "reason"}) input.erase(each);
  const std::string found = of_revision ? meant->revisions.at(0).revision : "";
  if (step == "warm" || step == "complete-drain") {
    input["revision"] = found;
    return run_action(call, step == "warm" ? "Revision/warm" : "Revision/drain", std::move(input), *reason, false);
  }
  input["deployment"] = meant->deployment;
  if (step == "stage") {
    input["environment"] = meant->environment;
    if (!input.contains("bundle")) input["bundle"] = meant->bundle;
    return run_action(call, "Revision/stage", std::move(input), *reason, false);
  }
  if (step == "activate") {
    input["entries"] = json::array{json::object{{"revision", found}, {"weightBps", 10'000}}};
    return run_action(call, "Traffic/set", std::move(input), *reason, false);
  }
  if (step == "rollback") {
    if (!input.contains("steps")) input["steps"] = 1;
    return run_action(call, "Traffic/rollback", std::move(input), *reason, false);
  }
  return refused({.code = Code::not_found, .message = "there is nothing at " + call.request.target});
}

http::Response Service::run_action(const Call& call, const std::string& name, json::object input,
                                   const std::string& reason, bool dry_run) {
  if (auto known = only_parameters(call.request, {"wait", "for_ms", "for", "kit"}); !known) {
    return refused(known.error());
  }
  auto wait = wait_of(call.request);
  if (!wait) return refused(wait.error());
  auto generation = expected_generation(call.request);
  if (!generation) return refused(generation.error());
  if (auto demanded = precondition_missing(call, name, input, *generation, dry_run)) return *std::move(demanded);
  const std::string* key = call.request.header("Idempotency-Key");
  const bool replayed = key != nullptr && was_used(call.caller, *key);
  // As it was before the call, which may remove what it was about.
  const std::string authorized =
      parts_.authority != nullptr ? parts_.authority->judge(call.caller, name, input).why : "";
  const int64_t began_ns = parts_.clock->monotonic_ns();
  auto answer = door_for(call).call({.action = name,
                                     .input = std::move(input),
                                     .reason = reason,
                                     .key = key != nullptr ? *key : "",
                                     .expect_generation = *generation,
                                     .wait = *wait,
                                     .dry_run = dry_run},
                                    {.stop = until(call, kAnswerPatience_ms)});
  if (!answer) {
    log(call.caller.name + " " + name + " was refused: " + answer.error().message);
    return refused(answer.error());
  }
  if (answer->flow) answer->authorized = authorized;
  if (answer->flow && answer->ended()) {
    const int64_t took_us = (parts_.clock->monotonic_ns() - began_ns) / 1000;
    log(call.caller.name + " " + name + " => " + answer->variant + " in " + std::to_string(took_us / 1000) + "." +
        std::to_string(took_us % 1000 / 100) + " ms, flow " + to_string(*answer->flow));
  } else if (*wait == host::WaitFor::answer && answer->flow) {
    log(call.caller.name + " " + name + " goes on as flow " + to_string(*answer->flow));
  }
  http::Response response = answered(call, *answer, key != nullptr && *wait == host::WaitFor::answer);
  if (replayed && answer->flow) response.headers.push_back({"Idempotency-Replayed", "true"});
  return response;
}

bool Service::was_used(const engine::Caller& caller, const std::string& key) const {
  auto snapshot = parts_.store->read();
  if (!snapshot) return false;
  auto row = (*snapshot)->key(caller.name, key);
  return row && *row && (*row)->expires_ms > parts_.clock->wall_ms();
}

// Where the policy demands it, a change of something that is there says which generation of it the caller has seen.
std::optional<http::Response> Service::precondition_missing(const Call& call, const std::string& name,
                                                            const json::object& input,
                                                            const std::optional<uint64_t>& generation, bool dry_run) {
  if (generation || dry_run || parts_.authority == nullptr) return std::nullopt;
  if (!parts_.authority->demands_precondition(call.caller, name, input)) return std::nullopt;
  if (!parts_.authority->may(call.caller, name, input)) return std::nullopt;  // which is denied in its place
  auto snapshot = parts_.store->read();
  if (!snapshot) return refused(snapshot.error());
  const auto own = host::seen_rows(**snapshot, *parts_.kit(), name, input).own;
  if (!own) return std::nullopt;
  const std::string tag = "\"" + std::to_string(*own) + "\"";
  http::Response response =
      refused({.code = Code::conflict,
               .message = name + " must say here which generation it has seen, and is at " + std::to_string(*own),
               .next = "look at it again, then send the header If-Match: " + tag +
                       ", on the command line --expect-generation " + std::to_string(*own)},
              {{"actual", *own}}, 428);
  response.headers.push_back({"ETag", tag});
  return response;
}

http::Response Service::answer_of(const Call& call) {
  auto flow = Ulid::parse(call.parts[0]);
  if (!flow) return refused(flow.error());
  auto wait = wait_of(call.request);
  if (!wait) return refused(wait.error());
  auto answer = door_for(call).answer_of(*flow, *wait, {.stop = until(call, 0)});
  if (!answer) return refused(answer.error());
  return answered(call, *answer);
}

// The body: mesh, artifacts, chain, first, and all. Of ctrl alone, or of everything.
http::Response Service::publish_mesh(const Call& call) {
  const std::string& plane = call.parts[0];
  if (plane != "mgmt" && plane != "ctrl")
    return refused({.code = Code::not_found, .message = "there is nothing at " + call.request.target});
  auto body = body_of(call.request, {"mesh", "artifacts", "chain", "first", "all"});
  if (!body) return refused(body.error());
  auto name = text_member(*body, "mesh");
  if (!name) return refused(name.error());
  json::object document;
  for (const char* each : {"artifacts", "chain"}) {
    if (json::value* value = body->if_contains(each)) document[each] = std::move(*value);
  }
  json::object input{{"mesh", *name}, {"document", write(document)}, {"plane", plane}};
  for (const char* each : {"first", "all"}) {
    if (json::value* value = body->if_contains(each)) input[each] = std::move(*value);
  }
  return run_action(call, "Mesh/publish", std::move(input), "", false);
}

// It is answered before Sluice has looked: forges do not wait.
http::Response Service::git_hook(const Call& call) {
  const auto* variables = parts_.concepts->tools.find<Variables>();
  const auto secret = variables != nullptr ? (*variables)(kGitHookSecret) : std::nullopt;
  if (!secret || secret->empty()) {
    return refused({.code = Code::denied,
                    .message = std::string("webhooks are not taken: sluice serve has no ") + kGitHookSecret,
                    .next = "set it for sluice serve, and at the forge"});
  }
  if (auto known = check_git_hook(call.request, *secret); !known) return refused(known.error());
  const std::string& source = call.parts[0];
  auto begun = parts_.engine->start({.action = "GitSource/look",
                                     .input = {{"source", source}},
                                     .caller = {.name = parts_.owner, .reason = "a webhook"}});
  if (!begun) return refused(begun.error());
  http::Response response = in_json(json::object{{"source", source}, {"flow", to_string(*begun)}});
  response.status = 202;
  return response;
}

// Before anything is read: who may put nothing fills no disk.
std::optional<http::Response> Service::upload_denied(const Call& call) {
  if (parts_.authority == nullptr) return std::nullopt;
  auto may = parts_.authority->may(call.caller, "put", {});
  if (may) return std::nullopt;
  (void)parts_.engine->deny(call.caller, "put");
  return refused(may.error());
}

host::PartialUploads Service::partial_uploads() const {
  const std::string blob = parts_.uploads->path_of({});
  return host::PartialUploads(*parts_.disk, folder_of(folder_of(blob)) + "/partial", *parts_.clock);
}

// How far an upload has come: `Upload-Offset`, and whether all of it is there.
http::Response Service::head_blob(const Call& call) {
  auto digest = crypto::parse_sha256(call.parts[0]);
  if (!digest) return refused(digest.error());
  if (auto denied = upload_denied(call)) return *std::move(denied);
  auto whole = parts_.uploads->has(*digest);
  if (!whole) return refused(whole.error());
  auto offset = partial_uploads().offset(call.caller.name, *digest);
  if (!offset) return refused(offset.error());
  uint64_t bytes = *offset;
  if (*whole) {
    auto stat = parts_.disk->stat(parts_.uploads->path_of(*digest), FollowLinks::no);
    if (!stat) return refused(stat.error());
    bytes = stat->size;
  }
  return {.status = 204,
          .headers = {{"Upload-Offset", std::to_string(bytes)},
                      {"Upload-Complete", *whole ? "?1" : "?0"},
                      {"Cache-Control", "no-store"}}};
}

// A piece of an upload, at the offset where it has come to. With `Upload-Complete: ?1` it is the last one: then the
// digest must be right, or nothing is kept.
http::Response Service::patch_blob(const Call& call) {
  auto digest = crypto::parse_sha256(call.parts[0]);
  if (!digest) return refused(digest.error());
  if (auto denied = upload_denied(call)) return *std::move(denied);
  const std::string* given = call.request.header("Upload-Offset");
  auto offset = number_in(given != nullptr ? *given : "", "Upload-Offset");
  if (!offset) return refused(offset.error());
  const std::string* complete = call.request.header("Upload-Complete");
  auto partial = partial_uploads();
  auto now = partial.add(call.caller.name, *digest, *offset, call.request.more);
  if (!now) {
    http::Response response = refused(now.error());
    auto at = partial.offset(call.caller.name, *digest);
    if (at) response.headers.push_back({"Upload-Offset", std::to_string(*at)});
    return response;
  }
  if (complete == nullptr || *complete != "?1") {
    return {.status = 204, .headers = {{"Upload-Offset", std::to_string(*now)}, {"Upload-Complete", "?0"}}};
  }
  auto file = partial.open(call.caller.name, *digest);
  if (!file) return refused(file.error());
  uint64_t at = 0;
  auto kept = door_for(call).put(
      *digest,
      [&](std::string& piece) -> Result<bool> {
        constexpr size_t kCopied = size_t{256} << 10U;
        piece.resize(kCopied);
        auto got = (*file)->read_at(at, piece);
        if (!got) return got.error();
        piece.resize(*got);
        at += *got;
        return *got > 0;
      },
      "");
  log(call.caller.name + " put " + call.parts[0] + (kept ? "" : ": " + kept.error().message));
  if (kept || kept.error().code == Code::verification_failed) (void)partial.remove(call.caller.name, *digest);
  if (!kept) return refused(kept.error());
  return in_json(json::object{{"digest", call.parts[0]}}, 201);
}

http::Response Service::put_blob(const Call& call) {
  auto digest = crypto::parse_sha256(call.parts[0]);
  if (!digest) return refused(digest.error());
  if (auto denied = upload_denied(call)) return *std::move(denied);
  const std::string* reason = call.request.parameter("reason");
  auto kept = door_for(call).put(*digest, call.request.more, reason != nullptr ? *reason : "");
  log(call.caller.name + " put " + call.parts[0] + (kept ? "" : ": " + kept.error().message));
  if (!kept) return refused(kept.error());
  return in_json(json::object{{"digest", call.parts[0]}}, 201);
}

// What a repeated call is answered is equal to the byte, so only a header says how its flow stands by then.
http::Response Service::answered(const Call& call, const host::Answer& answer, bool repeatable) {
  json::object shown = host::to_json(answer), now;
  if (repeatable && answer.ended()) {
    for (const char* changing : {"state", "followUpsPending", "followUpsMoving"}) {
      if (const json::value* value = shown.if_contains(changing)) now[changing] = *value;
      shown.erase(changing);
    }
  }
  http::Response response = answered_with(call, answer, std::move(shown));
  if (!now.empty()) response.headers.push_back({std::string(host::kFlowNowHeader), write(now)});
  return response;
}

http::Response Service::answered_with(const Call& call, const host::Answer& answer, json::object shown) {
  if (!answer.ended()) return in_json(shown, 202);
  if (answer.code == Code::ok) {
    http::Response response = in_json(shown);
    if (answer.generation) response.headers.push_back({"ETag", "\"" + std::to_string(*answer.generation) + "\""});
    return response;
  }
  const bool stale = answer.variant == "engine.conflict" && call.request.header("If-Match") != nullptr;
  // The server did what was asked; that it ended badly is no fault of its own.
  const bool declared = !answer.variant.starts_with("engine.") && http_status(answer.code) >= 500;
  const std::string message = answer.text("message");
  http::Response response =
      refused({.code = answer.code,
               .message = message.empty() ? answer.action + " ended in " + answer.variant : message,
               .next = answer.flow && answer.next.empty() ? "sluice flow trace " + to_string(*answer.flow) : ""},
              std::move(shown),
              stale      ? 412
              : declared ? 422
                         : 0);
  const json::value* actual = answer.fields.if_contains("actual");
  if (stale && actual != nullptr) response.headers.push_back({"ETag", "\"" + write(*actual) + "\""});
  return response;
}

http::Response Service::describe(const Call& call) {
  std::string name = call.parts[0] + "/" + call.parts[1];
  auto kit = parts_.kit();
  auto action = host::callable(*kit, name);
  if (!action) return refused(action.error());
  json::object variants;
  for (const lang::VariantSymbol& each : (*action)->variants) {
    variants[each.name] = code_name(engine::code_of(**action, each.name));
  }
  return in_json(json::object{
      {"action", name}, {"query", (*action)->runs == lang::Runs::query}, {"variants", std::move(variants)}});
}

http::Response Service::openapi(const Call&) {
  auto kit = parts_.kit();
  Described described{.version = version_in(parts_.about()), .kit = *kit, .views = views_there_are()};
  for (const Route& each : routes()) {
    described.routes.push_back(
        {std::string(each.method), {each.path.begin(), each.path.end()}, std::string(each.summary)});
  }
  return in_json(openapi_document(described));
}

// --------------------------------------------------------------------------------------------------------- metrics

http::Response Service::metrics(const Call& call) {
  auto rows = read_for(call);
  if (!rows) return refused(rows.error());
  std::map<std::string, int64_t> flows{{"running", 0}, {"waiting", 0}, {"stuck", 0}};
  auto counted = (*rows)->open_flows([&](const store::FlowRow& flow) {
    flows[flow.status == store::FlowStatus::running   ? "running"
          : flow.status == store::FlowStatus::waiting ? "waiting"
                                                      : "stuck"]++;
    return true;
  });
  if (!counted) return refused(counted.error());
  json::array families;
  json::array open;
  for (const auto& [status, number] : flows) {
    open.push_back(json::object{{"labels", json::object{{"status", status}}}, {"value", number}});
  }
  families.push_back(
      json::object{{"name", "sluice_journal_steps_total"},
                   {"type", "counter"},
                   {"help", "Steps that were committed"},
                   {"samples", json::array{json::object{{"labels", json::object()}, {"value", (*rows)->position()}}}}});
  families.push_back(json::object{{"name", "sluice_flows_open"},
                                  {"type", "gauge"},
                                  {"help", "Flows that have not settled, by status"},
                                  {"samples", open}});
  // A kit that counts nothing has no such view.
  if (auto more = door_for(call).view("metrics", {})) {
    for (const json::value& each : more->document.as_array()) families.push_back(each);
  }
  return {.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = metrics_text(families)};
}

// ----------------------------------------------------------------------------------------------------------- views

http::Response Service::views(const Call&) {
  json::array all;
  for (const lang::ViewWords* each : views_there_are()) {
    all.push_back(json::object{{"name", each->name}, {"summary", each->summary}});
  }
  return in_json(json::object{{"views", std::move(all)}});
}

http::Response Service::view(const Call& call) {
  auto view = words_of_view(call.parts[0]);
  if (!view) return refused(view.error());
  std::vector<std::pair<std::string, std::string>> given;
  for (const auto& [name, value] : call.request.query) {
    if (name != "for" && name != "kit" && name != "at_least" && name != "for_ms") given.emplace_back(name, value);
  }
  if (auto early = not_there_yet(call)) return *std::move(early);
  // What is too long for a URL is a body.
  auto query = call.request.body.empty() ? lang::query_of_texts(**view, given) : any_body_of(call.request);
  if (!query) return refused(query.error());
  auto read = [&]() -> Result<ViewAnswer> {
    auto answer = door_for(call).view(call.parts[0], *query);
    if (!answer) return answer.error();
    return ViewAnswer{.position = answer->position, .body = write(answer->document)};
  };
  // What is said of the caller is not the same for two of one name.
  const int64_t age_ms = host::find_access_view(call.parts[0]) == nullptr ? accepted_age_ms(call.request) : 0;
  auto read_alone = [&]() -> Result<std::shared_ptr<const ViewAnswer>> {
    auto fresh = read();
    if (!fresh) return fresh.error();
    return std::make_shared<const ViewAnswer>(*std::move(fresh));
  };
  const std::string key = call.caller.name + "\n" + call.caller.token + "\n" + call.request.target;
  auto answer = age_ms > 0 ? memo_.get(key, age_ms, read) : read_alone();
  if (!answer) return refused(answer.error());
  const std::string tag = "\"" + std::to_string((*answer)->position) + "\"";
  const std::string* known = call.request.header("If-None-Match");
  http::Response response =
      known != nullptr && *known == tag ? http::Response{.status = 304} : http::Response{.body = (*answer)->body};
  response.headers.push_back({"ETag", tag});
  // What is said of access was read a moment before its position.
  if (host::find_access_view(call.parts[0]) == nullptr) keep_for_a_moment(call, response, (*answer)->position);
  return response;
}

std::optional<http::Response> Service::answer_at_once(const http::Request& request, const http::Peer& peer) {
  const std::string key = RecentReads::key_of(request, peer);
  if (key.empty() || stopping_) return std::nullopt;
  return recent_.find(key, parts_.committed->position(), parts_.clock->monotonic_ns());
}

// For callers who are known by a token of Access or a session, whose end is known.
void Service::keep_for_a_moment(const Call& call, const http::Response& response, uint64_t position) {
  const std::string& token = call.caller.token;
  if (parts_.authority == nullptr || token.find(':') != std::string::npos) return;
  std::optional<int64_t> ends_ms;
  if (!token.empty()) ends_ms = parts_.authority->end_of_token(token);
  if (call.in) ends_ms = std::min(ends_ms.value_or(call.in->in.expires_ms), call.in->in.expires_ms);
  const int64_t now_ns = parts_.clock->monotonic_ns();
  constexpr int64_t kHour_ms = 3'600'000;
  const int64_t left_ms = ends_ms ? std::clamp<int64_t>(*ends_ms - parts_.clock->wall_ms(), 0, kHour_ms) : kHour_ms;
  recent_.keep(RecentReads::key_of(call.request, call.peer), response, position, now_ns, now_ns + left_ms * 1'000'000);
}

http::Response Service::view_schema(const Call& call) {
  auto view = words_of_view(call.parts[0]);
  if (!view) return refused(view.error());
  return in_json(json::object{{"query", (*view)->query_schema()}, {"document", (*view)->schema()}});
}

// ----------------------------------------------------------------------------------------------------------- flows

http::Response Service::flow(const Call& call) {
  auto id = Ulid::parse(call.parts[0]);
  if (!id) return refused(id.error());
  const std::string* until_text = call.request.parameter("until");
  using Until = engine::Engine::Until;
  Until far = Until::quiet;
  for (Until each : {Until::settled, Until::all}) {
    if (until_text != nullptr && *until_text == host::name_of(each)) far = each;
  }
  auto late = until(call, 0);
  bool done = true;
  auto known = read_for(call);
  auto found = known ? (*known)->flow(*id) : Result<std::optional<store::FlowRow>>(known.error());
  if (!found) return refused(found.error());
  if (!*found) return refused({.code = Code::not_found, .message = "there is no flow " + call.parts[0]});
  known->reset();
  auto state = parts_.engine->wait(*id, far, [&] {
    done = !late() && !parts_.engine->trouble();
    return !done;
  });
  if (!state) return refused(state.error());
  auto snapshot = read_for(call);
  auto row = snapshot ? (*snapshot)->flow(*id) : Result<std::optional<store::FlowRow>>(snapshot.error());
  if (!row) return refused(row.error());
  if (!*row) return refused({.code = Code::not_found, .message = "there is no flow " + call.parts[0]});
  json::object shown = host::flow_row_json(**row);
  shown["state"] = host::state_name(*state);
  shown["done"] = done;
  if (auto trouble = parts_.engine->trouble()) shown["trouble"] = host::problem(*trouble);
  return in_json(shown);
}

http::Response Service::flows(const Call& call) {
  auto limit = parameter_number(call.request, "limit", host::kPageRows);
  if (!limit) return refused(limit.error());
  std::optional<Ulid> before;
  if (const std::string* given = call.request.parameter("before")) {
    auto id = Ulid::parse(*given);
    if (!id) return refused(id.error());
    before = *id;
  }
  const std::string* wish = call.request.parameter("failed");
  const bool failed_only = wish != nullptr && *wish != "false";
  auto snapshot = read_for(call);
  if (!snapshot) return refused(snapshot.error());
  json::array flows;
  bool more = false;
  auto read = (*snapshot)->flows_newest_first(before, [&](const store::FlowRow& row) {
    bool failed = row.status == store::FlowStatus::settled_failed || row.status == store::FlowStatus::stuck;
    if (failed_only && !failed) return true;
    more = flows.size() >= std::min<uint64_t>(*limit, host::kPageRows);
    if (!more) flows.push_back(host::flow_row_json(row));
    return !more;
  });
  if (!read) return refused(read.error());
  return in_json(json::object{{"flows", std::move(flows)}, {"more", more}});
}

http::Response Service::steps(const Call& call) {
  auto id = Ulid::parse(call.parts[0]);
  if (!id) return refused(id.error());
  auto snapshot = read_for(call);
  auto row = snapshot ? (*snapshot)->flow(*id) : Result<std::optional<store::FlowRow>>(snapshot.error());
  if (!row) return refused(row.error());
  if (!*row) return refused({.code = Code::not_found, .message = "there is no flow " + call.parts[0]});
  auto records = host::flow_records(**snapshot, **row);
  if (!records) return refused(records.error());
  json::object shown = host::flow_row_json(**row);
  shown["steps"] = *std::move(records);
  return in_json(shown);
}

http::Response Service::decide(const Call& call) {
  auto flow = Ulid::parse(call.parts[0]);
  if (!flow) return refused(flow.error());
  auto body = body_of(call.request, {"decision", "invocation", "variant", "fields", "reason"});
  if (!body) return refused(body.error());
  auto reason = text_member(*body, "reason"), kind = text_member(*body, "decision"),
       invocation = text_member(*body, "invocation"), variant = text_member(*body, "variant");
  auto fields = object_member(*body, "fields");
  for (const auto* each : {&reason, &kind, &invocation, &variant}) {
    if (!*each) return refused(each->error());
  }
  if (!fields) return refused(fields.error());
  engine::Decision decision{.flow = *flow, .as = {*variant, *fields}, .caller = call.caller};
  decision.caller.reason = *reason;
  if (!invocation->empty()) {
    auto id = Ulid::parse(*invocation);
    if (!id) return refused(id.error());
    decision.invocation = *id;
  }
  using Kind = engine::Decision::Kind;
  bool known = false;
  for (Kind each : {Kind::cancel, Kind::resolve_as, Kind::retry, Kind::drop, Kind::move, Kind::correct_clock}) {
    if (*kind != host::name_of(each)) continue;
    decision.kind = each;
    known = true;
  }
  if (!known) {
    return refused({.code = Code::invalid, .message = "a decision is cancel, resolve, retry, drop or move"});
  }
  auto decided = door_for(call).decide(std::move(decision), {.stop = until(call, kDecided_ms)});
  log(call.caller.name + " " + *kind + " of flow " + to_string(*flow) +
      (decided ? "" : " was refused: " + decided.error().message));
  if (!decided) return refused(decided.error());
  host::DecidedDocument document{
      .flow = to_string(*flow), .position = decided->position, .state = std::string(host::state_name(decided->state))};
  if (decided->trouble) document.trouble = host::problem(*decided->trouble);
  return in_json(to_json(document));
}

// ----------------------------------------------------------------------------------------------------------- reads

http::Response Service::state(const Call& call) {
  auto skip = parameter_number(call.request, "skip", 0);
  if (!skip) return refused(skip.error());
  if (auto early = not_there_yet(call)) return *std::move(early);
  const std::string* prefix = call.request.parameter("prefix");
  auto snapshot = read_for(call);
  if (!snapshot) return refused(snapshot.error());
  json::array rows;
  size_t bytes = 0;
  uint64_t seen = 0;
  bool more = false;
  std::optional<Error> unreadable;
  auto read = (*snapshot)->scan(call.parts[0], prefix != nullptr ? *prefix : "", [&](const store::StateRow& row) {
    if (seen++ < *skip) return true;
    more = rows.size() >= host::kPageRows || bytes >= host::kPageBytes;
    if (more) return false;
    auto value = parse_json(row.value);
    if (!value) {
      unreadable = value.error();
      return false;
    }
    bytes += row.value.size();
    rows.push_back(json::object{
        {"key", host::to_json(row.key)}, {"generation", row.generation}, {"value", std::move(value->root)}});
    return true;
  });
  if (!read) return refused(read.error());
  if (unreadable) return refused(*unreadable);
  uint64_t position = (*snapshot)->position();
  http::Response response = in_json(json::object{{"position", position}, {"rows", std::move(rows)}, {"more", more}});
  response.headers.push_back({"ETag", "\"" + std::to_string(position) + "\""});
  return response;
}

http::Response Service::position(const Call& call) {
  auto at_least = parameter_number(call.request, "at_least", 0);
  if (!at_least) return refused(at_least.error());
  auto stop = until(call, 0);
  uint64_t position = parts_.committed->position();
  while (position < *at_least && !stop()) position = parts_.committed->wait_for(*at_least, 100);
  json::object shown{{"position", position}};
  if (auto trouble = parts_.committed->trouble()) shown["trouble"] = host::problem(*trouble);
  return in_json(shown);
}

http::Response Service::journal(const Call& call) {
  auto from = parameter_number(call.request, "from", 1);
  if (!from) return refused(from.error());
  json::array rows;
  size_t bytes = 0;
  auto late = until(call, 0);
  bool looked = false;  // at least once, also by those who do not wait
  auto stop = [&] {
    bool done = !rows.empty() || (looked && late());
    looked = true;
    return done;
  };
  auto seen = visible_to(call.caller);
  auto watched = parts_.committed->watch(
      *from,
      [&](const store::JournalRow& row) {
        if (seen && !seen->sees(row)) return true;
        rows.push_back(host::to_json(row));
        bytes += row.record.size();
        return rows.size() < host::kPageRows && bytes < host::kPageBytes;
      },
      stop);
  if (!watched) return refused(watched.error());
  json::object shown{{"rows", std::move(rows)}};
  if (auto trouble = parts_.committed->trouble()) shown["trouble"] = host::problem(*trouble);
  return in_json(shown);
}

// Lines of JSON: one for each that a replica said.
http::Response Service::logs(const Call& call) {
  host::LogAsk ask;
  for (const auto& [name, value] : call.request.query) {
    if (name == "name") ask.names.push_back(value);
    if (name == "since") ask.since = value;
    if (name == "follow") ask.follow = value == "true";
    if (name == "all") ask.all = value == "true";
    if (name == "customer") ask.customer = value;
  }
  const std::string* search = call.request.parameter("search");
  auto door = std::make_shared<host::EngineDoor>(door_for(call));
  auto reading = door->open_logs(ask);
  if (!reading) return refused(reading.error());
  auto left = [this, gone = gone(call.caller, call.session())]() mutable { return stopping_ || gone(); };
  return {.content_type = "application/x-ndjson",
          .headers = {{"Cache-Control", "no-store"}},
          .feed = std::make_shared<LogFeed>(std::move(door), *std::move(reading), search != nullptr ? *search : "",
                                            std::move(left))};
}

// What is denied or not there has a status of its own; after that the connection belongs to the command.
http::Response Service::exec(const Call& call) {
  const std::string* protocol = call.request.header("Upgrade");
  if (protocol == nullptr || *protocol != host::kExecProtocol) {
    http::Response response = refused({.code = Code::invalid,
                                       .message = "exec needs a connection of its own",
                                       .next = "send Connection: Upgrade and Upgrade: sluice-exec/1"},
                                      {}, 426);
    response.headers.push_back({"Upgrade", std::string(host::kExecProtocol)});
    return response;
  }
  auto body = any_body_of(call.request);
  if (!body) return refused(body.error());
  auto asked = read<ExecDocument>(*body);
  if (!asked) return refused(asked.error());
  auto replicas = host::local_replicas(*parts_.concepts);
  if (!replicas) return refused(replicas.error());
  auto replica = door_for(call).enter({.name = asked->name,
                                       .command = asked->command,
                                       .customer = asked->customer.value_or(""),
                                       .reason = asked->reason.value_or("")});
  if (!replica) return refused(replica.error());
  auto words = (*replicas)->exec_words(*replica, asked->command);
  if (!words) return refused(words.error());
  std::optional<process::TerminalSize> size;
  if (asked->terminal) {
    constexpr int64_t kLargest = 10'000;
    auto bounded = [&](int64_t number) { return static_cast<uint16_t>(std::clamp<int64_t>(number, 0, kLargest)); };
    size = {.rows = bounded(asked->terminal->rows), .columns = bounded(asked->terminal->columns)};
  }
  auto started = process::Attached::start(*words, size);
  if (!started) return refused(started.error());
  log(call.caller.name + " runs " + asked->command.front() + " in " + *replica);
  auto command = std::make_shared<process::Attached>(*std::move(started));
  return {.protocol = std::string(host::kExecProtocol), .channel = [command](http::Switched& switched) {
            host::serve_command(*command, switched.connection, std::move(switched.input), switched.stop);
          }};
}

http::Response Service::mcp(const Call& call) {
  return mcp_.answer(call.request, {.caller = call.caller.name,
                                    .door = std::make_shared<host::EngineDoor>(door_for(call)),
                                    .left = gone(call.caller, call.session())});
}

// ---------------------------------------------------------------------------------------------------------- events

http::Response Service::event_kinds(const Call&) {
  auto kit = parts_.kit();
  std::map<std::string, json::object> schemas;  // by concept
  for (const lang::KitConcept& each : kit->kit().concepts) {
    schemas[each.tree.name] = lang::generate_schema(each.tree).at("$defs").as_object();
  }
  json::array types;
  for (const host::EventType& each : host::event_types()) {
    const std::string action(each.action);
    const size_t slash = action.find('/');
    auto owner = schemas.find(action.substr(0, slash));
    if (owner == schemas.end()) continue;
    json::object fields;
    for (std::string_view variant : each.variants) {
      fields[variant] = owner->second.at(action.substr(slash + 1) + "." + std::string(variant));
    }
    types.push_back(json::object{
        {"event", each.name}, {"summary", each.summary}, {"action", each.action}, {"fields", std::move(fields)}});
  }
  return in_json(json::object{{"types", std::move(types)}});
}

// Server-sent events whose ids are positions of the journal.
http::Response Service::events(const Call& call) {
  EventsAsked asked{.from = parts_.committed->position() + 1,
                    .caller = call.caller,
                    .bound = parts_.authority != nullptr && !parts_.authority->is_unbound(call.caller),
                    .left = gone(call.caller, call.session())};
  if (const std::string* last = call.request.header("Last-Event-ID")) {
    auto number = number_in(*last, "Last-Event-ID");
    if (!number) return refused(number.error());
    asked.from = *number + 1;
  }
  auto from = parameter_number(call.request, "from", asked.from);
  if (!from) return refused(from.error());
  asked.from = *from;
  for (const auto& [name, value] : call.request.query) {
    if (name == "raw") asked.raw = value == "true";
    if (name == "environment") asked.filter.environment = value;
    if (name == "object") asked.filter.object = value;
    if (name == "types") {
      auto types = host::event_types_in(value);
      if (!types) return refused(types.error());
      asked.filter.types = *std::move(types);
    }
    if (name != "flow") continue;
    auto flow = Ulid::parse(value);
    if (!flow) return refused(flow.error());
    auto snapshot = read_for(call);
    auto row = snapshot ? (*snapshot)->flow(*flow) : Result<std::optional<store::FlowRow>>(snapshot.error());
    if (!row) return refused(row.error());
    if (!*row) return refused({.code = Code::not_found, .message = "there is no flow " + value});
    asked.filter.flow = value;
    asked.flow = *flow;
  }
  return {.content_type = "text/event-stream",
          .headers = {{"Cache-Control", "no-store"}},
          .feed = events_.follow(std::move(asked))};
}

}  // namespace sluice::api
