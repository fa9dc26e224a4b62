// The keys that session tickets are sealed with: others every hour, the same in all threads and workers, without a word
// between them. Each hour's secret follows from that of the hour before by a hash, so who learns one cannot open older
// tickets. Tickets of the hour before are taken, and replaced.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "base/random.h"
#include "crypto/hmac.h"

namespace sluice::router {

// The secret of one hour. What follows from it is for that hour and all later ones.
struct TicketSecret {
  int64_t hour = 0;  // since 1970
  crypto::Mac secret{};

  // Of the hour before this moment, so that tickets of that hour can be opened.
  static TicketSecret make(Random& random, int64_t now_s);
  // As it is of the hour before this moment; an earlier moment changes nothing.
  void advance_to(int64_t now_s);
};

struct TicketKey {
  std::array<uint8_t, 16> name{};
  crypto::Mac cipher{};
  crypto::Mac mac{};
};

// Any thread may ask.
class TicketKeys {
 public:
  explicit TicketKeys(const TicketSecret& secret) : secret_(secret) {}

  TicketKey current(int64_t now_s);
  // The key of that name, if its tickets are still taken; `renew`: it is no longer the current one.
  std::optional<TicketKey> named(const uint8_t* name, int64_t now_s, bool& renew);
  // For the next worker.
  TicketSecret secret() const;

 private:
  void advance(int64_t now_s);

  mutable std::mutex mutex_;
  TicketSecret secret_;
  bool made_ = false;
  TicketKey before_, current_;
};

}  // namespace sluice::router
