// How many connections each address has open, over all threads, so that one of them cannot take what all share. Of IPv6
// a network of 64 bits counts as one address: whoever has one has all of it.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "router/address.h"

namespace sluice::router {

class AddressCounts {
 public:
  // One more, if it has fewer than so many.
  bool enter(const IpBytes& ip, uint64_t limit);
  void leave(const IpBytes& ip);
  size_t addresses();

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, uint64_t> counts_;
};

}  // namespace sluice::router
