// Waiting is asking again and again, each time for a moment that the server waits: so the person here can end it.
#include "host/remote_door.h"

#include <sys/socket.h>

#include <boost/json.hpp>
#include <thread>

#include "base/json.h"
#include "base/json_reader.h"
#include "crypto/sha256.h"
#include "engine/caller_words.h"
#include "host/attachment.h"
#include "host/exchange.h"
#include "host/flow_rows.h"
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
// What is asked of a view stands in the URL unless that gets longer than this.
constexpr size_t kLongestTarget = 4096;

Result<std::vector<std::string>> path_of(const std::string& action) {
  size_t slash = action.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == action.size()) {
    return Error{.code = Code::not_found, .message = "there is no action " + action, .next = "sluice kit show"};
  }
  return std::vector<std::string>{"v1", "actions", action.substr(0, slash), action.substr(slash + 1)};
}

Result<json::object> object_of(const json::value& body) {
  if (body.is_object()) return body.get_object();
  return Error{.message = "the server's answer is no object"};
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
  // A call that people must agree to first is not done until they do.
  if (wait == WaitFor::answer || answer.code == Code::waiting_for_approval) return true;
  // What stands still goes on only if people decide so.
  const bool settled = answer.state && (!store::is_open(*answer.state) || *answer.state == store::FlowStatus::stuck);
  return settled && (wait == WaitFor::settled || answer.follow_ups_moving == 0);
}

}  // namespace

Result<std::unique_ptr<RemoteDoor>> RemoteDoor::open(const std::string& socket, const Clock& clock, RemoteWords words) {
  std::unique_ptr<RemoteDoor> door(new RemoteDoor(socket, clock, std::move(words)));
  auto client = door->connect();
  if (!client) return client.error();
  door->client_ = *std::move(client);
  return door;
}

Result<std::unique_ptr<RemoteDoor>> RemoteDoor::open(const ServerContext& server, const Clock& clock,
                                                     RemoteWords words) {
  std::unique_ptr<RemoteDoor> door(new RemoteDoor("", clock, std::move(words)));
  door->server_ = server;
  auto client = door->connect();
  if (!client && client.error().code == Code::verification_failed) {
    return Error{.code = Code::verification_failed,
                 .message = server.url + ": " + client.error().message + "; nothing was sent",
                 .next = "if the server has a new authority: sluice login " + server.url + " again"};
  }
  if (!client) {
    return Error{.code = Code::unavailable,
                 .message = "nobody answers at " + server.url + ": " + client.error().message,
                 .next = "sluice context use local leads commands to this machine again"};
  }
  door->client_ = *std::move(client);
  return door;
}

Result<std::unique_ptr<http::Client>> connect_to(const ServerContext& server, const Clock& clock) {
  auto where = address_in(server.url);
  if (!where) return where.error();
  if (!where->tls) return http::Client::to_tcp(where->address, where->port, clock);
  return http::Client::to_tls(where->address, where->port, {.host = where->address, .roots_pem = server.ca}, clock);
}

Result<std::unique_ptr<http::Client>> RemoteDoor::connect() const {
  return server_ ? connect_to(*server_, clock_) : http::Client::to_unix(socket_, clock_);
}

Result<http::Client*> RemoteDoor::connected() {
  if (client_ && client_->is_open()) return client_.get();
  auto client = connect();
  if (!client) {
    return Error{.code = Code::unavailable,
                 .message = "sluice serve does not answer any more: " + client.error().message,
                 .next = "sluice status"};
  }
  client_ = *std::move(client);
  return client_.get();
}

