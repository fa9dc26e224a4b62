// The rules that a Workload must keep before anything is made for it.
#include "process/workload.h"

#include <algorithm>

namespace sluice::process {
namespace {

constexpr int64_t kMostMs = int64_t{1000} * 60 * 60 * 24 * 365;

Error wrong(std::string path, std::string message) {
  return {.code = Code::invalid, .message = std::move(message), .path = std::move(path)};
}

bool has_nul_byte(const std::string& text) { return text.find('\0') != std::string::npos; }

Result<void> check_texts(const Workload& workload) {
  if (!workload.container && (workload.argv.empty() || workload.argv.front().empty())) {
    return wrong("/argv", "there is no program to run");
  }
  if (std::ranges::any_of(workload.argv, has_nul_byte)) return wrong("/argv", "a command cannot hold NUL");
  for (const auto& [name, value] : workload.environment) {
    if (name.empty() || name.find('=') != std::string::npos || has_nul_byte(name) || has_nul_byte(value)) {
      return wrong("/environment", "no variable can be called or hold that");
    }
  }
  std::vector<std::string> folders = workload.writable;
  folders.push_back(workload.root);
  if (!workload.hidden.empty()) folders.push_back(workload.hidden);
  for (const std::string& each : folders) {
    if (!each.starts_with('/') || has_nul_byte(each)) return wrong("/root", "expected absolute paths of folders");
  }
  return {};
}

}  // namespace

Result<void> check(const Workload& workload) {
  if (auto texts = check_texts(workload); !texts) return texts;
  const HealthCheck& health = workload.health;
  if (health.by == HealthBy::command && (health.command.empty() || std::ranges::any_of(health.command, has_nul_byte))) {
    return wrong("/health/command", "there is no command that says whether it is healthy");
  }
  bool plain =
      health.path.starts_with('/') && std::ranges::all_of(health.path, [](char c) { return c > ' ' && c < 127; });
  if (health.by == HealthBy::http && !plain) return wrong("/health/path", "expected a path that begins with \"/\"");
  for (int64_t each : {health.interval_ms, health.timeout_ms, health.start_within_ms, workload.restarts.first_after_ms,
                       workload.restarts.last_after_ms, workload.restarts.calm_ms}) {
    if (each < 1 || each > kMostMs) return wrong("/health", "expected times from 1 ms to a year");
  }
  if (workload.grace_ms < 0 || workload.grace_ms > kMostMs) return wrong("/grace_ms", "expected at most a year");
  if (workload.port && *workload.port == 0) return wrong("/port", "expected a port from 1 to 65535");
  if (workload.log.files < 1 || workload.log.file_bytes < 1024)
    return wrong("/log", "expected a file of at least 1 kB");
  if (!(workload.limits.cpu > 0) || workload.limits.memory_bytes == 0 || workload.limits.processes == 0 ||
      workload.limits.files < 8) {
    return wrong("/limits", "expected limits that a program can run within");
  }
  return {};
}

}  // namespace sluice::process
