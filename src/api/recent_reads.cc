// A commit makes all of it old at once, so there is nothing to clean up but what is too much.
#include "api/recent_reads.h"

#include <algorithm>

#include "crypto/sha256.h"

namespace sluice::api {
namespace {

constexpr int64_t kReadIsGood_ns = 200'000'000;
constexpr size_t kMostReadBytes = size_t{8} << 20U;
constexpr size_t kMostReads = 1'024;
constexpr const char* kKeyHeaders[] = {"Authorization", "Cookie",        "Origin",     "Sec-Fetch-Site",
                                       "Host",          "If-None-Match", "Sluice-Kit", "Sluice-For"};

}  // namespace

std::string RecentReads::key_of(const http::Request& request, const http::Peer& peer) {
  // Whoever comes by the socket needs no token, and gets what is there at that moment.
  const bool view = request.method == "GET" && request.path.size() == 3 && request.path[1] == "views";
  if (!view || peer.credentials || !request.body.empty()) return "";
  std::string all = request.target + (peer.tls ? "\ntls\n" : "\n\n") + peer.certificate;
  for (const char* name : kKeyHeaders) {
    // A header that is there twice is told from one that is not.
    for (const http::Header& each : request.headers) {
      if (http::find_header({each}, name) != nullptr) all += "\n" + std::string(name) + ":" + each.value;
    }
  }
  const crypto::Sha256 digest = crypto::sha256(all);
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::optional<http::Response> RecentReads::find(const std::string& key, uint64_t position, int64_t now_ns) {
  std::lock_guard lock(mutex_);
  if (key.empty() || position != position_) return std::nullopt;
  auto found = kept_.find(key);
  if (found == kept_.end() || now_ns >= found->second.until_ns) return std::nullopt;
  return found->second.response;
}

void RecentReads::keep(const std::string& key, const http::Response& response, uint64_t position, int64_t now_ns,
                       int64_t ends_ns) {
  if (key.empty()) return;
  std::lock_guard lock(mutex_);
  if (position < position_) return;
  if (position > position_ || bytes_ > kMostReadBytes || kept_.size() >= kMostReads) {
    kept_.clear();
    bytes_ = 0;
  }
  position_ = position;
  bytes_ += response.body.size();
  kept_[key] = {response, std::min(now_ns + kReadIsGood_ns, ends_ns)};
}

}  // namespace sluice::api
