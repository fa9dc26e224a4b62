// Where a Redis is and how one is let in: redis://[[USER]:PASSWORD@]HOST[:PORT][/DB], or
// redis+unix://[[USER]:PASSWORD@]/PATH[?db=N]. What is wrong with such a text is said without repeating any of it: it
// may hold a password.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::router {

struct RedisPlace {
  std::string host;  // a name or a literal address without brackets; empty: it is at a Unix socket
  uint16_t port = 6379;
  std::string path;  // of the Unix socket
  std::string user, password;
  uint32_t db = 0;

  bool operator==(const RedisPlace&) const = default;
};

Result<RedisPlace> parse_redis_url(std::string_view url);

}  // namespace sluice::router