http::Request RemoteDoor::addressed(http::Request request) const {
  if (server_) request.headers.push_back({"Authorization", "Bearer " + server_->token});
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

Result<json::object> RemoteDoor::status() {
  auto reply = read(get({"v1", "status"}), kExchange_ms);
  if (!reply) return reply.error();
  if (reply->refused()) return error_in(reply->body);
  return object_of(reply->body);
}

Result<json::object> RemoteDoor::told(http::Request request) {
  auto client = connected();
  if (!client) return client.error();
  auto reply = exchange(**client, addressed(std::move(request)));
  if (!reply) return reply.error();
  if (reply->refused()) return error_in(reply->body);
  return object_of(reply->body);
}

Result<json::object> RemoteDoor::login_code() { return told(post({"v1", "login", "codes"}, json::object())); }

Result<json::object> RemoteDoor::join_token() { return told(post({"v1", "replicas", "tokens"}, json::object())); }

Result<json::object> RemoteDoor::router_token(const std::string& environment) {
  return told(post({"v1", "routers", "tokens"}, json::object{{"environment", environment}}));
}

Result<json::object> RemoteDoor::remove_router(const std::string& name) {
  return told({.method = "DELETE", .target = http::target_of({"v1", "routers", name})});
}

Result<json::object> RemoteDoor::stop(const std::string& reason) {
  auto client = connected();
  if (!client) return client.error();
  auto reply = exchange(**client, addressed(post({"v1", "stop"}, json::object{{"reason", reason}})));
  if (!reply) return reply.error();
  if (reply->refused()) return error_in(reply->body);
  return object_of(reply->body);
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
  if (answer->flow && waiting.began) waiting.began(*answer->flow);
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
  http::Request request = get({"v1", "views", name}, lang::texts_of_query(query));
  if (request.target.size() > kLongestTarget) request = post({"v1", "views", name}, query);
  auto reply = read(request, kExchange_ms);
  if (!reply) return reply.error();
  if (reply->refused()) return error_in(reply->body);
  return ViewAnswer{.document = std::move(reply->body), .position = reply->position};
}

Result<Decided> RemoteDoor::decide(engine::Decision decision, const Waiting&) {
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
  auto decided = sluice::read<DecidedDocument>(reply->body);
  if (!decided) return decided.error();
  Decided done{.position = decided->position, .state = state_named(decided->state).value_or(Decided().state)};
  if (decided->trouble) done.trouble = error_in(*decided->trouble);
  return done;
}

Result<std::string> RemoteDoor::put(File& file, const std::string& reason) {
  auto digest = crypto::sha256(file);
  if (!digest) return digest.error();
  http::Query query;
  if (!reason.empty()) query.emplace_back("reason", reason);
  const http::Request request =
      addressed({.method = "PUT",
                 .target = http::target_of({"v1", "blobs", crypto::to_string(*digest)}, query),
                 .headers = {{"Content-Type", "application/octet-stream"}}});
  for (int attempt = 0;; ++attempt) {
    auto client = connected();
    if (!client) return client.error();
    auto reply = reply_in((*client)->send(request, file, kExchange_ms));
    if (!reply && reply.error().code == Code::unavailable && attempt == 0) continue;
    if (!reply) return reply.error();
    if (reply->refused()) return error_in(reply->body);
    return crypto::to_string(*digest);
  }
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

Result<void> RemoteDoor::read_logs(const LogAsk& ask, const VisitLine& visit, const std::function<bool()>& stop) {
  http::Query query{{"since", ask.since},
                    {"follow", ask.follow ? "true" : "false"},
                    {"all", ask.all ? "true" : "false"},
                    {"customer", ask.customer}};
  for (const std::string& each : ask.names) query.emplace_back("name", each);
  auto client = connected();
  if (!client) return client.error();
  std::string pending;
  std::optional<Error> unreadable;
  // A line is a document.
  auto take = [&](std::string_view bytes) {
    pending += bytes;
    for (size_t end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
      auto parsed = parse_json(pending.substr(0, end));
      auto line = parsed ? sluice::read<SaidLine>(*parsed) : Result<SaidLine>(parsed.error());
      pending.erase(0, end + 1);
      if (!line) unreadable = line.error();
      if (!line || !visit(*line)) return false;
    }
    return true;
  };
  auto answer = (*client)->stream(addressed(get({"v1", "logs"}, query)), take, stop);
  if (!answer) return answer.error();
  if (unreadable) return *unreadable;
  if (answer->status < 400) return {};
  auto problem = parse_json(answer->body);
  return problem ? error_in(problem->root) : problem.error();
}

Result<int> RemoteDoor::exec(const ExecAsk& ask, const ExecEnds& ends) {
  json::object body{{"name", ask.name},
                    {"customer", ask.customer},
                    {"command", json::array(ask.command.begin(), ask.command.end())},
                    {"reason", ask.reason}};
  if (auto size = terminal_at(ends)) body["terminal"] = {{"rows", size->rows}, {"columns", size->columns}};
  auto client = connected();
  if (!client) return client.error();
  http::Request request = addressed(post({"v1", "exec"}, body));
  auto answer = (*client)->switch_to(std::string(kExecProtocol), std::move(request), kExchange_ms);
  if (!answer) return answer.error();
  if (answer->wire && answer->wire->is_tls()) {
    auto pair = http::socket_pair();
    if (!pair) return pair.error();
    std::thread passing([&] {
      answer->wire->join(pair->second);
      ::shutdown(pair->second.fd(), SHUT_RDWR);
    });
    auto code = attach(pair->first.fd(), std::move(answer->input), ends);
    ::shutdown(pair->first.fd(), SHUT_RDWR);
    passing.join();
    return code;
  }
  if (answer->wire) return attach(answer->wire->socket().fd(), std::move(answer->input), ends);
  auto problem = parse_json(answer->refusal.body);
  return problem ? error_in(problem->root) : problem.error();
}

}  // namespace sluice::host
