// Server answers the Model Context Protocol: JSON-RPC messages in, messages out, for any number of clients at once
// (docs/internals/mcp.md). Two eras are spoken. Since 2026-07-28 every request says its version in its `_meta`, and
// nothing is kept between requests. Before that a client begins with `initialize`, and may name its session, by which
// what it cancels and follows is found.
//
//   Server server({.version = "0.1.0", .kit = …, .clock = clock, .random = random});
//   auto answer = server.answer(message, {.caller = "user:ann", .door = door, …});
#pragma once

#include <array>
#include <atomic>
#include <boost/json.hpp>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "mcp/previews.h"
#include "mcp/tools.h"

namespace sluice::mcp {

inline constexpr std::string_view kModernVersion = "2026-07-28";
// Those of the handshake, the newest first.
inline constexpr std::array<std::string_view, 4> kHandshakeVersions = {"2025-11-25", "2025-06-18", "2025-03-26",
                                                                       "2024-11-05"};
inline constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";

// What a server offers to its clients.
struct Offer {
  const std::vector<Tool>* tools = nullptr;  // null: all that Sluice has, with resources and prompts
  std::string name = "sluice";
  std::string title = "Sluice";
  std::string instructions = {};  // with tools of its own
};

struct ServerParts {
  std::string version;  // of the program
  std::function<std::shared_ptr<const lang::CheckedKit>()> kit;
  const Clock& clock;
  Random& random;
  Offer offer = {};
};

// One message's way: who sent it, and how to answer before its end.
struct Asked {
  std::string caller;
  std::string session;  // as the client calls it; empty: it has none
  host::Door& door;
  std::function<void(const json::object&)> tell;  // a notification on the way to the answer
  std::function<bool()> stop;                     // whether nobody waits any more
};

// Documents that somebody follows: each look tells of those that are no longer what they were.
class Following {
 public:
  // With the id of the request that asked for it, if one did.
  Following(std::shared_ptr<host::Door> door, std::function<std::set<std::string>()> wanted, json::value id)
      : door_(std::move(door)), wanted_(std::move(wanted)), id_(std::move(id)) {}

  // Reads them again if anything was committed since. False: the door is closed.
  bool look(const std::function<void(const json::object&)>& tell);

 private:
  std::shared_ptr<host::Door> door_;
  std::function<std::set<std::string>()> wanted_;
  json::value id_;
  std::map<std::string, std::string> known_;  // digests
  std::optional<uint64_t> seen_;
};

class Server {
 public:
  explicit Server(ServerParts parts) : parts_(std::move(parts)), previews_(parts_.clock, parts_.random) {}

  // The answer of a request; nothing of a notification.
  std::optional<json::object> answer(const json::object& message, const Asked& asked);
  // Changes of what this session has subscribed to.
  Following follow_session(const std::string& caller, const std::string& session, std::shared_ptr<host::Door> door);
  // Changes of what a request `subscriptions/listen` names, until the client cancels it.
  struct Listening {
    json::object acknowledged;  // to be told at once
    Following following;
    std::shared_ptr<std::atomic<bool>> cancelled;
    json::object answer;  // when it is cancelled
  };
  static bool is_listening(const json::object& message);
  Listening listen(const json::object& message, const std::string& caller, const std::string& session,
                   std::shared_ptr<host::Door> door);
  void listened(const json::object& message, const std::string& caller, const std::string& session);
  void forget_session(const std::string& caller, const std::string& session);

  // The version that a request says in its `_meta`; none: it is of the handshake's era.
  static std::optional<std::string> version_in(const json::object& message);
  static bool speaks(std::string_view version);
  static json::object refusal(const json::value& id, int code, const std::string& message, json::value data = {});
  // Whether its answer is a stream: progress was asked for.
  static bool streams(const json::object& message);

 private:
  using Key = std::pair<std::string, std::string>;  // caller and session
  struct Refused {
    int code = 0;
    std::string message;
    json::value data = {};
  };
  using Outcome = std::variant<json::object, Refused>;
  Outcome outcome_of(const std::string& method, const json::object& params, const json::value& id, const Asked& asked);
  Outcome call_tool(const json::object& params, const json::value& id, const Asked& asked);
  Outcome read(const json::object& params, const Asked& asked) const;
  json::object about() const;
  json::object capabilities() const;
  std::string instructions() const;
  const std::vector<Tool>& tools() const;
  void cancel(const json::object& params, const Asked& asked);

  ServerParts parts_;
  Previews previews_;
  std::mutex mutex_;
  std::map<std::pair<Key, std::string>, std::shared_ptr<std::atomic<bool>>> running_;  // by request; true: cancelled
  std::map<Key, std::set<std::string>> subscribed_;                                    // addresses, by session
};

}  // namespace sluice::mcp
