// Client asks an HTTP/1.1 server, one request at a time over one connection.
//
//   auto client = Client::to_unix(home + "/run/sluice.sock", clock);   // `not_found`: nobody listens there
//   auto answer = (*client)->send({.method = "GET", .target = "/v1/status"}, 5'000);
//
// An answer of any status is an answer. An error says that there is none: `unavailable` if the connection broke,
// `timeout` if it took too long; what was asked for may have been done then.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"
#include "http/message.h"
#include "http/parser.h"
#include "http/socket.h"

namespace sluice::http {

class Client {
 public:
  static Result<std::unique_ptr<Client>> to_unix(const std::string& path, const Clock& clock);
  static Result<std::unique_ptr<Client>> to_tcp(const std::string& address, uint16_t port, const Clock& clock);
  // The same through TLS, to a name or an address. `verification_failed`: it is not who it must be; nothing was sent.
  static Result<std::unique_ptr<Client>> to_tls(const std::string& host, uint16_t port, const ServerTrust& trust,
                                                const Clock& clock);

  // Host is added. The connection must not have been closed by an earlier answer: see is_open.
  Result<Answer> send(Request request, int64_t timeout_ms);
  // The same with a file as its body; the time is for each piece of it.
  Result<Answer> send(Request request, File& body, int64_t timeout_ms);
  // The same for a body that comes little by little and may never end: `take` is given each part as long as it returns
  // true, `stop` is asked every 100 ms. The body of a refusal is in the answer; after either the connection is closed.
  Result<Answer> stream(Request request, const std::function<bool(std::string_view)>& take,
                        const std::function<bool()>& stop);
  // The same in two halves, for whoever passes an answer on: what comes before its body, and then the body.
  Result<Answer> begin(Request request, int64_t timeout_ms);
  Result<void> rest(const std::function<bool(std::string_view)>& take, const std::function<bool()>& stop);
  // Asks for another protocol on this connection: with its bytes so far, or what the server says in place of it.
  struct SwitchedTo {
    std::optional<Wire> wire;
    std::string input;
    Answer refusal;
  };
  Result<SwitchedTo> switch_to(const std::string& protocol, Request request, int64_t timeout_ms);
  bool is_open() const { return wire_.has_value(); }
  // Another descriptor of the connection, for whoever may have to break it (shutdown) while it is waited for.
  Socket hold() const;

 private:
  Client(Socket socket, std::string host, const Clock& clock) : clock_(clock), host_(std::move(host)) {
    wire_.emplace(std::move(socket), clock);
  }

  Result<Answer> receive(int64_t timeout_ms);

  const Clock& clock_;
  std::string host_;
  std::optional<Wire> wire_;
  std::string input_;
  std::unique_ptr<AnswerParser> begun_;  // whose body is still to come
};

// The certificates that a server shows, its own first, in PEM; nobody has checked them.
Result<std::string> chain_shown_at(const std::string& host, uint16_t port, const Clock& clock);

}  // namespace sluice::http
