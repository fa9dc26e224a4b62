// Asks by binding: what the system would say to the program, it says to us.
#include "process/port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/disk.h"
#include "process/system.h"

namespace sluice::process {

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
  Descriptor probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (!probe || ::bind(probe.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::getsockname(probe.fd(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return error_from(errno, "find", "a free port");
  }
  return ntohs(address.sin_port);
}

}  // namespace sluice::process
