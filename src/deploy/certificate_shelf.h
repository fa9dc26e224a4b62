// CertificateShelf keeps certificates with their keys where routers read them: tls/ID/chain.pem and key.pem in the
// home, mode 0600. ID is a link to a folder of its own below tls/.kept, so a pair is replaced whole, by one rename;
// readers and a crash find the old pair or the new one. It has the home's own authority, too: ca/chain.pem and
// ca/key.pem, made when something is first issued by it.
//
//   auto kept = shelf.keep("shop.example", chain, key, now_ms);      // checks it first
//   auto told = shelf.tell("shop.example", kept->fingerprint, members);
//   if (told.refused) shelf.restore(*kept) …
//
// Any thread may use it; who changes one certificate is alone at it (effects of one row are one after the other).
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "crypto/x509.h"
#include "deploy/router_fleet.h"

namespace sluice::deploy {

// What the local authority may issue for, with all below them; and addresses of this machine.
inline constexpr std::string_view kLocalDomains[] = {"localhost", "test", "example"};
bool is_local_name(std::string_view name);

// Whether it may be the name of a folder: letters, digits, `-`, `_` and `.`, not first a `.`; at most 200.
bool is_certificate_id(std::string_view text);
// Whether a certificate can be of it: a host, perhaps with a wildcard for its first label, or an address.
bool is_certificate_name(std::string_view text);

class CertificateShelf {
 public:
  // `home` is the home's folder.
  CertificateShelf(Disk& disk, const std::string& home)
      : disk_(disk), folder_(home + "/tls"), authority_(home + "/ca"), acme_(home + "/acme") {}

  struct Kept {
    crypto::CertificateFacts facts;
    std::string id;
    std::string before;  // where the link pointed; empty: there was none
  };
  // An error, with nothing changed, if the key is not that of the certificate, or it names nobody or does not hold now.
  Result<Kept> keep(const std::string& id, std::string_view chain_pem, std::string_view key_pem, int64_t now_ms);
  // Puts back what was there before, and forgets the one that was put in its place.
  Result<void> restore(const Kept& kept);
  // Forgets what was replaced, also by attempts that a crash has ended.
  void settle(const Kept& kept);
  Result<void> remove(const std::string& id);
  // What is kept under it; `not_found` if nothing is.
  Result<crypto::CertificateFacts> look(const std::string& id) const;
  Result<std::string> chain_of(const std::string& id) const;

  // Has each router read the certificates of this home again.
  struct Told {
    std::vector<std::string> showing;    // names of routers that show this one
    std::optional<std::string> refused;  // what a router has against it
    std::vector<std::string> silent;     // names of those that did not answer
  };
  // With an empty fingerprint nothing is looked for.
  Told tell(const std::string& id, const std::string& fingerprint,
            const std::vector<RouterFleet::Member>& members) const;

  // What a certificate authority is answered that asks for a proof of a name (router/tls/challenges.h). Returns when
  // every router of the home that answers gives it; an error if none does.
  struct Proof {
    std::string kind, name, token, key_authorization;
  };
  Result<void> show_proofs(const std::vector<Proof>& proofs, const std::vector<RouterFleet::Member>& members) const;
  void hide_proofs(const std::vector<Proof>& proofs, const std::vector<RouterFleet::Member>& members) const;
  const std::string& acme_folder() const { return acme_; }

  // The authority, with its key. `maker` is part of its name, so that people can tell those of two machines apart.
  Result<crypto::MadeCertificate> authority(const std::string& maker, int64_t now_ms);
  std::string authority_file() const { return authority_ + "/chain.pem"; }
  const std::string& folder() const { return folder_; }

 private:
  Result<std::string> target_of(const std::string& id) const;
  Result<void> point(const std::string& id, const std::string& target);
  void forget(const std::string& target);

  Disk& disk_;
  std::string folder_, authority_, acme_;
  std::mutex mutex_;  // while the authority is made
};

}  // namespace sluice::deploy
