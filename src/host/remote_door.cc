// Waiting is asking again and again, each time for a moment that the server waits: so the person here can end it.
#include "host/remote_door.h"

#include <boost/json.hpp>

#include "engine/caller_words.h"
#include "host/exchange.h"
#include "host/problem.h"
#include "host/row_json.h"
#include "host/wire_words.h"
#include "lang/run/view.h"

namespace sluice::host {
namespace {

// How long the server waits before the person here is asked whether to go on.
constexpr int64_t kPatience_ms = 100;
// How long a call waits for its answer before what it waits for is looked at.
constexpr int64_t kFirstAnswer_ms = 500;

Result<std::vector<std::string>> path_of(const std::string& action) {
  size_t slash = action.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == action.size()) {
    return Error{.code = Code::not_found, .message = "there is no action " + action, .next = "sluice kit show"};
  }
  return std::vector<std::string>{"v1", "actions", action.substr(0, slash), action.substr(slash + 1)};
}

Error unheard(const Call& call, const Error& error) {
  return {.code = Code::timeout,
          .message = "it is not known whether " + call.action + " was done: " + error.message,
          .next = call.key.empty()
                      ? "sluice flow list"
                      : "run it again with --idempotency-key " + call.key + "; what was done is not done twice"};
}

// Whether the caller need not wait any longer.
bool is_enough(const Answer& answer, WaitFor wait) {
  if (answer.trouble || wait == WaitFor::start) return true;
  if (!answer.ended()) {
    // Nothing moves it on but people.
    return !answer.state || (*answer.state != store::FlowStatus::running && answer.waits_for.empty());
  }
  if (wait == WaitFor::answer) return true;
  const bool settled = answer.state && !store::is_open(*answer.state);
  return settled && (wait == WaitFor::settled || answer.follow_ups_pending == 0);
}

}  // namespace

Result<std::unique_ptr<RemoteDoor>> RemoteDoor::open(const std::string& socket, const Clock& clock, RemoteWords words) {
  std::unique_ptr<RemoteDoor> door(new RemoteDoor(socket, clock, std::move(words)));
  auto client = http::Client::to_unix(socket, clock);
  if (!client) return client.error();
  door->client_ = *std::move(client);
  return door;
}

Result<http::Client*> RemoteDoor::connected() {
  if (client_ && client_->is_open()) return client_.get();
  auto client = http::Client::to_unix(socket_, clock_);
  if (!client) {
    return Error{.code = Code::unavailable,
                 .message = "sluice serve does not answer any more: " + client.error().message,
                 .next = "sluice status"};
  }
  client_ = *std::move(client);
  return client_.get();
}

http::Request RemoteDoor::addressed(http::Request request) const {
  if (!words_.kit.empty()) request.headers.push_back({std::string(kKitHeader), words_.kit});
  if (!words_.purpose.empty()) request.headers.push_back({std::string(kPurposeHeader), words_.purpose});
  return request;
}

Result<Reply> RemoteDoor::read(const http::Request& request, int64_t timeout_ms) {
  for (int attempt = 0;; ++attempt) {
    auto client = connected();
    if (!client) return client.error();
    auto reply = exchange(**client, addressed(request), timeout_ms);
    if (reply || reply.error().code != Code::unavailable || attempt > 0) return reply;
  }
}

Result<Answer> RemoteDoor::call(const Call& call, const Waiting& waiting) {
  auto path = path_of(call.action);
  if (!path) return path.error();
  if (auto sound = engine::check_key(call.key); !sound) return sound.error();
  json::object body{{"input", call.input}, {"reason", call.reason}};
  if (call.dry_run) body["dryRun"] = true;
  http::Request message = addressed(
      post(*path, body, {{"wait", std::string(name_of(call.wait))}, {"for_ms", std::to_string(kFirstAnswer_ms)}}));
  if (!call.key.empty()) message.headers.push_back({"Idempotency-Key", call.key});
  if (call.expect_generation) {
    message.headers.push_back({"If-Match", "\"" + std::to_string(*call.expect_generation) + "\""});
  }
  auto client = connected();
  if (!client) return client.error();
  auto reply = exchange(**client, std::move(message), kFirstAnswer_ms + kExchange_ms);
  if (!reply) return unheard(call, reply.error());
  const json::object* object = reply->body.if_object();
  // A refusal that says how the action ended is an answer.
  if (reply->refused() && (object == nullptr || !object->contains("variant"))) return error_in(reply->body);
  auto answer = host::read_answer(reply->body);
  if (!answer) return answer.error();
  if (!answer->flow || is_enough(*answer, call.wait)) return answer;
  return answer_of(*answer->flow, call.wait, waiting);
}

