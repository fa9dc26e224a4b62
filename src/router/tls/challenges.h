// What a certificate authority is answered that asks for a proof (ACME, RFC 8555 and 8737): read from a folder, a file
// a challenge, and answered before anything else is looked at.
//
//   {"kind":"http-01","name":"shop.example","token":"…","key_authorization":"…"}
#pragma once

#include <atomic>
#include <boost/describe.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "router/tls/certificates.h"

namespace sluice::router {

inline constexpr std::string_view kChallengePath = "/.well-known/acme-challenge/";
inline constexpr std::string_view kAcmeProtocol = "acme-tls/1";

struct ChallengeFile {
  std::string kind, name, token, key_authorization;
};
BOOST_DESCRIBE_STRUCT(ChallengeFile, (), (kind, name, token, key_authorization))

class Challenges {
 public:
  // A file that is none is passed over; so is a folder that is not there.
  static std::shared_ptr<const Challenges> read(Disk& disk, const std::string& folder, int64_t now_ms);

  // What is answered at kChallengePath with this token; nothing: it is not known.
  const std::string* answer(std::string_view token) const;
  // What is shown to whoever asks for that name, in small letters, with kAcmeProtocol.
  const Shown* shown(std::string_view name) const;
  const std::vector<std::string>& tokens() const { return tokens_; }

 private:
  std::vector<std::string> tokens_;
  std::map<std::string, std::string, std::less<>> answers_;
  std::map<std::string, Shown, std::less<>> shown_;
};

// Where all threads find them; without any it costs one look.
class ChallengeBoard {
 public:
  void put(std::shared_ptr<const Challenges> challenges);
  bool any() const { return any_.load(std::memory_order_relaxed); }
  std::shared_ptr<const Challenges> now() const;

 private:
  std::atomic<bool> any_ = false;
  mutable std::mutex mutex_;
  std::shared_ptr<const Challenges> challenges_;
};

}  // namespace sluice::router
