// Rows as they are.
#include "deploy/views/access.h"

#include "access.gen.h"
#include "deploy/views/states.h"
#include "deployment.gen.h"
#include "session.gen.h"

namespace sluice::deploy::views {

std::optional<KnownToken> token_of(const lang::Snapshot& snapshot, const std::string& id) {
  States states(snapshot);
  const access::AccessId token(id);
  auto record = states.access().get(token);
  if (!record) return std::nullopt;
  KnownToken known{.name = record->name,
                   .digest = record->digest,
                   .identity = {.subject = record->subject, .only_in = states.access().environments(token).values()},
                   .revoked = record->revoked.has_value()};
  if (record->role) known.identity.at_most = role_named(*record->role);
  if (record->expires) known.expires_ms = record->expires->ms;
  return known;
}

std::optional<KnownSession> session_of(const lang::Snapshot& snapshot, const std::string& id) {
  auto record = States(snapshot).session().get(session::SessionId(id));
  if (!record) return std::nullopt;
  return KnownSession{.subject = record->subject,
                      .digest = record->digest,
                      .token = record->token.value_or(""),
                      .run = record->run.value_or(""),
                      .expires_ms = record->expires.ms,
                      .ended = record->ended.has_value()};
}

KnownPolicy policy_of(const lang::Snapshot& snapshot) {
  const auto whole = States(snapshot).access().whole();
  return {whole.version, whole.policy};
}

std::set<std::string> labels_of(const lang::Snapshot& snapshot, const std::string& deployment) {
  States states(snapshot);
  std::set<std::string> labels;
  for (const std::string& each : states.deployment().labels(deployment::DeploymentId(deployment)).values()) {
    labels.insert(each);
  }
  return labels;
}

}  // namespace sluice::deploy::views
