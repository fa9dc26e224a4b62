// One table of routes, one function each.
#include "api/service.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <map>

#include "base/json.h"
#include "engine/outcome_code.h"
#include "host/caller.h"
#include "host/engine_link.h"
#include "host/flow_rows.h"
#include "host/moment.h"
#include "host/problem.h"
#include "host/row_json.h"
#include "host/wire_words.h"

namespace sluice::api {
namespace {

constexpr int64_t kAnswerPatience_ms = 30'000;
constexpr int64_t kLongestPatience_ms = 600'000;
constexpr int64_t kKeepAlive_ns = 15'000'000'000;

http::Response in_json(const json::value& value, int status = 200) { return {.status = status, .body = write(value)}; }

http::Response in_json(const Result<json::value>& value, int status = 200);

http::Response refused(const Error& error, json::object more = {}) {
  json::object object = host::problem(error);
  for (auto& member : more) object[member.key()] = std::move(member.value());
  return {.status = http_status(error.code), .content_type = std::string(host::kProblemType), .body = write(object)};
}

http::Response in_json(const Result<json::value>& value, int status) {
  return value ? in_json(*value, status) : refused(value.error());
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

// The body as an object in which only these members may stand; empty if there is none.
Result<json::object> body_of(const http::Request& request, std::initializer_list<std::string_view> members) {
  if (request.body.empty()) return json::object();
  const std::string* type = request.header("Content-Type");
  if (type == nullptr || !(*type == "application/json" || type->starts_with("application/json;"))) {
    return Error{.code = Code::invalid, .message = "the body is JSON, and its Content-Type must say so"};
  }
  auto parsed = parse_json(request.body, "body");
  if (!parsed) return parsed.error();
  if (!parsed->root.is_object()) return Error{.code = Code::invalid, .message = "the body is a JSON object"};
  for (const auto& member : parsed->root.get_object()) {
    if (std::ranges::find(members, std::string_view(member.key())) != members.end()) continue;
    return Error{.code = Code::invalid,
                 .message = "the body has no member " + std::string(member.key()),
                 .path = "/" + std::string(member.key())};
  }
  return std::move(parsed->root.get_object());
}

Result<std::string> text_member(const json::object& body, std::string_view name) {
  const json::value* value = body.if_contains(name);
  if (value == nullptr) return std::string();
  if (value->is_string()) return std::string(value->get_string());
  return Error{.code = Code::invalid, .message = std::string(name) + " is a text", .path = "/" + std::string(name)};
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

Result<host::WaitFor> wait_of(const http::Request& request) {
  const std::string* given = request.parameter("wait");
  if (given == nullptr) return host::WaitFor::answer;
  if (auto wait = host::wait_named(*given)) return *wait;
  return Error{.code = Code::invalid, .message = "wait is start, answer, settled or all"};
}

}  // namespace

// A request, the caller that it came from, and what stood in the place of the route's asterisks.
struct Service::Call {
  const http::Request& request;
  const http::Peer& peer;
  engine::Caller caller;
  std::vector<std::string> parts;
};

struct Service::Route {
  std::string_view method;
  std::vector<std::string_view> path;  // "*" is anything
  http::Response (Service::*answer)(const Call&);

  std::optional<std::vector<std::string>> match(const std::vector<std::string>& asked) const {
    if (asked.size() != path.size()) return std::nullopt;
    std::vector<std::string> parts;
    for (size_t i = 0; i < path.size(); ++i) {
      if (path[i] == "*") {
        parts.push_back(asked[i]);
      } else if (path[i] != asked[i]) {
        return std::nullopt;
      }
    }
    return parts;
  }
};

const std::vector<Service::Route>& Service::routes() {
  static const std::vector<Route> kRoutes = {
      {"GET", {"v1", "status"}, &Service::status},
      {"POST", {"v1", "stop"}, &Service::stop},
      {"POST", {"v1", "actions", "*", "*"}, &Service::act},
      {"GET", {"v1", "actions", "*", "*"}, &Service::describe},
      {"GET", {"v1", "views"}, &Service::views},
      {"GET", {"v1", "views", "*"}, &Service::view},
      {"GET", {"v1", "views", "*", "schema"}, &Service::view_schema},
      {"GET", {"v1", "flows"}, &Service::flows},
      {"GET", {"v1", "flows", "*"}, &Service::flow},
      {"GET", {"v1", "flows", "*", "steps"}, &Service::steps},
      {"GET", {"v1", "flows", "*", "answer"}, &Service::answer_of},
      {"POST", {"v1", "flows", "*", "decisions"}, &Service::decide},
      {"GET", {"v1", "state", "*"}, &Service::state},
      {"GET", {"v1", "position"}, &Service::position},
      {"GET", {"v1", "journal"}, &Service::journal},
      {"GET", {"v1", "events"}, &Service::events},
      {"POST", {"v1", "snapshots"}, &Service::open_snapshot},
      {"GET", {"v1", "snapshots", "*", "*"}, &Service::read_snapshot},
      {"DELETE", {"v1", "snapshots", "*"}, &Service::close_snapshot},
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

http::Response Service::answer(const http::Request& request, const http::Peer& peer) {
  if (request.method == "GET" && request.path == std::vector<std::string>{"healthz"}) return health();
  std::string allowed;
  for (const Route& route : routes()) {
    auto parts = route.match(request.path);
    if (!parts) continue;
    if (route.method != request.method) {
      allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
      continue;
    }
    if (!peer.credentials) {
      return refused({.code = Code::unauthenticated, .message = "it is not known who calls"});
    }
    Call call{.request = request,
              .peer = peer,
              .caller = {.name = host::caller_behind(*parts_.disk, *peer.credentials)},
              .parts = *std::move(parts)};
    // Who may call an action, the engine itself decides, and writes down.
    if (route.answer != &Service::act && call.caller.name != parts_.owner) {
      return refused(parts_.engine->deny(call.caller, denied_thing(route, request)));
    }
    if (auto other = other_kit(request)) return refused(*other);
    return (this->*route.answer)(call);
  }
  if (allowed.empty()) {
    return refused({.code = Code::not_found, .message = "there is nothing at " + request.target});
  }
  http::Response response =
      refused({.code = Code::invalid, .message = request.target + " takes " + allowed + ", not " + request.method});
  response.status = 405;
  response.headers.push_back({"Allow", allowed});
  return response;
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

// --------------------------------------------------------------------------------------------------------- actions

host::EngineDoor Service::door_for(const Call& call) {
  return host::EngineDoor({.engine = parts_.engine,
                           .store = parts_.store,
                           .blobs = parts_.blobs,
                           .concepts = parts_.concepts,
                           .clock = parts_.clock,
                           .kit = parts_.kit()},
                          call.caller.name);
}

http::Response Service::act(const Call& call) {
  std::string name = call.parts[0] + "/" + call.parts[1];
  auto body = body_of(call.request, {"input", "reason", "dryRun"});
  if (!body) return refused(body.error());
  auto input = object_member(*body, "input");
  if (!input) return refused(input.error());
  auto reason = text_member(*body, "reason");
  if (!reason) return refused(reason.error());
  auto wait = wait_of(call.request);
  if (!wait) return refused(wait.error());
  auto generation = expected_generation(call.request);
  if (!generation) return refused(generation.error());
  const json::value* dry = body->if_contains("dryRun");
  const std::string* key = call.request.header("Idempotency-Key");
  const int64_t began_ns = parts_.clock->monotonic_ns();
  auto answer = door_for(call).call({.action = name,
                                     .input = *std::move(input),
                                     .reason = *reason,
                                     .key = key != nullptr ? *key : "",
                                     .expect_generation = *generation,
                                     .wait = *wait,
                                     .dry_run = dry != nullptr && *dry == json::value(true)},
                                    {.stop = until(call, kAnswerPatience_ms)});
  if (!answer) {
    log(call.caller.name + " " + name + " was refused: " + answer.error().message);
    return refused(answer.error());
  }
  if (answer->flow && answer->ended()) {
    const int64_t took_us = (parts_.clock->monotonic_ns() - began_ns) / 1000;
    log(call.caller.name + " " + name + " => " + answer->variant + " in " + std::to_string(took_us / 1000) + "." +
        std::to_string(took_us % 1000 / 100) + " ms, flow " + to_string(*answer->flow));
  } else if (*wait == host::WaitFor::answer && answer->flow) {
    log(call.caller.name + " " + name + " goes on as flow " + to_string(*answer->flow));
  }
  return answered(call, *answer);
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

http::Response Service::answered(const Call&, const host::Answer& answer) {
  json::object shown = host::to_json(answer);
  if (!answer.ended()) return in_json(shown, 202);
  if (answer.code == Code::ok) return in_json(shown);
  const std::string message = answer.text("message");
  return refused({.code = answer.code,
                  .message = message.empty() ? answer.action + " ended in " + answer.variant : message,
                  .next = answer.flow && answer.next.empty() ? "sluice flow trace " + to_string(*answer.flow) : ""},
                 std::move(shown));
}

http::Response Service::describe(const Call& call) {
  std::string name = call.parts[0] + "/" + call.parts[1];
  auto kit = parts_.kit();
  const lang::ActionSymbol* action = host::find_action(kit->symbols(), name);
  if (action == nullptr) {
    return refused({.code = Code::not_found, .message = "there is no action " + name, .next = "sluice kit show"});
  }
  json::object variants;
  for (const lang::VariantSymbol& each : action->variants) {
    variants[each.name] = code_name(engine::code_of(*action, each.name));
  }
  return in_json(
      json::object{{"action", name}, {"query", action->runs == lang::Runs::query}, {"variants", std::move(variants)}});
}

// ----------------------------------------------------------------------------------------------------------- views

http::Response Service::views(const Call&) {
  json::array all;
  for (const host::HostView& each : host::all_views()) {
    all.push_back(json::object{{"name", each.name}, {"summary", each.summary}});
  }
  return in_json(json::object{{"views", std::move(all)}});
}

http::Response Service::view(const Call& call) {
  auto view = host::find_view(call.parts[0]);
  if (!view) return refused(view.error());
  std::vector<std::pair<std::string, std::string>> given;
  for (const auto& [name, value] : call.request.query) {
    if (name != "for" && name != "kit") given.emplace_back(name, value);
  }
  auto query = lang::query_of_texts(**view, given);
  if (!query) return refused(query.error());
  auto answer = door_for(call).view(call.parts[0], *query);
  if (!answer) return refused(answer.error());
  const std::string tag = "\"" + std::to_string(answer->position) + "\"";
  const std::string* known = call.request.header("If-None-Match");
  http::Response response =
      known != nullptr && *known == tag ? http::Response{.status = 304} : in_json(answer->document);
  response.headers.push_back({"ETag", tag});
  return response;
}

http::Response Service::view_schema(const Call& call) {
  auto view = host::find_view(call.parts[0]);
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
  auto state = parts_.engine->wait(*id, far, [&] {
    done = !late() && !parts_.engine->trouble();
    return !done;
  });
  if (!state) return refused(state.error());
  auto snapshot = parts_.store->read();
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
  bool failed_only = call.request.parameter("failed") != nullptr;
  auto snapshot = parts_.store->read();
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
  auto snapshot = parts_.store->read();
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
  engine::Decision decision{
      .flow = *flow, .as = {*variant, *fields}, .caller = {.name = call.caller.name, .reason = *reason}};
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
  auto position = parts_.engine->decide(std::move(decision));
  log(call.caller.name + " " + *kind + " of flow " + to_string(*flow) +
      (position ? "" : " was refused: " + position.error().message));
  if (!position) return refused(position.error());
  return in_json(json::object{{"flow", to_string(*flow)}, {"position", *position}});
}

// ----------------------------------------------------------------------------------------------------------- reads

http::Response Service::state(const Call& call) {
  auto skip = parameter_number(call.request, "skip", 0);
  if (!skip) return refused(skip.error());
  const std::string* prefix = call.request.parameter("prefix");
  auto snapshot = parts_.store->read();
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
  uint64_t position = parts_.engine->position();
  while (position < *at_least && !stop()) position = parts_.engine->wait_for(*at_least, 100);
  json::object shown{{"position", position}};
  if (auto trouble = parts_.engine->trouble()) shown["trouble"] = host::problem(*trouble);
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
  auto watched = parts_.engine->watch(
      *from,
      [&](const store::JournalRow& row) {
        rows.push_back(host::to_json(row));
        bytes += row.record.size();
        return rows.size() < host::kPageRows && bytes < host::kPageBytes;
      },
      stop);
  if (!watched) return refused(watched.error());
  json::object shown{{"rows", std::move(rows)}};
  if (auto trouble = parts_.engine->trouble()) shown["trouble"] = host::problem(*trouble);
  return in_json(shown);
}

// Server-sent events: one a record, whose id is its position.
http::Response Service::events(const Call& call) {
  uint64_t next = parts_.engine->position() + 1;
  if (const std::string* last = call.request.header("Last-Event-ID")) {
    auto number = number_in(*last, "Last-Event-ID");
    if (!number) return refused(number.error());
    next = *number + 1;
  }
  auto from = parameter_number(call.request, "from", next);
  if (!from) return refused(from.error());
  return {.content_type = "text/event-stream",
          .headers = {{"Cache-Control", "no-store"}},
          .stream = [this, from = *from](http::Stream& to) { stream_events(from, to); }};
}

// Records are written between reads: a slow reader holds no snapshot of the store.
void Service::stream_events(uint64_t from, http::Stream& to) {
  constexpr size_t kAtOnce = 256;
  int64_t said_ns = parts_.clock->monotonic_ns();
  bool wanted = to.write(": from " + std::to_string(from) + "\n\n");
  std::string events;
  while (wanted && !stopping_) {
    events.clear();
    size_t count = 0;
    auto watched = parts_.engine->watch(
        from,
        [&](const store::JournalRow& row) {
          events += "id: " + std::to_string(row.seq) + "\nevent: step\ndata: " + row.record + "\n\n";
          from = row.seq + 1;
          return ++count < kAtOnce;
        },
        [&] {
          bool silent = parts_.clock->monotonic_ns() - said_ns > kKeepAlive_ns;
          return count > 0 || silent || stopping_ || !to.wanted();
        });
    if (!watched) {
      to.write("event: problem\ndata: " + write(host::problem(watched.error())) + "\n\n");
      return;
    }
    if (events.empty() && parts_.clock->monotonic_ns() - said_ns > kKeepAlive_ns) events = ": alive\n\n";
    if (!events.empty()) said_ns = parts_.clock->monotonic_ns();
    wanted = events.empty() ? to.wanted() : to.write(events);
    if (events.empty() && wanted && !stopping_) return;  // the engine ends
  }
}

// ------------------------------------------------------------------------------------------------------- snapshots

http::Response Service::open_snapshot(const Call& call) { return in_json(snapshots_.open(call.peer.connection), 201); }

http::Response Service::read_snapshot(const Call& call) {
  auto number = number_in(call.parts[0], "a snapshot's number");
  if (!number) return refused(number.error());
  return in_json(snapshots_.read(*number, call.peer.connection, call.parts[1], call.request));
}

http::Response Service::close_snapshot(const Call& call) {
  auto number = number_in(call.parts[0], "a snapshot's number");
  if (!number) return refused(number.error());
  snapshots_.close(*number, call.peer.connection);
  return {.status = 204};
}

}  // namespace sluice::api
