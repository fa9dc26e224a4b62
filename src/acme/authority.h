// A certificate authority as it is spoken to (RFC 8555): its directory, nonces, and requests that the account's key
// signs. The account is made at the first login. An authority that has forgotten it is given it again, with the same
// key, and the request is sent once more.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "acme/issue.h"
#include "base/json.h"
#include "crypto/es256.h"
#include "http/outgoing.h"

namespace sluice::acme {

// How requests get there: by http::Outgoing, or to whoever a test likes.
using Send = std::function<Result<http::OutgoingAnswer>(const http::OutgoingRequest&)>;

struct Said {
  int status = 0;
  json::object object;  // empty if it is none
  std::string text;
  std::string location;
  int64_t retry_after_ms = 0;
};

class Authority {
 public:
  // All of these must outlive it.
  Authority(const Wish& wish, const Place& place, const Send& send) : wish_(wish), place_(place), send_(send) {}

  Result<void> open();
  // Makes the account, or finds it: the same key is the same account.
  Result<void> log_in();
  // With an empty payload it is only read (POST-as-GET).
  Result<Said> post(const std::string& url, const std::string& payload);
  std::string new_order() const;
  std::string key_authorization(const std::string& token) const { return token + "." + key_->thumbprint(); }
  // An error if it is not wanted any more.
  Result<void> wait(int64_t ms) const;

 private:
  enum class SignedBy : uint8_t { account, key };

  std::string account_folder() const;
  Result<void> load_key();
  Result<void> register_account();
  Result<std::string> nonce();
  Result<Said> post(const std::string& url, const std::string& payload, SignedBy by);
  Error refusal(const Said& said, const std::string& url) const;
  std::string bound(const std::string& url) const;

  const Wish& wish_;
  const Place& place_;
  const Send& send_;
  json::object directory_;
  std::optional<crypto::Es256Key> key_;
  std::string account_;      // its URL
  bool registered_ = false;  // by this object
  bool unknown_ = false;     // the last refusal was that there is no such account
  std::string nonce_;
};

inline constexpr size_t kMaxKept = 64 << 10;  // of a file that is kept

// A member that is a text; else nothing.
std::string text_in(const json::object& object, std::string_view name);
std::string unpadded_base64(std::string_view bytes);
// Those that are there already stay.
Result<void> make_folders(Disk& disk, std::initializer_list<std::string> folders);

}  // namespace sluice::acme
