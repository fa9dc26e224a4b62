// Texts that come from outside are written as JSON strings, so no line can look like two.
#include "router/access_log.h"

#include "base/clock.h"
#include "base/json_text.h"

namespace sluice::router {
namespace {

constexpr size_t kMostWaiting = 4 << 20;

class LogLine {
 public:
  explicit LogLine(std::string& out) : out_(out) {}

  void text(std::string_view name, std::string_view value) {
    begin(name);
    out_ += json_quoted(value);
  }
  void number(std::string_view name, uint64_t value) {
    begin(name);
    out_ += std::to_string(value);
  }

 private:
  void begin(std::string_view name) {
    out_ += first_ ? "{\"" : ",\"";
    first_ = false;
    out_ += name;
    out_ += "\":";
  }

  std::string& out_;
  bool first_ = true;
};

}  // namespace

void write_log_line(const LoggedRequest& request, std::string& out) {
  static const Deployment kNone;
  const Deployment& deployment = request.deployment != nullptr ? *request.deployment : kNone;
  LogLine line(out);
  line.text("time", utc_text(request.wall_ms));
  line.text("env_id", request.environment);
  line.text("tenant", deployment.tenant);
  line.text("team", deployment.team);
  line.text("customer_id", deployment.customer);
  line.text("deployment_id", deployment.id);
  line.text("bundle_id", deployment.bundle);
  line.text("revision_id", request.revision);
  line.text("pack_kind", deployment.pack_kind);
  line.number("generation", static_cast<uint64_t>(request.generation));
  line.text("reason", reason_name(request.reason));
  line.text("method", request.method);
  line.text("host", request.host);
  line.text("path", request.path);
  line.number("status", request.status);
  line.number("bytes_in", request.bytes_in);
  line.number("bytes_out", request.bytes_out);
  line.number("duration_us", static_cast<uint64_t>(request.duration_us));
  line.text("peer", request.peer);
  line.text("trace", request.trace);
  line.text("error", request.error);
  line.text("protocol", request.protocol);
  line.text("tls_version", request.tls_version);
  line.text("sni", request.sni);
  if (request.grpc_status >= 0) line.number("grpc_status", static_cast<uint64_t>(request.grpc_status));
  out += "}\n";
}

void LogExchange::hand_over(std::string& lines) {
  std::lock_guard lock(mutex_);
  if (lines_.size() + lines.size() > kMostWaiting) {
    dropped_ += lines.size();
  } else {
    lines_ += lines;
  }
  lines.clear();
}

std::string LogExchange::fetch() {
  std::lock_guard lock(mutex_);
  std::string lines;
  lines.swap(lines_);
  return lines;
}

uint64_t LogExchange::dropped() const {
  std::lock_guard lock(mutex_);
  return dropped_;
}

}  // namespace sluice::router
