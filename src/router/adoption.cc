// One question on a connection of its own: descriptors come with the first bytes of the answer.
#include "router/adoption.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/disk.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "router/listening.h"

namespace sluice::router {
namespace {

constexpr int kPatience_s = 30;
constexpr size_t kMaxHandover = 1 << 20;

union DescriptorSpace {
  cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int) * kMostHandedOver)];
};

// The two that a port stands behind, without it.
bool is_same_host(const Address& one, const Address& other) {
  auto host = [](const Address& address) {
    std::string text = to_string(address);
    return text.substr(0, text.rfind(':'));
  };
  return one.family() == other.family() && host(one) == host(other);
}

bool is_served_at(const std::string& served, const std::string& asked) {
  if (served == asked) return true;
  auto one = parse_listen(served), other = parse_listen(asked);
  if (!one || !other || other->address.family() == AF_UNIX || one->secure != other->secure ||
      one->proxied != other->proxied) {
    return false;
  }
  return is_same_host(one->address, other->address) &&
         (other->address.port() == 0 || other->address.port() == one->address.port());
}

// Reads a line, and the descriptors that come with it.
Result<std::string> receive_line(int socket, std::vector<int>& fds) {
  std::string in;
  while (in.find('\n') == std::string::npos) {
    char piece[16'384];
    iovec part{piece, sizeof piece};
    DescriptorSpace space{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = space.bytes;
    message.msg_controllen = sizeof space.bytes;
    ssize_t size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0 || in.size() > kMaxHandover) {
      return Error{.code = Code::unavailable, .message = "the worker that was left does not answer"};
    }
    for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr; each = CMSG_NXTHDR(&message, each)) {
      if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
      size_t count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      fds.resize(fds.size() + count);
      std::memcpy(fds.data() + fds.size() - count, CMSG_DATA(each), count * sizeof(int));
    }
    in.append(piece, static_cast<size_t>(size));
  }
  return in.substr(0, in.find('\n'));
}

Result<LeftWorker> ask_for_worker(int socket) {
  LeftWorker left;
  std::string line = write(json::object{{"op", "adopt"}, {"master", ::getpid()}}) + "\n";
  if (::send(socket, line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size())) {
    return error_from(errno, "ask", "the worker that was left");
  }
  auto text = receive_line(socket, left.fds);
  auto answer = text ? parse_json(*text) : Result<Document>(text.error());
  const json::object* said = answer ? answer->root.if_object() : nullptr;
  const json::value* plan = said != nullptr ? said->if_contains("plan") : nullptr;
  const json::value* pid = said != nullptr ? said->if_contains("worker_pid") : nullptr;
  if (plan != nullptr && pid != nullptr && pid->is_int64()) {
    if (auto read = sluice::read<ServedPlan>(*plan)) {
      left.pid = static_cast<int>(pid->get_int64());
      left.plan = *std::move(read);
      if (left.has_channel() || left.fds.size() == left.plan.listen.size() * left.sockets() + 3) return left;
    }
  }
  for (int fd : left.fds) ::close(fd);
  if (!answer) return answer.error();
  return Error{.code = Code::conflict, .message = "the worker that was left does not hand over what it serves from"};
}

}  // namespace

bool does(const ServedPlan& served, const ServedPlan& asked) {
  return std::ranges::equal(served.listen, asked.listen, is_served_at) && is_served_at(served.admin, asked.admin) &&
         served.table_file == asked.table_file && served.access_log == asked.access_log &&
         served.trusted == asked.trusted && (asked.threads == 0 || served.threads == asked.threads) &&
         served.drain_ms == asked.drain_ms && served.bounds_file == asked.bounds_file &&
         served.bounds_trusted == asked.bounds_trusted && served.certificates == asked.certificates;
}

Result<LeftWorker> adopt_worker(const std::string& control) {
  auto address = parse_address("unix:" + control);
  if (!address) return address.error();
  int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return error_from(errno, "open a socket to", control);
  timeval limit{.tv_sec = kPatience_s, .tv_usec = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  Result<LeftWorker> left = Error{.code = Code::unavailable, .message = "no worker was left"};
  if (::connect(fd, address->raw(), address->size) == 0) left = ask_for_worker(fd);
  ::close(fd);
  return left;
}

ssize_t send_with_descriptors(int socket, const std::string& text, const std::vector<int>& fds) {
  DescriptorSpace space{};
  iovec part{const_cast<char*>(text.data()), text.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space.bytes;
  message.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
  std::memcpy(CMSG_DATA(rights), fds.data(), sizeof(int) * fds.size());
  return ::sendmsg(socket, &message, MSG_NOSIGNAL);
}

}  // namespace sluice::router
