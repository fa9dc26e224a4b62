// The Door to a home that a `sluice serve` has: each verb is a request to it, all over one connection.
//
//   auto door = RemoteDoor::open(home + "/run/sluice.sock", clock, {.kit = "built-in:deploy"});   // `not_found`: none
//
// The caller is whoever this process is to the other one. A call that breaks off fails with `timeout`: it may or may
// not have been done, and may be repeated under its key.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "host/contexts.h"
#include "host/door.h"
#include "host/exchange.h"
#include "http/client.h"

namespace sluice::host {

struct RemoteWords {
  std::string kit = {};      // the folder of the kit that the server must run; empty: any
  std::string purpose = {};  // what the journal says was denied to somebody who may not: "traffic show"
};

// A connection to a server that somebody has logged in to.
Result<std::unique_ptr<http::Client>> connect_to(const ServerContext& server, const Clock& clock);

class RemoteDoor final : public Door {
 public:
  // The clock must outlive it.
  static Result<std::unique_ptr<RemoteDoor>> open(const std::string& socket, const Clock& clock, RemoteWords words);
  // The same over TCP, as whoever the token is for.
  static Result<std::unique_ptr<RemoteDoor>> open(const ServerContext& server, const Clock& clock, RemoteWords words);

  // What it says of itself: pid, version, kit, since, openFlows …
  Result<json::object> status();
  // A code with which a browser can log in as the caller, once, within a minute: `code` and `expires`.
  Result<json::object> login_code();
  // A token with which another home may join as a replica.
  Result<json::object> join_token();
  // The same for a router of an environment; and the end of one that has joined.
  Result<json::object> router_token(const std::string& environment);
  Result<json::object> remove_router(const std::string& name);
  // Asks it to stop; answers what it is.
  Result<json::object> stop(const std::string& reason);

  Result<Answer> call(const Call& call, const Waiting& waiting = {}) override;
  Result<Answer> answer_of(const Ulid& flow, WaitFor wait, const Waiting& waiting = {}) override;
  Result<ViewAnswer> view(const std::string& name, const json::object& query = {}) override;
  Result<Decided> decide(engine::Decision decision, const Waiting& waiting = {}) override;
  Result<void> follow(uint64_t from, const std::function<bool(const engine::Step&)>& visit,
                      const std::function<bool()>& stop) override;
  Result<std::string> put(File& file, const std::string& reason) override;
  Result<void> read_logs(const LogAsk& ask, const VisitLine& visit, const std::function<bool()>& stop) override;
  Result<int> exec(const ExecAsk& ask, const ExecEnds& ends) override;

 private:
  RemoteDoor(std::string socket, const Clock& clock, RemoteWords words)
      : socket_(std::move(socket)), clock_(clock), words_(std::move(words)) {}
  Result<std::unique_ptr<http::Client>> connect() const;
  Result<http::Client*> connected();
  Result<json::object> told(http::Request request);
  // Over the connection that there is, or a new one if the server has closed it meanwhile: for what may be repeated.
  Result<Reply> read(const http::Request& request, int64_t timeout_ms);
  http::Request addressed(http::Request request) const;

  std::string socket_;
  std::optional<ServerContext> server_;  // in place of the socket
  const Clock& clock_;
  RemoteWords words_;
  std::unique_ptr<http::Client> client_;
};

}  // namespace sluice::host
