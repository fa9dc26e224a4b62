// The other end of a router's control socket: for the control plane, and for commands.
//
//   auto client = ControlClient::connect(path);
//   auto answer = client->load(envelope, table);   // an object whose "ok" says whether it is obeyed
//
// A refusal by the router is an answer; an Error is that there was none. One thread at a time.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/document.h"
#include "base/result.h"
#include "router/table/order.h"

namespace sluice::router {

class ControlClient {
 public:
  // `unavailable` if nobody listens there. Each request waits for its answer for at most so long.
  static Result<ControlClient> connect(const std::string& path, int64_t timeout_ms = 30'000);

  ControlClient(ControlClient&& other) noexcept;
  ControlClient& operator=(ControlClient&& other) noexcept;
  ~ControlClient();

  Result<json::object> load(std::string_view envelope, std::string_view table) {
    return ask(order_line(OrderOp::load, envelope, table.size()), table);
  }
  Result<json::object> patch(std::string_view envelope, std::string_view patch) {
    return ask(order_line(OrderOp::patch, envelope, patch.size()), patch);
  }
  // Any request of docs/internals/router.md, Control socket: stats, usage, hold, release, drain, certificates.
  Result<json::object> ask(const json::object& request);

  // The same in two halves, for those who ask many routers at once.
  Result<void> send(std::string_view line, std::string_view bytes = {});
  Result<json::object> answer();
  // How long it is waited for the next answer.
  void wait_for(int64_t timeout_ms);

 private:
  ControlClient(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  Result<json::object> ask(const std::string& line, std::string_view bytes);
  Result<void> send_all(std::string_view bytes);

  int fd_;
  std::string path_;
  std::string in_;
};

}  // namespace sluice::router
