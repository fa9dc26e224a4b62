// Authority decides, for every door, who calls and what they may do and see: the home's owner everything, everybody
// else what the access policy gives them (deploy/access_policy.h). The engine asks it before it runs a call from
// outside; VisibleStore asks it before it shows a row.
//
//   auto caller = authority.authenticate("slt_01K…_…");
//   auto may = authority.may(*caller, "Traffic/set", {{"deployment", "01K…"}});
//
// What an argument belongs to is read by the ways of suite.yaml's `scope:`, from committed state. Any thread may ask.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "deploy/access_policy.h"
#include "deploy/views/access.h"
#include "engine/journal/step.h"
#include "host/issuer_keys.h"
#include "lang/check/check.h"
#include "store/blob_store.h"
#include "store/store.h"

namespace sluice::host {

inline constexpr std::string_view kTokenPrefix = "slt_";
inline constexpr std::string_view kSessionPrefix = "sls_";

// The text of a token, and the digest under which Access/issue keeps its secret.
std::string token_text(std::string_view id, std::string_view secret);
std::string secret_digest(std::string_view secret);

// The same of a session, which a browser keeps as a cookie; and what its pages send along with every change, which no
// page of another origin can know.
std::string session_text(std::string_view id, std::string_view secret);
std::string csrf_of(std::string_view session_text);

// Somebody who has logged in.
struct LoggedIn {
  engine::Caller caller;
  std::string session;  // its id
  int64_t expires_ms = 0;
};

struct AuthorityParts {
  store::Store* store = nullptr;
  store::BlobStore* blobs = nullptr;
  const Clock* clock = nullptr;
  std::string owner;  // "uid:1000"
  std::shared_ptr<const lang::CheckedKit> kit;
};

class Authority {
 public:
  // What the parts lead to must outlive it.
  explicit Authority(AuthorityParts parts) : parts_(std::move(parts)) {}

  // Who has this token, one of Access or of an OpenID issuer that the policy trusts; `unauthenticated` says no more
  // than that it does not hold.
  Result<engine::Caller> authenticate(std::string_view token);
  // With whom people log in, as the policy says; none: with nobody.
  std::optional<deploy::TrustedIssuer> issuer_of_people() const;
  // The person whom a token of that issuer stands for, which must have this nonce.
  Result<engine::Caller> authenticate_person(std::string_view token, const std::string& nonce);
  // What names them in a session, which lasts longer than the token; empty: they did not come by one.
  static std::string person_until(const engine::Caller& caller, int64_t until_ms);
  // Who has logged in with this cookie; likewise.
  Result<LoggedIn> authenticate_session(std::string_view text);
  // Whom a client's certificate, which holds, stands for by the policy; `chain_pem` begins with it.
  Result<engine::Caller> authenticate_certificate(const std::string& chain_pem) const;
  // Whether the session, and the token that it was opened with, have not ended.
  bool holds_session(const std::string& session) const;
  // When a token ends, if it does by itself.
  std::optional<int64_t> end_of_token(const std::string& token) const;
  // What names the owner's token of this process in sessions that were opened with it; empty: it is none.
  std::string run_of(std::string_view token) const;
  // A token of this process alone, which stands for the home's owner.
  void trust_owner_token(std::string_view token);
  // The tokens that were used since this was asked last.
  std::set<std::string> take_used();
  std::set<std::string> take_used_sessions();

  // `denied`, with the reason.
  Result<void> may(const engine::Caller& who, const std::string& action, const json::object& input) const;
  deploy::AccessVerdict judge(const engine::Caller& who, const std::string& action, const json::object& input) const;
  // The same for a right that belongs to no action.
  Result<void> may_globally(const engine::Caller& who, std::string_view right, const std::string& what) const;
  deploy::AccessVerdict judge(const engine::Caller& who, const deploy::Wanted& wanted) const;
  // Whether they have this right, for `what`, where a call with these arguments would be.
  deploy::AccessVerdict judge_right(const engine::Caller& who, std::string_view right, std::string_view what,
                                    const std::string& action, const json::object& input) const;
  // The environments that a call with these arguments is about.
  std::vector<std::string> environments_of(const std::string& action, const json::object& fields) const;
  // What the policy wants others to agree to before such a call; none for those whom no policy binds.
  struct Needed {
    int64_t people = 1;
    int64_t seconds = 0;
    std::string environment;  // empty: it belongs to none
  };
  std::optional<Needed> approval_for(const engine::Caller& who, const std::string& action,
                                     const json::object& input) const;
  // Whether the policy wants such a call to say which generation of its row it has seen.
  bool demands_precondition(const engine::Caller& who, const std::string& action, const json::object& input) const;
  // Whether it wants such a call to say why.
  bool demands_reason(const engine::Caller& who, const std::string& action, const json::object& input) const;
  bool demands_reason(const engine::Caller& who, const deploy::Wanted& wanted) const;
  // The right that the action needs; `not_found` names the one that was probably meant.
  Result<std::string> right_of(const std::string& action) const;
  // What the policy says of them, in its order.
  std::vector<deploy::AccessGrant> grants_of(const engine::Caller& who) const;
  // Whether they still are who they were when they came in.
  bool holds(const engine::Caller& who) const;
  // Whether nothing is hidden from them.
  bool is_unbound(const engine::Caller& who) const;

  const std::string& owner() const { return parts_.owner; }
  const Clock& clock() const { return *parts_.clock; }

 private:
  friend class Sight;
  std::shared_ptr<const deploy::AccessPolicy> policy(store::Snapshot& snapshot) const;
  Result<engine::Caller> authenticate_issued(std::string_view token, const std::string& nonce = {});
  Result<deploy::views::KnownSession> good_session(const std::string& id) const;
  Result<deploy::Identity> identity(const engine::Caller& who, store::Snapshot& snapshot) const;
  deploy::AccessVerdict judge_put(const engine::Caller& who, store::Snapshot& snapshot) const;
  deploy::Wanted wanted(store::Snapshot& snapshot, const std::string& action, const json::object& input) const;
  deploy::Wanted wanted_to_decide(store::Snapshot& snapshot, const json::object& input) const;
  bool follow(store::Snapshot& snapshot, const std::vector<std::string>& way, std::string value,
              deploy::Wanted& into) const;

  AuthorityParts parts_;
  IssuerKeys issuers_{*parts_.clock};
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const deploy::AccessPolicy> policy_;
  mutable uint64_t policy_generation_ = 0;  // of the row that it was made from
  std::set<std::string> owner_digests_;
  std::set<std::string> used_, used_sessions_;
};

// What one caller sees of one moment. One thread at a time; the snapshot must outlive it.
class Sight {
 public:
  Sight(const Authority& authority, const engine::Caller& who, store::Snapshot& all);

  bool sees_row(store::Snapshot& all, std::string_view relation, std::string_view key);
  bool sees_flow(store::Snapshot& all, const Ulid& flow);
  // Of a flow that they see; what belongs to no flow is for admins.
  bool sees_step(store::Snapshot& all, const store::JournalRow& row);

 private:
  // Whether the policy lets them view such a thing.
  bool sees(const deploy::Wanted& wanted) const { return policy_ && policy_->judge(identity_, wanted).allowed; }

  const Authority& authority_;
  std::string name_;
  deploy::Identity identity_;
  std::shared_ptr<const deploy::AccessPolicy> policy_;  // null: they see nothing
  bool everywhere_ = false, admin_ = false;
  std::unordered_map<std::string, bool> rows_;  // by way and key
  std::unordered_map<std::string, bool> flows_;
};

}  // namespace sluice::host
