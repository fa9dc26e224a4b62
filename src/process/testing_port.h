// A port that is taken for as long as this lives: a certain one, or any.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>

#include "process/system.h"

namespace sluice::process {

class TakenPort {
 public:
  explicit TakenPort(uint16_t port = 0) : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int on = 1;
    ::setsockopt(listener_.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    socklen_t size = sizeof address;
    if (::bind(listener_.fd(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
        ::listen(listener_.fd(), 1) == 0 &&
        ::getsockname(listener_.fd(), reinterpret_cast<sockaddr*>(&address), &size) == 0) {
      number_ = ntohs(address.sin_port);
    }
  }
  uint16_t number() const { return number_; }

 private:
  Descriptor listener_;
  uint16_t number_ = 0;
};

}  // namespace sluice::process
