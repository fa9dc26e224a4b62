// What the concept Access keeps, and the labels of deployments, for whoever decides about a call.
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

struct KnownPolicy {
  int64_t version = 0;  // 0: none was ever applied
  std::string text;
};
KnownPolicy policy_of(const lang::Snapshot& snapshot);

std::set<std::string> labels_of(const lang::Snapshot& snapshot, const std::string& deployment);

}  // namespace sluice::deploy::views
