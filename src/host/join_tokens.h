// JoinTokens are what a home shows to become a replica of this cluster, or to have its router obey it: each is good
// once and for an hour, and says by which authority the server that takes it is certified. Kept, as digests, in the
// home: in keys/join-tokens.json those of replicas, in keys/router-tokens.json those of routers.
//
//   auto token = tokens.make(fingerprint);       // "slj_….sha256:…"; the second part is missing where no one is known
//   auto taken = tokens.take(*token);            // `denied` when it comes again
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"
#include "host/home.h"

namespace sluice::host {

struct JoinToken {
  std::string digest;
  int64_t expires_ms = 0;
  bool used = false;
  std::optional<std::string> environment;  // of the router that may join with it
};
BOOST_DESCRIBE_STRUCT(JoinToken, (), (digest, expires_ms, used, environment))

struct JoinTokenFile {
  std::string schema = "sluice.join-tokens.v1";
  std::vector<JoinToken> tokens;
};
BOOST_DESCRIBE_STRUCT(JoinTokenFile, (), (schema, tokens))

struct MadeJoinToken {
  std::string token;
  int64_t expires_ms = 0;
};

enum class JoinsAs { replica, router };

class JoinTokens {
 public:
  // All must outlive it.
  JoinTokens(Disk& disk, const Home& home, const Clock& clock, JoinsAs joins = JoinsAs::replica)
      : disk_(disk), home_(home), clock_(clock), joins_(joins) {}

  // A router's is for one environment.
  Result<MadeJoinToken> make(const std::string& fingerprint, std::optional<std::string> environment = std::nullopt);
  // What was said of it when it was made.
  Result<JoinToken> take(const std::string& token);

 private:
  Result<JoinTokenFile> read();
  Result<void> write(const JoinTokenFile& file);
  std::string path() const;

  Disk& disk_;
  const Home& home_;
  const Clock& clock_;
  const JoinsAs joins_;
  std::mutex mutex_;
};

// The fingerprint that a token says; empty: it says none.
std::string fingerprint_in(const std::string& token);

}  // namespace sluice::host
