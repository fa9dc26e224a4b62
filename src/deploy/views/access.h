// What the concepts Access and Session keep, and the labels of deployments, for whoever decides about a call.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "deploy/access_policy.h"
#include "lang/run/handler.h"

namespace sluice::deploy::views {

struct KnownToken {
  std::string name;
  std::string digest;  // of its secret
  Identity identity;
  std::optional<int64_t> expires_ms;
  bool revoked = false;
};
std::optional<KnownToken> token_of(const lang::Snapshot& snapshot, const std::string& id);

struct KnownSession {
  std::string subject;
  std::string digest;  // of the cookie's secret
  std::string token;   // by which it was opened; empty: by the home's owner
  std::string run;     // of the server that it ends with; empty: it stays
  int64_t expires_ms = 0;
  bool ended = false;
};
std::optional<KnownSession> session_of(const lang::Snapshot& snapshot, const std::string& id);

struct KnownPolicy {
  int64_t version = 0;  // 0: none was ever applied
  std::string text;
};
KnownPolicy policy_of(const lang::Snapshot& snapshot);

std::set<std::string> labels_of(const lang::Snapshot& snapshot, const std::string& deployment);

}  // namespace sluice::deploy::views
