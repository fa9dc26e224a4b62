// Asks by binding: what the system would say to the program, it says to us.
#include "process/port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "base/disk.h"
#include "base/random.h"
#include "process/system.h"

namespace sluice::process {
namespace {

constexpr uint16_t kFirstPort = 20'000;
constexpr int kTries = 200;

// Where the system takes ports for outgoing connections from: one of these may be gone before a program listens there.
uint16_t first_outgoing_port() {
  constexpr uint16_t kUsual = 32'768;
  std::ifstream file("/proc/sys/net/ipv4/ip_local_port_range");
  uint16_t first = 0;
  return file >> first && first > kFirstPort + kTries ? first : kUsual;
}

}  // namespace

bool is_port_taken(uint16_t port) {
  Descriptor probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!probe) return false;
  // Connections of a program that has ended do not count, only listeners.
  int on = 1;
  ::setsockopt(probe.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  return ::bind(probe.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 && errno == EADDRINUSE;
}

Result<uint16_t> free_port() {
  RealRandom random;
  const uint16_t end = first_outgoing_port();
  for (int i = 0; i < kTries; ++i) {
    const auto port = static_cast<uint16_t>(kFirstPort + random.below(end - kFirstPort));
    if (!is_port_taken(port)) return port;
  }
  return Error{
      .code = Code::unavailable,
      .message = "no free port was found between " + std::to_string(kFirstPort) + " and " + std::to_string(end),
      .next = "see what listens there: ss -ltn"};
}

size_t connections_to(uint16_t port) {
  constexpr std::string_view kEstablished = "01";
  std::array<char, 8> wanted{};
  std::snprintf(wanted.data(), wanted.size(), ":%04X", port);
  size_t count = 0, asked = 0;
  for (const char* path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string number, local, remote, state;
      words >> number >> local >> remote >> state;
      if (state != kEstablished) continue;
      if (local.ends_with(wanted.data())) count++;
      if (remote.ends_with(wanted.data())) asked++;
    }
  }
  // Of a port that leads into a container only those who connected are seen here.
  return std::max(count, asked);
}

size_t connections_to(const std::string& socket_path) {
  constexpr std::string_view kConnected = "03";
  std::ifstream file("/proc/net/unix");
  std::string line;
  size_t count = 0;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string number, references, protocol, flags, type, state, inode, path;
    words >> number >> references >> protocol >> flags >> type >> state >> inode >> path;
    if (path == socket_path && state == kConnected) count++;
  }
  return count;
}

Result<uint16_t> free_port(uint16_t first, uint16_t last) {
  RealRandom random;
  const uint32_t count = static_cast<uint32_t>(last) - first + 1;
  // Whoever looks at the same time begins somewhere else.
  const uint32_t begin = static_cast<uint32_t>(random.below(count));
  for (uint32_t i = 0; i < count; ++i) {
    const auto port = static_cast<uint16_t>(first + (begin + i) % count);
    if (!is_port_taken(port)) return port;
  }
  return Error{.code = Code::unavailable,
               .message = "all ports from " + std::to_string(first) + " to " + std::to_string(last) + " are taken",
               .next = "see what listens there: ss -ltn"};
}

}  // namespace sluice::process
