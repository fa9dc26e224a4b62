// RecentReads gives what was just answered once more, to the same caller who asks for the same view, as long as nothing
// has been committed since: pages and dashboards ask again and again. An answer is never older than the newest commit,
// nor than a fifth of a second, so that what no commit tells, such as how many requests a router has counted, is new
// enough as well. Any thread may ask.
//
//   const auto key = RecentReads::key_of(request, peer);
//   if (auto again = recent.find(key, engine.position(), now_ns)) return *again;
//   recent.keep(key, response, position, now_ns, ends_ns);
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "http/message.h"
#include "http/server.h"

namespace sluice::api {

class RecentReads {
 public:
  // All that an answer depends on but for time and state, as a digest: it holds no secret. Empty: such a request is
  // answered anew each time.
  static std::string key_of(const http::Request& request, const http::Peer& peer);

  std::optional<http::Response> find(const std::string& key, uint64_t position, int64_t now_ns);
  // Until `ends_ns` at most, when the caller's token or session ends.
  void keep(const std::string& key, const http::Response& response, uint64_t position, int64_t now_ns, int64_t ends_ns);

 private:
  struct Kept {
    http::Response response;
    int64_t until_ns = 0;
  };

  std::mutex mutex_;
  uint64_t position_ = 0;  // of all that is kept
  size_t bytes_ = 0;
  std::unordered_map<std::string, Kept> kept_;
};

}  // namespace sluice::api
