// The sticky cookie: made, and verified. One for each thread: it keeps the HMAC contexts of the table's keys, and
// remembers what it has verified within the last minute by a keyed hash, so that a visitor who comes again costs none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"
#include "base/random.h"
#include "crypto/hmac.h"
#include "router/table/table.h"

namespace sluice::router {

// What a valid cookie says: a revision in mode session, a bucket in mode bucket.
struct StickyClaim {
  const Revision* revision = nullptr;
  uint32_t bucket = 0;
  bool renew = false;  // half of its time is over
};

class StickyCookies {
 public:
  explicit StickyCookies(Random& random);

  // Nothing for a cookie that is not to be believed, or not by this deployment as it is now.
  std::optional<StickyClaim> verify(const TableSettings& settings, const Deployment& deployment, std::string_view value,
                                    int64_t now_s);

  // Appends "Set-Cookie: …" and CRLF; nothing without a key. The bucket counts in mode bucket only.
  void issue(const TableSettings& settings, const Deployment& deployment, const Revision& revision, uint32_t bucket,
             std::string_view path, int64_t now_s, std::string& out);

  uint64_t verified() const { return verified_; }  // how many needed an HMAC

 private:
  struct Seen {
    WideHash hash;
    uint32_t seen_s = 0;
    uint32_t expires_s = 0;
    uint32_t answer = 0;  // a revision's number, or a bucket
    uint32_t settings = 0;
  };
  struct Key {
    std::string id;
    crypto::Hmac hmac;
  };

  void take_keys(const TableSettings& settings);
  bool has_valid_mac(std::string_view claims, std::string_view mac);
  std::optional<StickyClaim> claim_of(const Deployment& deployment, uint32_t answer, int64_t expires_s,
                                      int64_t now_s) const;

  HashKey first_, second_;
  uint64_t stamp_ = 0;  // of the settings whose keys these are
  std::vector<Key> keys_;
  std::vector<Seen> seen_;
  TextBuffer claims_;  // of the cookie that is made
  uint64_t verified_ = 0;
};

// The value of a cookie in a Cookie header; nothing if it is not there.
std::optional<std::string_view> cookie_named(std::string_view header, std::string_view name);

}  // namespace sluice::router
