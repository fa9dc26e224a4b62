// A socket that waits, with the kernel's own time limits.
#include "router/control_client.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/disk.h"
#include "base/json.h"
#include "router/address.h"

namespace sluice::router {
namespace {

constexpr size_t kMaxAnswer = size_t{256} << 20;

}  // namespace

Result<ControlClient> ControlClient::connect(const std::string& path, int64_t timeout_ms) {
  auto address = parse_address("unix:" + path);
  if (!address) return address.error();
  int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return error_from(errno, "open a socket to", path);
  ControlClient client(fd, path);
  client.wait_for(timeout_ms);
  if (::connect(fd, address->raw(), address->size) != 0) {
    return Error{.code = Code::unavailable,
                 .message = "no router listens at " + path + ": " + error_from(errno, "connect to", path).message};
  }
  return client;
}

ControlClient::ControlClient(ControlClient&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)), in_(std::move(other.in_)) {}

ControlClient& ControlClient::operator=(ControlClient&& other) noexcept {
  std::swap(fd_, other.fd_);
  path_ = std::move(other.path_);
  in_ = std::move(other.in_);
  return *this;
}

ControlClient::~ControlClient() {
  if (fd_ >= 0) ::close(fd_);
}

void ControlClient::wait_for(int64_t timeout_ms) {
  const timeval limit{.tv_sec = timeout_ms / 1'000, .tv_usec = timeout_ms % 1'000 * 1'000};
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

Result<void> ControlClient::send_all(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t size = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN)
      return Error{.code = Code::timeout, .message = "the router at " + path_ + " does not read"};
    if (size < 0) return Error{.code = Code::unavailable, .message = "the router at " + path_ + " has gone"};
    bytes.remove_prefix(static_cast<size_t>(size));
  }
  return {};
}

Result<json::object> ControlClient::ask(const json::object& request) { return ask(write(request), {}); }

Result<json::object> ControlClient::ask(const std::string& line, std::string_view bytes) {
  if (auto sent = send(line, bytes); !sent) return sent.error();
  return answer();
}

Result<void> ControlClient::send(std::string_view line, std::string_view bytes) {
  if (auto sent = send_all(std::string(line) + "\n"); !sent) return sent;
  return send_all(bytes);
}

Result<json::object> ControlClient::answer() {
  char piece[65'536];
  size_t end;
  while ((end = in_.find('\n')) == std::string::npos) {
    ssize_t size = ::recv(fd_, piece, sizeof piece, 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN)
      return Error{.code = Code::timeout, .message = "the router at " + path_ + " does not answer"};
    if (size <= 0 || in_.size() > kMaxAnswer)
      return Error{.code = Code::unavailable, .message = "the router at " + path_ + " has gone"};
    in_.append(piece, static_cast<size_t>(size));
  }
  auto parsed = parse_json(std::string_view(in_).substr(0, end), "",
                           {.max_depth = 16, .max_bytes = kMaxAnswer, .max_nodes = 20'000'000});
  in_.erase(0, end + 1);
  if (!parsed) return parsed.error();
  json::object* answer = parsed->root.if_object();
  if (answer == nullptr) return Error{.code = Code::invalid, .message = "the router's answer is no object"};
  return std::move(*answer);
}

}  // namespace sluice::router
