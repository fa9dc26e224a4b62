// What HTTP adds to the messages: headers that must agree with them, sessions, and streams.
#include "mcp/endpoint.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "crypto/base64.h"
#include "host/problem.h"
#include "mcp/words.h"

namespace sluice::mcp {
namespace {

constexpr const char* kSession = "Mcp-Session-Id";
constexpr int64_t kAlive_ns = 15'000'000'000;
constexpr int64_t kLookAgain_ms = 300;

http::Response in_json(const json::value& value, int status = 200) { return {.status = status, .body = write(value)}; }

http::Response problem(const Error& error, int status = 0) {
  json::object body = host::problem(error);
  if (status != 0) body["status"] = status;
  return {.status = status != 0 ? status : http_status(error.code),
          .content_type = std::string(host::kProblemType),
          .body = write(body)};
}

std::string header(const http::Request& request, const char* name) {
  const std::string* value = request.header(name);
  return value != nullptr ? *value : "";
}

// "localhost:8400", "127.0.0.1", "[::1]:8400"
bool is_of_this_machine(std::string_view host) {
  if (host.starts_with("[::1]")) return true;
  host = host.substr(0, host.find(':'));
  return host == "localhost" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos);
}

// A page of another origin must not speak for the person whose browser it runs in. What comes in the clear comes from
// this machine: a page of elsewhere whose name leads here has another Host, and is told by that.
bool is_foreign(const http::Request& request) {
  const std::string origin = header(request, "Origin");
  if (origin.empty()) return false;
  const size_t scheme = origin.find("://");
  if (scheme == std::string::npos) return true;
  const std::string host = origin.substr(scheme + 3);
  return host != header(request, "Host") || (!origin.starts_with("https:") && !is_of_this_machine(host));
}

std::string event(const json::object& message) { return "event: message\ndata: " + write(message) + "\n\n"; }

// What a modern request says of itself in its headers must be what it says inside.
std::optional<std::string> mismatch(const http::Request& request, const json::object& message) {
  const auto version = Server::version_in(message);
  if (!version || !message.contains("id")) return std::nullopt;
  if (header(request, "MCP-Protocol-Version") != *version) return "MCP-Protocol-Version is not the request's version";
  if (header(request, "Mcp-Method") != text_in(message, "method")) return "Mcp-Method is not the request's method";
  const std::string method = text_in(message, "method");
  const char* named = method == "tools/call" || method == "prompts/get" ? "name"
                      : method == "resources/read"                      ? "uri"
                                                                        : nullptr;
  const json::value* params = message.if_contains("params");
  if (named == nullptr || params == nullptr || !params->is_object()) return std::nullopt;
  const std::string inside = text_in(params->get_object(), named);
  const std::string outside = header(request, "Mcp-Name");
  const bool plain = std::ranges::all_of(inside, [](char c) { return c >= ' ' && c <= '~'; });
  // Other names are written as =?base64?…?=, which is not compared.
  if (plain && !outside.starts_with("=?base64?") && outside != inside) return "Mcp-Name is not what the request names";
  return std::nullopt;
}

int status_of(const json::object& answer, bool modern) {
  const json::value* error = answer.if_contains("error");
  if (error == nullptr || !modern) return 200;
  const int64_t code = error->at("code").as_int64();
  if (code == kNoMethod) return 404;
  return code == kUnsupportedVersion || code == kInvalidRequest ? 400 : 200;
}

// What somebody follows, as events, until they have left.
class FollowFeed final : public http::Feed {
 public:
  // `over` gives what is said at the end.
  FollowFeed(Following following, std::string said_first, std::function<bool()> is_over,
             std::function<std::string()> over)
      : following_(std::move(following)),
        first_(std::move(said_first)),
        is_over_(std::move(is_over)),
        over_(std::move(over)) {}
  ~FollowFeed() override { (void)over_(); }

  void begin(std::function<void()>) override {}
  int64_t look_ms() const override { return kLookAgain_ms; }
  bool takes_time() const override { return true; }
  bool next(std::string& out) override {
    out += std::exchange(first_, {});
    const bool open = !is_over_() && following_.look([&](const json::object& message) { out += event(message); });
    const int64_t now_ns = clock_.monotonic_ns();
    if (out.empty() && now_ns - said_ns_ > kAlive_ns) out += ": alive\n\n";
    if (!out.empty()) said_ns_ = now_ns;
    if (!open) out += over_();
    return open;
  }

 private:
  RealClock clock_;
  Following following_;
  std::string first_;
  std::function<bool()> is_over_;
  std::function<std::string()> over_;
  int64_t said_ns_ = 0;
};

}  // namespace

Endpoint::Endpoint(std::string version, std::function<std::shared_ptr<const lang::CheckedKit>()> kit,
                   const Clock& clock, const std::atomic<bool>& stopping, Offer offer)
    : stopping_(stopping),
      server_({.version = std::move(version),
               .kit = std::move(kit),
               .clock = clock,
               .random = random_,
               .offer = std::move(offer)}) {}

