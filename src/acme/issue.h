// Gets a certificate by ACME (RFC 8555), with proofs by http-01 or tls-alpn-01.
//
//   auto issued = acme::issue({.directory = url, .names = {"shop.example"}}, place, hooks);
//   …                                        // keep what was issued
//   acme::forget_order(place.disk, place.folder, "shop.example");
//
// Account, order and key of the certificate are on disk before anybody is asked to act on them, so an attempt after a
// crash goes on with the same order, and one certificate comes of it. A key leaves this machine never; the account's
// key signs each request, with a fresh nonce.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"
#include "crypto/secret_buffer.h"

namespace sluice::acme {

enum class ChallengeKind { http01, tls_alpn01 };
std::string_view name_of(ChallengeKind kind);  // "http-01"
std::optional<ChallengeKind> challenge_named(std::string_view name);

// An account that the authority knows already, which a new one is bound to.
struct Binding {
  std::string key_id;
  std::string key;  // base64url
};

struct Wish {
  std::string directory;  // "https://acme.example/directory"
  std::string roots_pem;  // whom to believe there; empty: those of the system
  std::string email;      // empty: none
  std::optional<Binding> binding;
  ChallengeKind challenge = ChallengeKind::http01;
  std::vector<std::string> names;
};

struct Place {
  Disk& disk;
  Clock& clock;
  std::string folder;  // of ACME in the home
  std::string id;      // the certificate's
  std::function<bool()> cancelled;
};

// What a name is proved by: who asks for `/.well-known/acme-challenge/TOKEN`, or with ALPN `acme-tls/1`, is to get it.
struct Challenge {
  ChallengeKind kind = ChallengeKind::http01;
  std::string name;
  std::string token;
  std::string key_authorization;
};

struct Hooks {
  // Returns when whoever answers for the names answers so.
  std::function<Result<void>(const std::vector<Challenge>&)> show;
  std::function<void(const std::vector<Challenge>&)> hide;
};

struct Issued {
  std::string chain_pem;
  crypto::SecretBuffer key_pem;
};

// `denied`: the authority refuses, and says why; `limit`: too many were asked for, with when to come again;
// `unavailable` or `timeout`: it is not there, or does not come to an end; `verification_failed`: it is not who it must
// be.
Result<Issued> issue(const Wish& wish, const Place& place, const Hooks& hooks);

void forget_order(Disk& disk, const std::string& folder, const std::string& id);

}  // namespace sluice::acme
