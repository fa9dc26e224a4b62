// The secret that is kept is that of the hour before.
#include "router/tls/ticket_keys.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace sluice::router {
namespace {

constexpr int64_t kHour_s = 3'600;

std::string_view text_of(const crypto::Mac& mac) { return {reinterpret_cast<const char*>(mac.data()), mac.size()}; }

crypto::Mac next_of(const crypto::Mac& secret) { return crypto::Hmac(text_of(secret)).mac("next hour"); }

TicketKey key_of(const crypto::Mac& secret) {
  crypto::Hmac hmac(text_of(secret));
  crypto::Mac name = hmac.mac("name");
  TicketKey key{.cipher = hmac.mac("cipher"), .mac = hmac.mac("mac")};
  std::copy_n(name.begin(), key.name.size(), key.name.begin());
  return key;
}

}  // namespace

TicketSecret TicketSecret::make(Random& random, int64_t now_s) {
  TicketSecret made{.hour = now_s / kHour_s - 1};
  random.fill(made.secret);
  return made;
}

void TicketSecret::advance_to(int64_t now_s) {
  for (; hour < now_s / kHour_s - 1; ++hour) secret = next_of(secret);
}

void TicketKeys::advance(int64_t now_s) {
  const int64_t hour = secret_.hour;
  secret_.advance_to(now_s);
  if (made_ && secret_.hour == hour) return;
  made_ = true;
  before_ = key_of(secret_.secret);
  current_ = key_of(next_of(secret_.secret));
}

TicketKey TicketKeys::current(int64_t now_s) {
  std::lock_guard lock(mutex_);
  advance(now_s);
  return current_;
}

std::optional<TicketKey> TicketKeys::named(const uint8_t* name, int64_t now_s, bool& renew) {
  std::lock_guard lock(mutex_);
  advance(now_s);
  for (const TicketKey* key : {&current_, &before_}) {
    if (std::memcmp(key->name.data(), name, key->name.size()) != 0) continue;
    renew = key == &before_;
    return *key;
  }
  return std::nullopt;
}

TicketSecret TicketKeys::secret() const {
  std::lock_guard lock(mutex_);
  return secret_;
}

}  // namespace sluice::router