std::string Endpoint::metadata_url(const http::Request& request, bool tls) {
  return (tls ? "https://" : "http://") + header(request, "Host") + "/.well-known/oauth-protected-resource/mcp";
}

http::Response Endpoint::metadata(const http::Request& request, bool tls) {
  return in_json(json::object{{"resource", (tls ? "https://" : "http://") + header(request, "Host") + "/mcp"},
                              {"resource_name", "Sluice"},
                              {"bearer_methods_supported", {"header"}}});
}

http::Response Endpoint::answer(const http::Request& request, const Who& who) {
  if (is_foreign(request)) {
    return problem(
        {.code = Code::denied, .message = "the Origin " + header(request, "Origin") + " is not this server"});
  }
  const std::string version = header(request, "MCP-Protocol-Version");
  const std::string session = header(request, kSession);
  if (request.method == "POST") return post(request, who);
  if (!version.empty() && !Server::speaks(version)) {
    return problem({.code = Code::invalid, .message = "the protocol version " + version + " is not spoken here"});
  }
  if (request.method == "DELETE") {
    server_.forget_session(who.caller, session);
    return {.status = 204};
  }
  if (session.empty()) {
    http::Response refused = problem({.code = Code::invalid, .message = "only a session can be followed"}, 405);
    refused.headers.push_back({"Allow", "POST"});
    return refused;
  }
  return {.content_type = "text/event-stream",
          .headers = {{"Cache-Control", "no-store"}},
          .feed = std::make_shared<FollowFeed>(
              server_.follow_session(who.caller, session, who.door), "", [left = who.left] { return left(); },
              [] { return std::string(); })};
}

http::Response Endpoint::post(const http::Request& request, const Who& who) {
  if (!header(request, "Content-Type").starts_with("application/json")) {
    return problem({.code = Code::invalid, .message = "the body is JSON, and its Content-Type must say so"}, 415);
  }
  auto parsed = parse_json(request.body, "body");
  if (!parsed) return in_json(Server::refusal({}, kParseError, parsed.error().message), 400);
  const std::string session = header(request, kSession);
  Asked asked{.caller = who.caller,
              .session = session,
              .door = *who.door,
              .tell = [](const json::object&) {},
              .stop = [this] { return stopping_.load(); }};
  // Only the oldest version that is spoken sends several at once.
  if (json::array* batch = parsed->root.if_array()) {
    json::array answers;
    for (const json::value& each : *batch) {
      if (!each.is_object()) {
        answers.push_back(Server::refusal({}, kInvalidRequest, "a message is an object"));
      } else if (auto one = server_.answer(each.get_object(), asked)) {
        answers.push_back(*std::move(one));
      }
    }
    return answers.empty() ? http::Response{.status = 202} : in_json(answers);
  }
  if (!parsed->root.is_object()) return in_json(Server::refusal({}, kInvalidRequest, "a message is an object"), 400);
  const json::object message = std::move(parsed->root.get_object());
  const json::value* given = message.if_contains("id");
  const json::value id = given != nullptr ? *given : json::value();
  const bool modern = Server::version_in(message).has_value();
  const std::string version = header(request, "MCP-Protocol-Version");
  if (auto wrong = mismatch(request, message)) return in_json(Server::refusal(id, kHeaderMismatch, *wrong), 400);
  if (!modern && !version.empty() && !Server::speaks(version)) {
    return in_json(Server::refusal(id, kInvalidRequest, "the protocol version " + version + " is not spoken here"),
                   400);
  }
  if (Server::is_listening(message)) {
    auto listening = server_.listen(message, who.caller, session, who.door);
    auto over = [this, message, caller = who.caller, session, answer = event(listening.answer)] {
      server_.listened(message, caller, session);
      return answer;
    };
    return {.content_type = "text/event-stream",
            .headers = {{"Cache-Control", "no-store"}},
            .feed = std::make_shared<FollowFeed>(
                std::move(listening.following), event(listening.acknowledged),
                [cancelled = listening.cancelled, left = who.left] { return *cancelled || left(); }, over)};
  }
  if (Server::streams(message) && !id.is_null()) {
    return {.content_type = "text/event-stream",
            .headers = {{"Cache-Control", "no-store"}},
            .stream = [this, who, session, modern, message](http::Stream& to) {
              auto answer = server_.answer(
                  message, {.caller = who.caller,
                            .session = session,
                            .door = *who.door,
                            .tell = [&](const json::object& each) { to.write(event(each)); },
                            // A modern client cancels by closing the stream.
                            .stop = [&] { return stopping_ || who.left() || (modern && !to.wanted()); }});
              if (answer) to.write(event(*answer));
            }};
  }
  auto answer = server_.answer(message, asked);
  if (!answer) return {.status = 202};
  http::Response response = in_json(*answer, status_of(*answer, modern));
  if (text_in(message, "method") == "initialize" && !answer->contains("error")) {
    std::array<uint8_t, 18> random;
    random_.fill(random);
    response.headers.push_back(
        {kSession, crypto::to_base64({reinterpret_cast<const char*>(random.data()), random.size()},
                                     crypto::Base64::url_unpadded)});
  }
  return response;
}

}  // namespace sluice::mcp
