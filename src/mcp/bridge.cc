// An answer is one JSON document, or a stream of events that has one in each.
#include "mcp/bridge.h"

#include "base/json.h"
#include "crypto/base64.h"
#include "mcp/server.h"
#include "mcp/words.h"

namespace sluice::mcp {
namespace {

// Takes whole messages out of what has come so far.
class Reader {
 public:
  explicit Reader(std::function<void(const std::string&)> say) : say_(std::move(say)) {}

  void take(std::string_view piece) {
    text_ += piece;
    if (text_.starts_with('{') || text_.starts_with('[')) return;
    for (size_t end = text_.find("\n\n"); end != std::string::npos; end = text_.find("\n\n")) {
      tell(text_.substr(0, end));
      text_.erase(0, end + 2);
    }
  }
  // What is left is the one document that there was.
  bool end() {
    if (!text_.starts_with('{') && !text_.starts_with('[')) return said_;
    while (text_.ends_with('\n')) text_.pop_back();
    say_(text_);
    return true;
  }

 private:
  void tell(const std::string& event) {
    constexpr std::string_view kData = "data: ";
    for (size_t at = 0; at < event.size();) {
      const size_t end = std::min(event.find('\n', at), event.size());
      if (event.compare(at, kData.size(), kData) == 0) {
        say_(event.substr(at + kData.size(), end - at - kData.size()));
        said_ = true;
      }
      at = end + 1;
    }
  }

  std::function<void(const std::string&)> say_;
  std::string text_;
  bool said_ = false;
};

}  // namespace

Bridge::~Bridge() {
  for (auto& each : running_) *each->stop = true;
  reap(true);
}

void Bridge::finish() {
  for (auto& each : running_) {
    if (each->id.empty()) *each->stop = true;
  }
  reap(true);
}

void Bridge::reap(bool all) {
  std::erase_if(running_, [&](auto& each) {
    if (!all && !each->done) return false;
    each->thread.join();
    return true;
  });
}

void Bridge::say(const std::string& line) {
  std::lock_guard lock(say_mutex_);
  parts_.say(line);
}

http::Request Bridge::post(const json::object& message, const std::string& line) const {
  http::Request request{.method = "POST", .target = "/mcp", .body = line};
  request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"}};
  if (!parts_.token.empty()) request.headers.push_back({"Authorization", "Bearer " + parts_.token});
  const std::string method = text_in(message, "method");
  if (auto version = Server::version_in(message)) {
    request.headers.push_back({"MCP-Protocol-Version", *version});
    request.headers.push_back({"Mcp-Method", method});
    const json::object& params = message.at("params").as_object();
    const std::string name = method == "resources/read" ? text_in(params, "uri") : text_in(params, "name");
    const bool plain = std::ranges::all_of(name, [](char c) { return c >= ' ' && c <= '~'; });
    if (!name.empty())
      request.headers.push_back({"Mcp-Name", plain ? name : "=?base64?" + crypto::to_base64(name) + "?="});
  }
  if (!session_.empty() && method != "initialize") request.headers.push_back({"Mcp-Session-Id", session_});
  return request;
}

void Bridge::run(const std::string& id, const std::function<void(const std::shared_ptr<std::atomic<bool>>&)>& work) {
  reap(false);
  auto& running = *running_.emplace_back(std::make_unique<Running>());
  running.id = id;
  running.stop = std::make_shared<std::atomic<bool>>(false);
  running.thread = std::thread([&running, work, stop = running.stop] {
    work(stop);
    running.done = true;
  });
}

void Bridge::send(const json::object& message, const std::string& line,
                  const std::shared_ptr<std::atomic<bool>>& stop) {
  const json::value* id = message.if_contains("id");
  Reader reader([this](const std::string& each) { say(each); });
  auto client = parts_.connect();
  auto answer = client ? (*client)->stream(
                             post(message, line),
                             [&](std::string_view piece) {
                               reader.take(piece);
                               return !*stop;
                             },
                             [&] { return stop->load(); })
                       : Result<http::Answer>(client.error());
  if (*stop) return;
  if (answer && answer->status < 400) {
    const std::string* session = answer->header("Mcp-Session-Id");
    if (session != nullptr && text_in(message, "method") == "initialize") session_ = *session;
    if (reader.end() || id == nullptr) return;
  }
  if (id == nullptr) return;
  // A refusal is a JSON-RPC error already, unless it was one of HTTP.
  if (answer && answer->body.starts_with("{\"jsonrpc\"")) return say(answer->body);
  const std::string why = !answer                ? answer.error().message
                          : answer->body.empty() ? "the server gave no answer"
                                                 : answer->body;
  say(write(Server::refusal(*id, kInternal, why)));
}

void Bridge::follow(const std::shared_ptr<std::atomic<bool>>& stop) {
  auto client = parts_.connect();
  if (!client) return;
  http::Request request{.method = "GET", .target = "/mcp"};
  request.headers = {{"Accept", "text/event-stream"}, {"Mcp-Session-Id", session_}};
  if (!parts_.token.empty()) request.headers.push_back({"Authorization", "Bearer " + parts_.token});
  Reader reader([this](const std::string& each) { say(each); });
  (void)(*client)->stream(
      std::move(request),
      [&](std::string_view piece) {
        reader.take(piece);
        return !*stop;
      },
      [&] { return stop->load(); });
}

void Bridge::take(const std::string& line) {
  if (line.find_first_not_of(" \t\r") == std::string::npos) return;
  auto parsed = parse_json(line, "message");
  if (!parsed) return say(write(Server::refusal({}, kParseError, parsed.error().message)));
  const json::object message = parsed->root.is_object() ? parsed->root.get_object() : json::object();
  const std::string method = text_in(message, "method");
  if (method == "notifications/cancelled") {
    const json::value* params = message.if_contains("params");
    const json::value* id =
        params != nullptr && params->is_object() ? params->get_object().if_contains("requestId") : nullptr;
    for (auto& each : running_) {
      if (id != nullptr && each->id == write(*id)) *each->stop = true;
    }
  }
  const json::value* id = message.if_contains("id");
  // The session that comes of it is needed for what follows.
  if (method == "initialize") return send(message, line, std::make_shared<std::atomic<bool>>(false));
  run(id != nullptr ? write(*id) : " ", [this, message, line](const auto& stop) { send(message, line, stop); });
  if (method == "notifications/initialized" && !session_.empty()) {
    run("", [this](const auto& stop) { follow(stop); });
  }
}

}  // namespace sluice::mcp
