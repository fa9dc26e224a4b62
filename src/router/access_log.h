// The access log: a line of JSON for each request that is logged. Threads gather lines and hand them over now and then;
// one thread writes them, so that a slow disk holds up no request.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "router/table/dispatch.h"
#include "router/table/table.h"

namespace sluice::router {

struct LoggedRequest {
  int64_t wall_ms = 0;
  std::string_view environment;
  const Deployment* deployment = nullptr;  // nothing: no route
  std::string_view revision;
  int64_t generation = 0;
  Reason reason = Reason::none;
  std::string_view method, host, path, peer, trace, error;
  std::string_view protocol;     // "HTTP/1.1"
  std::string_view tls_version;  // empty: in the clear
  std::string_view sni;          // the name that the client gave with TLS
  uint16_t status = 0;
  int grpc_status = -1;  // less than 0: none
  uint64_t bytes_in = 0;
  uint64_t bytes_out = 0;
  int64_t duration_us = 0;
};

// Appends the line with its newline.
void write_log_line(const LoggedRequest& request, std::string& out);

// Where threads hand their lines over.
class LogExchange {
 public:
  // Takes all of `lines` and leaves it empty; more than 4 MB that nobody fetches is dropped.
  void hand_over(std::string& lines);
  // All that was handed over.
  std::string fetch();
  uint64_t dropped() const;

 private:
  mutable std::mutex mutex_;
  std::string lines_;
  uint64_t dropped_ = 0;  // bytes
};

}  // namespace sluice::router
