// Waiting is asking again and again, each time for a moment that the server waits: so the person here can end it.
#include "host/remote_link.h"

#include <boost/json.hpp>

#include "engine/caller_words.h"
#include "engine/outcome_code.h"
#include "host/exchange.h"
#include "host/flow_rows.h"
#include "host/problem.h"
#include "host/row_json.h"
#include "host/wire_words.h"

namespace sluice::host {
namespace {

constexpr int64_t kLinkLook_ms = 100;
// How long a call waits for its answer before what it waits for is looked at.
constexpr int64_t kQuickAnswer_ms = 500;

const json::value* member(const json::value& body, std::string_view name) {
  return body.is_object() ? body.get_object().if_contains(name) : nullptr;
}

std::string text_of(const json::value& body, std::string_view name) {
  const json::value* value = member(body, name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

Result<uint64_t> number_of(const json::value& body, std::string_view name) {
  const json::value* value = member(body, name);
  if (value != nullptr && value->is_int64()) return static_cast<uint64_t>(value->get_int64());
  return Error{.message = "the server's answer lacks " + std::string(name)};
}

Result<json::object> object_of(const json::value& body) {
  if (body.is_object()) return body.get_object();
  return Error{.message = "the server's answer is no object"};
}

// "Concept/action" as the last two segments of a path.
Result<std::vector<std::string>> action_path(const std::string& action) {
  size_t slash = action.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == action.size()) {
    return Error{.code = Code::not_found, .message = "there is no action " + action, .next = "sluice kit show"};
  }
  return std::vector<std::string>{"v1", "actions", action.substr(0, slash), action.substr(slash + 1)};
}

std::optional<RunningFlow::Ended> ended_of(const json::value& body) {
  const json::value* fields = member(body, "fields");
  const json::value* maybe = member(body, "maybeDone");
  auto position = number_of(body, "position");
  std::string variant = text_of(body, "variant");
  if (variant.empty() || fields == nullptr || !fields->is_object() || !position) return std::nullopt;
  return RunningFlow::Ended{{.variant = variant,
                             .fields = fields->get_object(),
                             .maybe_done = maybe != nullptr && maybe->is_bool() && maybe->get_bool()},
                            *position};
}

}  // namespace

Result<std::unique_ptr<RemoteLink>> RemoteLink::open(const std::string& socket, const Clock& clock,
                                                     const std::string& purpose) {
  std::unique_ptr<RemoteLink> door(new RemoteLink(socket, clock, purpose));
  auto client = http::Client::to_unix(socket, clock);
  if (!client) return client.error();
  door->client_ = *std::move(client);
  return door;
}

Result<http::Client*> RemoteLink::connected() {
  if (!client_ || !client_->is_open()) {
    auto client = http::Client::to_unix(socket_, clock_);
    if (!client) {
      return Error{.code = Code::unavailable,
                   .message = "sluice serve does not answer any more: " + client.error().message,
                   .next = "sluice status"};
    }
    client_ = *std::move(client);
  }
  return client_.get();
}

Result<json::value> RemoteLink::read(const http::Request& request, int64_t timeout_ms) {
  for (int attempt = 0;; ++attempt) {
    auto client = connected();
    if (!client) return client.error();
    auto body = ask(**client, request, timeout_ms);
    if (body || body.error().code != Code::unavailable || (*client)->is_open() || attempt > 0) {
      if (body) take_trouble(*body);
      return body;
    }
  }
}

void RemoteLink::take_trouble(const json::value& body) {
  const json::value* trouble = member(body, "trouble");
  if (trouble != nullptr && trouble->is_object()) {
    trouble_ = error_in(*trouble);
  } else {
    trouble_.reset();
  }
}

Result<json::object> RemoteLink::status() {
  auto body = read(get({"v1", "status"}), kExchange_ms);
  if (!body) return body.error();
  return object_of(*body);
}

Result<json::object> RemoteLink::stop(const std::string& reason) {
  auto client = connected();
  if (!client) return client.error();
  auto body = ask(**client, post({"v1", "stop"}, json::object{{"reason", reason}}));
  if (!body) return body.error();
  return object_of(*body);
}

Result<Started> RemoteLink::start(engine::Request request) {
  auto path = action_path(request.action);
  if (!path) return path.error();
  if (auto sound = engine::check_key(request.key); !sound) return sound.error();
  http::Request message = post(*path, json::object{{"input", request.input}, {"reason", request.caller.reason}},
                               {{"wait", "answer"}, {"for_ms", std::to_string(kQuickAnswer_ms)}});
  if (!request.key.empty()) message.headers.push_back({"Idempotency-Key", request.key});
  if (request.expect_generation) {
    message.headers.push_back({"If-Match", "\"" + std::to_string(*request.expect_generation) + "\""});
  }
  auto client = connected();
  if (!client) return client.error();
  auto reply = exchange(**client, std::move(message), kQuickAnswer_ms + kExchange_ms);
  if (!reply) {
    return Error{.code = Code::timeout,
                 .message = "it is not known whether " + request.action + " was done: " + reply.error().message,
                 .next = request.key.empty() ? "sluice flow list"
                                             : "run it again with --idempotency-key " + request.key +
                                                   "; what was done is not done twice"};
  }
  auto flow = Ulid::parse(text_of(reply->body, "flow"));
  if (!flow) return reply->refused() ? error_in(reply->body) : Error{.message = "the server's answer lacks the flow"};
  take_trouble(reply->body);
  return Started{.flow = *flow, .ended = ended_of(reply->body)};
}

Result<lang::Completion> RemoteLink::query(const std::string& action, const json::object& input,
                                           const engine::Caller& caller) {
  auto path = action_path(action);
  if (!path) return path.error();
  http::Request message = post(*path, json::object{{"input", input}, {"reason", caller.reason}});
  for (int attempt = 0;; ++attempt) {
    auto client = connected();
    if (!client) return client.error();
    auto reply = exchange(**client, message);
    if (!reply && reply.error().code == Code::unavailable && attempt == 0) continue;
    if (!reply) return reply.error();
    const json::value* fields = member(reply->body, "fields");
    std::string variant = text_of(reply->body, "variant");
    if (variant.empty() || fields == nullptr || !fields->is_object()) return error_in(reply->body);
    return lang::Completion{variant, fields->get_object()};
  }
}

Result<uint64_t> RemoteLink::decide(engine::Decision decision) {
  json::object body{{"decision", name_of(decision.kind)}, {"reason", decision.caller.reason}};
  if (decision.invocation != Ulid()) body["invocation"] = to_string(decision.invocation);
  if (!decision.as.variant.empty()) {
    body["variant"] = decision.as.variant;
    body["fields"] = decision.as.fields;
  }
  auto client = connected();
  if (!client) return client.error();
  std::string flow = to_string(decision.flow);
  auto reply = exchange(**client, post({"v1", "flows", flow, "decisions"}, body));
  if (!reply) {
    return Error{.code = Code::timeout,
                 .message = "it is not known whether this was decided: " + reply.error().message,
                 .next = "sluice flow show " + flow};
  }
  if (reply->refused()) return error_in(reply->body);
  return number_of(reply->body, "position");
}

Result<Code> RemoteLink::code_of(const std::string& action, const std::string& variant) {
  // The engine's own outcomes are the same everywhere.
  if (variant.starts_with("engine.")) return engine::code_of(lang::ActionSymbol(), variant);
  auto path = action_path(action);
  if (!path) return path.error();
  auto body = read(get(*path), kExchange_ms);
  if (!body) return body.error();
  const json::value* variants = member(*body, "variants");
  auto code = variants == nullptr ? std::nullopt : code_named(text_of(*variants, variant));
  return code.value_or(Code::failed);
}

Result<store::FlowStatus> RemoteLink::wait(const Ulid& flow, engine::Engine::Until until,
                                           const std::function<bool()>& stop) {
  bool stopping = false;
  while (true) {
    http::Query query = {{"until", std::string(name_of(until))},
                         {"for_ms", std::to_string(stopping ? 0 : kLinkLook_ms)}};
    auto body = read(get({"v1", "flows", to_string(flow)}, query), kExchange_ms);
    if (!body) return body.error();
    auto status = state_named(text_of(*body, "state"));
    const json::value* done = member(*body, "done");
    if (!status || done == nullptr || !done->is_bool()) return Error{.message = "the server's answer lacks the state"};
    if (done->get_bool() || stopping) return *status;
    stopping = stop && stop();
  }
}

Result<void> RemoteLink::watch(uint64_t from, const store::Visit<store::JournalRow>& visit,
                               const std::function<bool()>& stop) {
  uint64_t next = from;
  while (!stop()) {
    http::Query query = {{"from", std::to_string(next)}, {"for_ms", std::to_string(kLinkLook_ms)}};
    auto body = read(get({"v1", "journal"}, query), kExchange_ms);
    if (!body) return body.error();
    const json::value* rows = member(*body, "rows");
    if (rows == nullptr || !rows->is_array()) return Error{.message = "the server's answer lacks the rows"};
    for (const json::value& each : rows->get_array()) {
      store::JournalRow row;
      if (auto known = from_json(each, row); !known) return known;
      next = row.seq + 1;
      if (!visit(row)) return {};
    }
  }
  return {};
}

uint64_t RemoteLink::wait_for(uint64_t position, int64_t at_most_ms) {
  http::Query query = {{"at_least", std::to_string(position)}, {"for_ms", std::to_string(at_most_ms)}};
  auto body = read(get({"v1", "position"}, query), at_most_ms + kExchange_ms);
  auto reached = body ? number_of(*body, "position") : Result<uint64_t>(body.error());
  if (reached) {
    position_ = *reached;
  } else {
    trouble_ = reached.error();
  }
  return position_;
}

}  // namespace sluice::host
