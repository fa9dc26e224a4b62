// LiveProbe asks what is deployed: a message through the routers to one revision, and a concept's invariants against
// the program that serves it. The tool behind Health/sendThrough and Health/tryInvariant.
//
// A program that serves a concept declares it: it answers POST /.well-known/sluice-concept with messages as packs do
// (docs/internals/packs.md), `describe` with the text of its .concept. `invoke` and `query` carry a scratch tenant,
// which is forgotten at the end, so that trying an invariant leaves nothing behind.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "crypto/ed25519.h"
#include "deploy/router_fleet.h"

namespace sluice::deploy {

inline constexpr int64_t kPathTimeout_ms = 5'000;

class LiveProbe {
 public:
  // All must outlive it.
  LiveProbe(const RouterFleet& fleet, const Clock& clock, std::function<Result<crypto::PrivateKey>()> key)
      : fleet_(fleet), clock_(clock), key_(std::move(key)) {}

  struct Path {
    std::string environment;
    std::string deployment;
    std::string revision;
    std::string path;  // at which it is asked
  };
  // How long the slowest router took, in milliseconds. `timeout`: it took too long; any other error: why the revision
  // did not get the message, or did not answer.
  Result<int64_t> send_through(const Path& path) const;

  struct Tried {
    int64_t invariants = 0;
    // Of the first that does not hold; empty if all do.
    std::string violated;
    std::string expected;
    std::string actual;
  };
  // The invariant of this name, or all that there are. `not_found`: it declares no concept, or no such invariant;
  // `unavailable`: it did not answer.
  Result<Tried> try_invariant(const std::string& endpoint, const std::string& invariant,
                              const std::string& tenant) const;

 private:
  const RouterFleet& fleet_;
  const Clock& clock_;
  std::function<Result<crypto::PrivateKey>()> key_;
};

}  // namespace sluice::deploy
