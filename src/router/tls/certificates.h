// What a router shows to whoever connects with TLS: certificates with their keys, read from a folder, and found by the
// name that is asked for. A set cannot be changed; another one is read and takes its place.
//
// The folder has a folder for each certificate, with fullchain.pem and privkey.pem (certbot's layout) or chain.pem and
// key.pem. The names are those inside the certificates. Of one name there may be one with an RSA key and one with
// another. The one in the folder `default` is shown for names that no other has, and to clients that ask for none.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/disk.h"
#include "crypto/identity.h"

namespace sluice::router {

// What is shown for one name.
struct Shown {
  std::shared_ptr<const crypto::Identity> rsa;
  std::shared_ptr<const crypto::Identity> other;  // ECDSA or Ed25519

  // Whether a client that was shown this may ask for that host, which is in small letters.
  bool covers(std::string_view host) const;
};

// A pair that is not shown, and why.
struct LeftOut {
  std::string folder;
  std::string why;
  bool before_stays = false;  // what was shown of its folder goes on
};
std::string to_string(const LeftOut& left);

class Certificates {
 public:
  struct Kept {
    std::string folder;
    std::shared_ptr<const crypto::Identity> identity;
  };

  // A pair that is damaged, out of its time or without names is left out alone, and said in `left`; what `before` has
  // of its folder goes on instead. Folders whose name begins with a `.` are passed over. An error: the folder cannot be
  // read at all.
  static Result<std::shared_ptr<const Certificates>> read(Disk& disk, const std::string& folder, int64_t now_ms,
                                                          const Certificates* before, std::vector<LeftOut>& left);

  // The name is in small letters. The exact one, else a wildcard, else the default, else nothing.
  const Shown* find(std::string_view name) const;
  const Shown* by_default() const { return default_.rsa || default_.other ? &default_ : nullptr; }
  const std::vector<Kept>& all() const { return all_; }

 private:
  void add(Kept kept);

  std::vector<Kept> all_;
  std::unordered_map<std::string, Shown> names_;  // "*.name" too
  Shown default_;
};

}  // namespace sluice::router
