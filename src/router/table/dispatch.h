// Which deployment a request is for, and which of its revisions it goes to: docs/internals/router.md, Dispatch. One for
// each thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "router/http1/http1_parser.h"
#include "router/pins/sticky.h"
#include "router/table/table.h"

namespace sluice::router {

enum class Reason : uint8_t { none, token, caller, cookie, pin, bucket, weight };
// Whether who asks has said which revision, so that no other will do.
inline bool is_asked_for(Reason reason) { return reason == Reason::token || reason == Reason::caller; }
std::string_view reason_name(Reason reason);

// asks: what is known of the session elsewhere is to be asked first. denied: it has a debug token that does not hold.
// redirected: it came in the clear, and its deployment wants TLS. misdirected: its connection was made by another rule
// for clients' certificates than its deployment's.
enum class Outcome : uint8_t { routed, no_route, paused, no_revision, held, asks, denied, redirected, misdirected };

struct Dispatched {
  Outcome outcome = Outcome::no_route;
  Reason reason = Reason::none;
  bool issue_cookie = false;
  bool new_pin = false;    // the session was pinned to the revision
  bool renew_pin = false;  // its pin is to be written elsewhere again
  uint32_t bucket = 0;
  const Deployment* deployment = nullptr;
  const Revision* revision = nullptr;
  const char* why = "";      // it is denied; until the next dispatch
  std::string_view prefix;   // of the route
  uint32_t strip = 0;        // so many bytes of the path the application does not get to see
  std::string_view session;  // the application's own key, if it is to be remembered
};

struct Moment {
  int64_t monotonic_ms = 0;
  int64_t wall_s = 0;
};

// Who asks.
struct Caller {
  bool trusted = false;               // what it says of others is believed
  bool secure = false;                // it came over TLS
  std::string_view client_rule = {};  // the stamp of that by which it was asked for a certificate
  std::string_view client_id = {};    // of the certificate that it has shown
};

class Dispatcher {
 public:
  explicit Dispatcher(Random& random) : cookies_(random), token_key_(random_hash_key(random)) {}

  // `may_ask`: whether there is somebody to ask about sessions that the memory does not know.
  Dispatched dispatch(const Table& table, const RequestHead& head, const Caller& caller, const Moment& now,
                      bool may_ask = false);

  // Another revision with weight for a request whose own cannot be reached; may_serve says which can. Nothing if none.
  template <class MayServe>
  static const Revision* another(const Deployment& deployment, MayServe&& may_serve);

  StickyCookies& cookies() { return cookies_; }

 private:
  struct SeenToken {
    uint64_t hash = 0;
    int64_t until_s = 0;
    std::string deployment, revision;
  };

  const SeenToken* believed_token(const TableSettings& settings, std::string_view text, const Moment& now,
                                  const char*& why);
  Dispatched by_token(const Table& table, const RequestHead& head, const Caller& caller, const Moment& now);
  static bool by_caller(const RequestHead& head, const Caller& caller, Dispatched& done);
  void choose(const TableSettings& settings, const RequestHead& head, const Moment& now, bool may_ask,
              Dispatched& done);
  bool by_cookie(const TableSettings& settings, const RequestHead& head, const Moment& now, Dispatched& done);
  std::string_view session_key(const Deployment& deployment, const RequestHead& head) const;

  StickyCookies cookies_;
  HashKey token_key_;
  std::vector<SeenToken> tokens_;
  int64_t tokens_second_ = 0;
  int tokens_verified_ = 0;
  std::string token_fault_;
};

template <class MayServe>
const Revision* Dispatcher::another(const Deployment& deployment, MayServe&& may_serve) {
  const Revision* heaviest = nullptr;
  for (const Revision& each : deployment.revisions) {
    if (!each.serves() || !may_serve(each)) continue;
    if (heaviest == nullptr || each.weight_bps > heaviest->weight_bps) heaviest = &each;
  }
  return heaviest;
}

}  // namespace sluice::router
