// Listening sockets: opened by the master, used by the worker, so that connections wait in their queues while a worker
// is started again.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "router/address.h"

namespace sluice::router {

// A place to listen at, with one socket for each thread; of a Unix socket all are the same one.
struct ListeningPlace {
  Address address;  // with the port that it got
  std::vector<int> fds;
};

// `sockets` of them share the address; the kernel spreads connections over them.
Result<ListeningPlace> listen_at(const Address& address, size_t sockets);

void close_place(ListeningPlace& place);

}  // namespace sluice::router