Result<Answer> RemoteDoor::answer_of(const Ulid& flow, WaitFor wait, const Waiting& waiting) {
  while (true) {
    const bool stopping = waiting.stop && waiting.stop();
    auto reply =
        read(get({"v1", "flows", to_string(flow), "answer"},
                 {{"wait", std::string(name_of(wait))}, {"for_ms", std::to_string(stopping ? 0 : kPatience_ms)}}),
             kExchange_ms);
    if (!reply) return reply.error();
    const json::object* object = reply->body.if_object();
    if (reply->refused() && (object == nullptr || !object->contains("variant"))) return error_in(reply->body);
    auto answer = host::read_answer(reply->body);
    if (!answer || stopping || is_enough(*answer, wait)) return answer;
    if (waiting.waits_for) waiting.waits_for(answer->waits_for);
  }
}

Result<ViewAnswer> RemoteDoor::view(const std::string& name, const json::object& query) {
  auto reply = read(get({"v1", "views", name}, lang::texts_of_query(query)), kExchange_ms);
  if (!reply) return reply.error();
  if (reply->refused()) return error_in(reply->body);
  return ViewAnswer{.document = std::move(reply->body), .position = reply->position};
}

Result<uint64_t> RemoteDoor::decide(engine::Decision decision) {
  json::object body{{"decision", name_of(decision.kind)}, {"reason", decision.caller.reason}};
  if (decision.invocation != Ulid()) body["invocation"] = to_string(decision.invocation);
  if (!decision.as.variant.empty()) {
    body["variant"] = decision.as.variant;
    body["fields"] = decision.as.fields;
  }
  auto client = connected();
  if (!client) return client.error();
  const std::string flow = to_string(decision.flow);
  auto reply = exchange(**client, addressed(post({"v1", "flows", flow, "decisions"}, body)));
  if (!reply) {
    return Error{.code = Code::timeout,
                 .message = "it is not known whether this was decided: " + reply.error().message,
                 .next = "sluice flow show " + flow};
  }
  if (reply->refused()) return error_in(reply->body);
  const json::value* position = reply->body.is_object() ? reply->body.get_object().if_contains("position") : nullptr;
  if (position != nullptr && position->is_int64()) return static_cast<uint64_t>(position->get_int64());
  return Error{.message = "the server's answer lacks the position"};
}

Result<void> RemoteDoor::follow(uint64_t from, const std::function<bool(const engine::Step&)>& visit,
                                const std::function<bool()>& stop) {
  uint64_t next = from;
  while (!stop()) {
    auto reply =
        read(get({"v1", "journal"}, {{"from", std::to_string(next)}, {"for_ms", std::to_string(kPatience_ms)}}),
             kExchange_ms);
    if (!reply) return reply.error();
    if (reply->refused()) return error_in(reply->body);
    const json::value* rows = reply->body.is_object() ? reply->body.get_object().if_contains("rows") : nullptr;
    if (rows == nullptr || !rows->is_array()) return Error{.message = "the server's answer lacks the rows"};
    for (const json::value& each : rows->get_array()) {
      store::JournalRow row;
      if (auto known = from_json(each, row); !known) return known;
      auto step = engine::read_step(row.record);
      if (!step) return step.error();
      next = row.seq + 1;
      if (!visit(*step)) return {};
    }
  }
  return {};
}

}  // namespace sluice::host
