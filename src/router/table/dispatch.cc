// Steps in the order of the document; the first that applies decides.
#include "router/table/dispatch.h"

#include <algorithm>

#include "base/ascii.h"
#include "router/debug_token.h"
#include "router/table/points.h"

namespace sluice::router {
namespace {

constexpr int kTokensVerifiedPerSecond = 200;
constexpr size_t kTokensSeen = 64;
constexpr int64_t kTokenBelieved_s = 60;
constexpr size_t kMaxHost = 255;
constexpr size_t kMaxSessionKey = 512;

// How much of a path that this route's prefix covers is stripped.
uint32_t stripped_from(const RoutesDocument& routes, std::string_view prefix) {
  if (!routes.strip_prefixes) return 0;
  const bool is_stripped = std::ranges::find(*routes.strip_prefixes, prefix) != routes.strip_prefixes->end();
  return is_stripped ? static_cast<uint32_t>(prefix.size()) : 0;
}

// Whether this caller may ask for what the deployment has; else what it is told.
bool admits(const Deployment& deployment, const Caller& caller, Dispatched& done) {
  if (caller.secure) {
    if (stamp_of(deployment.client_rule) == caller.client_rule) return true;
    done.outcome = Outcome::misdirected;
    return false;
  }
  if (!deployment.client_rule || !deployment.client_rule->required()) return true;
  done.outcome = Outcome::denied;
  done.why = "the deployment is for clients that show a certificate, over TLS";
  return false;
}

// What is wrong with that revision for somebody who has asked for it; empty: nothing.
const char* fault_of(const Revision* revision) {
  if (revision == nullptr) return "the deployment has no such revision that runs";
  return revision->draining() ? "the revision is draining" : "";
}

}  // namespace

std::string_view reason_name(Reason reason) {
  switch (reason) {
    case Reason::token:
      return "token";
    case Reason::caller:
      return "caller";
    case Reason::cookie:
      return "cookie";
    case Reason::pin:
      return "pin";
    case Reason::bucket:
      return "bucket";
    case Reason::weight:
      return "weight";
    case Reason::none:
      break;
  }
  return "";
}

Dispatched Dispatcher::dispatch(const Table& table, const RequestHead& head, const Caller& caller, const Moment& now,
                                bool may_ask) {
  if (head.headers.has(Field::sluice_token)) return by_token(table, head, caller, now);
  Dispatched done;
  char host[kMaxHost];
  size_t size = head.host.size() <= kMaxHost ? head.host.size() : 0;
  for (size_t i = 0; i < size; ++i) {
    char c = head.host[i];
    host[i] = is_upper(c) ? static_cast<char>(c | 0x20) : c;
  }
  RouteQuery query{.host = {host, size}, .path = head.path};
  if (caller.trusted) {
    if (head.headers.has(Field::sluice_tenant)) query.tenant = head.headers.value_of(Field::sluice_tenant);
    if (head.headers.has(Field::sluice_team)) query.team = head.headers.value_of(Field::sluice_team);
  }
  Found found = table.find(query);
  if (found.deployment == nullptr) return done;
  done.deployment = found.deployment;
  done.prefix = found.prefix;
  done.strip = stripped_from(found.deployment->routes, found.prefix);
  bool secure = caller.secure;
  // Who stands before the router may have taken the TLS away.
  if (caller.trusted && head.headers.has(Field::x_forwarded_proto)) {
    secure = head.headers.value_of(Field::x_forwarded_proto) == "https";
  }
  if (found.deployment->redirect && !secure) {
    done.outcome = Outcome::redirected;
  } else if (!admits(*found.deployment, caller, done) || by_caller(head, caller, done)) {
    // It is decided.
  } else if (found.deployment->paused) {
    done.outcome = Outcome::paused;
  } else if (found.deployment->memory->held_until_ms.load(std::memory_order_relaxed) > now.monotonic_ms) {
    done.outcome = Outcome::held;
  } else {
    choose(*table.settings, head, now, may_ask, done);
  }
  return done;
}

// -------------------------------------------------------------------------------------------------------------- token

const Dispatcher::SeenToken* Dispatcher::believed_token(const TableSettings& settings, std::string_view text,
                                                        const Moment& now, const char*& why) {
  // With the stamp, so that a token of a key that is no longer in the table is not believed.
  uint64_t hash = keyed_hash({token_key_.first ^ settings.stamp, token_key_.second}, text);
  for (const SeenToken& seen : tokens_) {
    if (seen.hash == hash && seen.until_s > now.wall_s) return &seen;
  }
  if (tokens_second_ != now.wall_s) {
    tokens_second_ = now.wall_s;
    tokens_verified_ = 0;
  }
  if (++tokens_verified_ > kTokensVerifiedPerSecond) {
    why = "too many debug tokens came in this second; try again";
    return nullptr;
  }
  auto token = read_debug_token(text, settings.debug_keys);
  if (!token) {
    token_fault_ = token.error().message;
    why = token_fault_.c_str();
  } else if (token->environment != settings.environment) {
    why = "the debug token is for another environment";
  } else if (token->expires_s <= now.wall_s) {
    why = "the debug token has expired";
  } else {
    if (tokens_.size() == kTokensSeen) tokens_.erase(tokens_.begin());
    tokens_.push_back({hash, std::min(token->expires_s, now.wall_s + kTokenBelieved_s), std::move(token->deployment),
                       std::move(token->revision)});
    return &tokens_.back();
  }
  return nullptr;
}

// Whoever sends a token wants that revision and no other: an answer of another would pass for its answer.
Dispatched Dispatcher::by_token(const Table& table, const RequestHead& head, const Caller& caller, const Moment& now) {
  Dispatched done{.outcome = Outcome::denied};
  if (!head.headers.has(Field::sluice_deployment) || !head.headers.has(Field::sluice_revision)) {
    done.why = "a debug token needs X-Sluice-Deployment and X-Sluice-Revision beside it";
    return done;
  }
  std::string_view deployment = head.headers.value_of(Field::sluice_deployment);
  std::string_view revision = head.headers.value_of(Field::sluice_revision);
  const SeenToken* token = believed_token(*table.settings, head.headers.value_of(Field::sluice_token), now, done.why);
  if (token == nullptr) return done;
  const auto* found = table.named(deployment);
  const Revision* pinned = found != nullptr ? (*found)->named(revision) : nullptr;
  if (token->deployment != deployment) {
    done.why = "the debug token is for another deployment";
  } else if (token->revision != "*" && token->revision != revision) {
    done.why = "the debug token is for another revision";
  } else if (*fault_of(pinned) != '\0') {
    done.why = fault_of(pinned);
  } else if (admits(**found, caller, done)) {
    done = {.outcome = Outcome::routed,
            .reason = Reason::token,
            .deployment = found->get(),
            .revision = pinned,
            .prefix = "/"};
    // By token no route was looked for; its own are, for what the application is to see of the path.
    std::string_view longest;
    for (const std::string& prefix : done.deployment->routes.path_prefixes) {
      const bool covers =
          head.path.starts_with(prefix) && (head.path.size() == prefix.size() || head.path[prefix.size()] == '/');
      if (covers && prefix.size() > longest.size()) longest = prefix;
    }
    done.strip = stripped_from(done.deployment->routes, longest);
  }
  return done;
}

// ------------------------------------------------------------------------------------------------------------- caller

// A client that the deployment trusts, by its certificate, may say which revision it wants, also one without weight.
bool Dispatcher::by_caller(const RequestHead& head, const Caller& caller, Dispatched& done) {
  if (caller.client_id.empty() || !head.headers.has(Field::sluice_revision)) return false;
  const Deployment& deployment = *done.deployment;
  if (std::ranges::find(deployment.trusted_callers, caller.client_id) == deployment.trusted_callers.end()) return false;
  const Revision* wanted = deployment.named(head.headers.value_of(Field::sluice_revision));
  done.outcome = Outcome::denied;
  if (!head.headers.has(Field::sluice_deployment)) {
    done.why = "X-Sluice-Revision needs X-Sluice-Deployment beside it";
  } else if (head.headers.value_of(Field::sluice_deployment) != deployment.id) {
    done.why = "the deployment of this host and path is another than X-Sluice-Deployment";
  } else if (*fault_of(wanted) != '\0') {
    done.why = fault_of(wanted);
  } else {
    done.outcome = Outcome::routed;
    done.reason = Reason::caller;
    done.revision = wanted;
  }
  return true;
}

// ------------------------------------------------------------------------------------------------------------- choice

std::string_view Dispatcher::session_key(const Deployment& deployment, const RequestHead& head) const {
  std::string_view key;
  if (!deployment.key_header.empty()) {
    for (uint32_t i = 0; i < head.headers.count; ++i) {
      const HeaderLine& line = head.headers.lines[i];
      if (equal_ignoring_case(line.name, deployment.key_header)) {
        key = line.value;
        break;
      }
    }
  } else if (!deployment.key_cookie.empty() && head.headers.has(Field::cookie)) {
    for (uint32_t i = 0; i < head.headers.count && key.empty(); ++i) {
      const HeaderLine& line = head.headers.lines[i];
      if (line.field == Field::cookie) key = cookie_named(line.value, deployment.key_cookie).value_or("");
    }
  }
  return key.substr(0, kMaxSessionKey);
}

bool Dispatcher::by_cookie(const TableSettings& settings, const RequestHead& head, const Moment& now,
                           Dispatched& done) {
  const Deployment& deployment = *done.deployment;
  for (uint32_t i = 0; i < head.headers.count; ++i) {
    const HeaderLine& line = head.headers.lines[i];
    if (line.field != Field::cookie) continue;
    auto value = cookie_named(line.value, deployment.cookie_name);
    if (!value) continue;
    auto claim = cookies_.verify(settings, deployment, *value, now.wall_s);
    if (!claim) continue;
    const Revision* revision = claim->revision;
    if (deployment.mode == StickyMode::bucket) revision = deployment.at_point(claim->bucket);
    if (revision == nullptr || !revision->serves()) continue;
    done.outcome = Outcome::routed;
    done.reason = deployment.mode == StickyMode::bucket ? Reason::bucket : Reason::cookie;
    done.revision = revision;
    done.bucket = claim->bucket;
    done.issue_cookie = claim->renew;
    return true;
  }
  return false;
}

void Dispatcher::choose(const TableSettings& settings, const RequestHead& head, const Moment& now, bool may_ask,
                        Dispatched& done) {
  const Deployment& deployment = *done.deployment;
  std::string_view session = deployment.mode == StickyMode::none ? std::string_view() : session_key(deployment, head);
  if (deployment.mode == StickyMode::bucket && !session.empty()) {
    done.revision = deployment.at_point(point_of_key(deployment.id, session));
    done.reason = Reason::bucket;
  } else {
    if (deployment.mode != StickyMode::none && head.headers.has(Field::cookie) &&
        by_cookie(settings, head, now, done)) {
      return;
    }
    if (!session.empty() && deployment.memory->pins) {
      done.session = session;
      if (auto pin = deployment.memory->pins->find(session, static_cast<uint32_t>(now.wall_s), deployment.ttl_s)) {
        for (const Revision& revision : deployment.revisions) {
          if (revision.memory->number != pin->revision || !revision.serves()) continue;
          done.revision = &revision;
          done.reason = Reason::pin;
          done.renew_pin = pin->renew;
        }
      }
      if (done.revision == nullptr && may_ask) {
        done.outcome = Outcome::asks;
        return;
      }
    }
    if (done.revision == nullptr) {
      done.bucket = sequence_point(deployment.memory->sequence.fetch_add(1, std::memory_order_relaxed));
      done.revision = deployment.at_point(done.bucket);
      done.reason = Reason::weight;
    }
    done.issue_cookie = deployment.mode != StickyMode::none && !settings.cookie_keys.empty();
  }
  // One that was told to drain and still has weight: the next patch will say so, too.
  if (done.revision != nullptr && !done.revision->serves()) {
    done.revision = another(deployment, [](const Revision&) { return true; });
  }
  done.outcome = done.revision != nullptr ? Outcome::routed : Outcome::no_revision;
  if (done.outcome == Outcome::routed && !done.session.empty() && done.reason == Reason::weight) {
    deployment.memory->pins->put(done.session, done.revision->memory->number, static_cast<uint32_t>(now.wall_s));
    done.new_pin = true;
  }
}

}  // namespace sluice::router
