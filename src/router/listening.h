// Listening sockets: opened by the master, used by the worker, so that connections wait in their queues while a worker
// is started again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "router/address.h"

namespace sluice::router {

// Where clients connect, and how: "127.0.0.1:8443,tls,proxy".
struct ListenAt {
  Address address;
  bool secure = false;   // they speak TLS
  bool proxied = false;  // a PROXY header comes first
};

Result<ListenAt> parse_listen(std::string_view text);
std::string to_string(const ListenAt& at);

// A place to listen at, with one socket for each thread; of a Unix socket all are the same one.
struct ListeningPlace {
  Address address;  // with the port that it got
  bool secure = false;
  bool proxied = false;
  std::vector<int> fds;
};

// `sockets` of them share the address; the kernel spreads connections over them.
Result<ListeningPlace> listen_at(const Address& address, size_t sockets);

// As parse_listen reads it.
std::string to_string(const ListeningPlace& place);

void close_place(ListeningPlace& place);

}  // namespace sluice::router
