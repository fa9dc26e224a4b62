// The policy is read again when its row has changed. A check is one look at that row, one at the token's, and one for
// each arrow of the argument's way.
#include "host/authority.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

#include "base/json.h"
#include "crypto/sha256.h"
#include "crypto/x509.h"
#include "engine/committed_rows.h"
#include "engine/journal/history.h"
#include "engine/journal/record_reader.h"
#include "host/engine_door.h"
#include "host/observing.h"
#include "host/visible_store.h"
#include "http/message.h"
#include "lang/check/relations.h"

namespace sluice::host {
namespace {

constexpr std::string_view kPut = "put";  // as the engine calls it
constexpr std::string_view kPolicyRelation = "Access[]";
constexpr std::string_view kLabelled = "Deployment";
constexpr size_t kMaxTokenBytes = 256;
// What stands in the place of a token's id for those who came by a certificate.
constexpr std::string_view kByCertificate = "x509:";
// And for those who came by a token of an issuer: "oidc:1800000000 https://ci.example repo:shop/app".
constexpr std::string_view kByIssuer = "oidc:";
// And for people who came by one: "sso:1800000000 https://people.example release,shop%20team", with their groups.
constexpr std::string_view kByPerson = "sso:";
constexpr int64_t kLeewayOfIssuer_s = 60;
constexpr size_t kMaxSubjectBytes = 255;
constexpr size_t kMostGroups = 100;

// Their name and their groups, as claims of a token that holds.
Result<std::pair<std::string, std::string>> person_in(const json::object& claims,
                                                      const deploy::PeopleOfIssuer& people) {
  const json::value* name = claims.if_contains(people.name);
  const std::string text = name != nullptr && name->is_string() ? std::string(name->get_string()) : "";
  const json::value* verified = claims.if_contains("email_verified");
  const bool doubtful = people.name == "email" && verified != nullptr && *verified != json::value(true);
  if (text.empty() || text.size() > kMaxSubjectBytes || doubtful || !deploy::check_subject("user:" + text)) {
    return Error{.code = Code::unauthenticated,
                 .message = "the token does not say who it is in " + people.name,
                 .next = "an admin looks at people: of the policy"};
  }
  std::string groups;
  const json::value* all = claims.if_contains(people.groups);
  size_t count = 0;
  for (const json::value& each : all != nullptr && all->is_array() ? all->get_array() : json::array()) {
    if (!each.is_string() || each.get_string().empty() || count++ >= kMostGroups) continue;
    groups += (groups.empty() ? "" : ",") + http::percent_encoded(std::string_view(each.get_string()));
  }
  return std::pair("user:" + text, groups);
}

// Calls with the rows of a snapshot that somebody else keeps.
template <class Use>
Result<void> with_rows(store::Snapshot& snapshot, const AuthorityParts& parts, const Use& use) {
  try {
    engine::CommittedRows rows(std::make_unique<BorrowedSnapshot>(snapshot), parts.blobs,
                               std::make_shared<engine::IndexedFields>(), parts.clock->wall_ms());
    use(static_cast<const lang::Snapshot&>(rows));
  } catch (const engine::UnreadableStore& unreadable) {
    return unreadable.error;
  }
  return {};
}

// In a time that does not depend on where they differ.
bool is_same(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  unsigned differ = 0;
  for (size_t i = 0; i < one.size(); ++i) differ |= static_cast<unsigned char>(one[i] ^ other[i]);
  return differ == 0;
}

Error not_known() {
  return {.code = Code::unauthenticated,
          .message = "the token does not hold: it is unknown, expired or revoked",
          .next = "sluice login URL with a token that holds"};
}

Error not_logged_in() {
  return {.code = Code::unauthenticated, .message = "the session is over: log in again", .next = "POST /v1/login"};
}

// Enough of a digest to tell one run of the server from another.
std::string run_name(const std::string& digest) { return digest.substr(0, digest.find(':') + 17); }

Error refusal(const engine::Caller& who, const std::string& what, const std::string& why) {
  // No policy speaks of other users of this machine.
  if (who.token.empty() && who.name.starts_with("uid:")) {
    return {.code = Code::denied,
            .message = who.name + " may not " + what,
            .next = "ask the owner of this home, who is its admin"};
  }
  return {.code = Code::denied,
          .message = who.name + " may not " + what + ": " + why,
          .next = "ask an admin; sluice access can says what you may do"};
}

bool is_good(const deploy::views::KnownToken& token, int64_t now_ms) {
  return !token.revoked && (!token.expires_ms || now_ms < *token.expires_ms);
}

std::string concept_of(std::string_view relation) {
  return std::string(relation.substr(0, relation.find_first_of(".[")));
}

// The first step of a flow, or of the one that it follows from; none if there is no such flow.
std::optional<engine::Step> root_of(store::Snapshot& snapshot, Ulid flow) {
  auto row = snapshot.flow(flow);
  while (row && *row) {
    auto parent = Ulid::parse(engine::summary_text(**row, "parent"));
    if (!parent) break;
    row = snapshot.flow(*parent);
  }
  if (!row || !*row) return std::nullopt;
  std::optional<store::JournalRow> first;
  for (uint64_t seq = (*row)->head; seq != 0;) {
    auto entry = snapshot.journal(seq);
    if (!entry || !*entry) return std::nullopt;
    first = **entry;
    seq = first->prev;
  }
  if (!first) return std::nullopt;
  engine::RecordReader records(snapshot);
  auto record = records.read(*first);
  auto step = record ? engine::read_step(*record) : Result<engine::Step>(record.error());
  if (!step) return std::nullopt;
  return *std::move(step);
}

}  // namespace

std::string token_text(std::string_view id, std::string_view secret) {
  return std::string(kTokenPrefix) + std::string(id) + "_" + std::string(secret);
}

std::string session_text(std::string_view id, std::string_view secret) {
  return std::string(kSessionPrefix) + std::string(id) + "_" + std::string(secret);
}

std::string csrf_of(std::string_view session_text) { return secret_digest("csrf " + std::string(session_text)); }

std::string secret_digest(std::string_view secret) { return crypto::to_string(crypto::sha256(secret)); }

// The token's id is in it, so that a check reads one row; everything that is wrong looks the same from outside.
Result<engine::Caller> Authority::authenticate(std::string_view token) {
  const std::string whole = secret_digest(token);
  {
    std::lock_guard lock(mutex_);
    for (const std::string& each : owner_digests_) {
      if (is_same(each, whole)) return engine::Caller{.name = parts_.owner};
    }
  }
  if (!token.starts_with(kTokenPrefix) && crypto::looks_like_jwt(token)) return authenticate_issued(token);
  const size_t middle = token.find('_', kTokenPrefix.size());
  if (token.size() > kMaxTokenBytes || !token.starts_with(kTokenPrefix) || middle == std::string_view::npos) {
    return not_known();
  }
  const std::string id(token.substr(kTokenPrefix.size(), middle - kTokenPrefix.size()));
  auto snapshot = parts_.store->read();
  if (!snapshot) return snapshot.error();
  std::optional<deploy::views::KnownToken> known;
  if (auto read = with_rows(**snapshot, parts_, [&](const auto& rows) { known = deploy::views::token_of(rows, id); });
      !read) {
    return read.error();
  }
  const std::string digest = secret_digest(token.substr(middle + 1));
  if (!is_same(known ? known->digest : whole, digest) || !known || !is_good(*known, parts_.clock->wall_ms())) {
    return not_known();
  }
  std::lock_guard lock(mutex_);
  used_.insert(id);
  return engine::Caller{.name = known->identity.subject, .token = id};
}

// Whatever is wrong with it looks the same from outside.
Result<LoggedIn> Authority::authenticate_session(std::string_view text) {
  const size_t middle = text.find('_', kSessionPrefix.size());
  if (text.size() > kMaxTokenBytes || !text.starts_with(kSessionPrefix) || middle == std::string_view::npos) {
    return not_logged_in();
  }
  const std::string id(text.substr(kSessionPrefix.size(), middle - kSessionPrefix.size()));
  auto known = good_session(id);
  if (!known && known.error().code != Code::unauthenticated) return known.error();
  const std::string digest = secret_digest(text.substr(middle + 1));
  if (!is_same(known ? known->digest : secret_digest(text), digest) || !known) return not_logged_in();
  std::lock_guard lock(mutex_);
  used_sessions_.insert(id);
  return LoggedIn{
      .caller = {.name = known->subject, .token = known->token}, .session = id, .expires_ms = known->expires_ms};
}

Result<deploy::views::KnownSession> Authority::good_session(const std::string& id) const {
  auto snapshot = parts_.store->read();
  if (!snapshot) return snapshot.error();
  std::optional<deploy::views::KnownSession> known;
  std::optional<deploy::views::KnownToken> token;
  auto read = with_rows(**snapshot, parts_, [&](const auto& rows) {
    known = deploy::views::session_of(rows, id);
    if (known && !known->token.empty() && !known->token.starts_with(kByPerson))
      token = deploy::views::token_of(rows, known->token);
  });
  if (!read) return read.error();
  const int64_t now_ms = parts_.clock->wall_ms();
  if (!known || known->ended || now_ms >= known->expires_ms) return not_logged_in();
  if (known->token.empty()) {
    // Only the home's owner logs in without a token.
    std::lock_guard lock(mutex_);
    const bool runs = known->run.empty() || std::ranges::any_of(owner_digests_, [&](const std::string& each) {
                        return run_name(each) == known->run;
                      });
    if (known->subject != parts_.owner || !runs) return not_logged_in();
  } else if (known->token.starts_with(kByPerson)) {
    if (!identity({.name = known->subject, .token = known->token}, **snapshot)) return not_logged_in();
  } else if (!token || !is_good(*token, now_ms) || token->identity.subject != known->subject) {
    return not_logged_in();
  }
  return *std::move(known);
}

std::optional<deploy::TrustedIssuer> Authority::issuer_of_people() const {
  auto snapshot = parts_.store->read();
  if (!snapshot) return std::nullopt;
  auto policy_now = policy(**snapshot);
  const deploy::TrustedIssuer* issuer = policy_now->issuer_of_people();
  return issuer != nullptr ? std::optional(*issuer) : std::nullopt;
}

Result<engine::Caller> Authority::authenticate_person(std::string_view token, const std::string& nonce) {
  auto caller = authenticate_issued(token, nonce);
  if (!caller || caller->token.starts_with(kByPerson)) return caller;
  return not_known();
}

std::string Authority::person_until(const engine::Caller& caller, int64_t until_ms) {
  const size_t after = caller.token.find(' ');
  if (!caller.token.starts_with(kByPerson) || after == std::string::npos) return "";
  return std::string(kByPerson) + std::to_string(until_ms / 1000) + caller.token.substr(after);
}

// Which service or person it is, the policy says; the journal has issuer and subject in the place of a token's id.
Result<engine::Caller> Authority::authenticate_issued(std::string_view token, const std::string& nonce) {
  auto hints = crypto::jwt_hints(token);
  if (!hints) return not_known();
  std::shared_ptr<const deploy::AccessPolicy> policy_now;
  {
    auto snapshot = parts_.store->read();
    if (!snapshot) return snapshot.error();
    policy_now = policy(**snapshot);
  }
  const deploy::TrustedIssuer* issuer = policy_now->issuer_named(hints->issuer);
  if (issuer == nullptr) return not_known();
  auto keys = issuers_.keys_of(issuer->issuer, hints->key_id);
  if (!keys) {
    return Error{.code = Code::unauthenticated,
                 .message = "the keys of " + issuer->issuer + " cannot be read: " + keys.error().message};
  }
  const int64_t now_ms = parts_.clock->wall_ms();
  auto claims = crypto::verify_jwt(
      token, *keys, {.issuer = issuer->issuer, .audience = issuer->audience, .now_ms = now_ms, .nonce = nonce});
  if (!claims) return Error{.code = Code::unauthenticated, .message = claims.error().message};
  const json::value* said = claims->if_contains("sub");
  const std::string subject = said != nullptr && said->is_string() ? std::string(said->get_string()) : "";
  const std::string service =
      subject.empty() || subject.size() > kMaxSubjectBytes ? "" : policy_now->service_of(issuer->issuer, subject);
  if (service.empty() && !issuer->people) {
    return Error{.code = Code::unauthenticated,
                 .message = "the access policy binds no service to the token's subject",
                 .next = "an admin adds it to issuers: of the policy"};
  }
  const json::value& ends = claims->at("exp");
  const int64_t until_s = ends.is_int64()    ? ends.get_int64()
                          : ends.is_uint64() ? static_cast<int64_t>(ends.get_uint64())
                                             : static_cast<int64_t>(ends.get_double());
  if (service.empty()) {
    auto person = person_in(*claims, *issuer->people);
    if (!person) return person.error();
    return engine::Caller{
        .name = person->first,
        .token = std::string(kByPerson) + std::to_string(until_s) + " " + issuer->issuer + " " + person->second};
  }
  return engine::Caller{
      .name = service,
      .token = std::string(kByIssuer) + std::to_string(until_s) + " " + issuer->issuer + " " + subject};
}

// By its SPIFFE ID if it has one, else by its subject.
Result<engine::Caller> Authority::authenticate_certificate(const std::string& chain_pem) const {
  auto facts = crypto::read_certificates(chain_pem);
  if (!facts) return facts.error();
  std::string name = facts->front().subject;
  for (const std::string& each : facts->front().uris) {
    if (each.starts_with("spiffe://")) name = each;
  }
  auto snapshot = parts_.store->read();
  if (!snapshot) return snapshot.error();
  const std::string subject = policy(**snapshot)->certified(name);
  if (subject.empty()) {
    return Error{.code = Code::unauthenticated,
                 .message = "the access policy knows nobody by the certificate of " + name,
                 .next = "an admin adds it to certificates: of the policy"};
  }
  return engine::Caller{.name = subject, .token = std::string(kByCertificate) + name};
}

bool Authority::holds_session(const std::string& session) const { return good_session(session).has_value(); }

std::optional<int64_t> Authority::end_of_token(const std::string& token) const {
  auto snapshot = parts_.store->read();
  std::optional<deploy::views::KnownToken> known;
  if (snapshot) {
    (void)with_rows(**snapshot, parts_, [&](const auto& rows) { known = deploy::views::token_of(rows, token); });
  }
  return known ? known->expires_ms : std::nullopt;
}

std::string Authority::run_of(std::string_view token) const {
  const std::string digest = secret_digest(token);
  std::lock_guard lock(mutex_);
  return owner_digests_.contains(digest) ? run_name(digest) : "";
}

std::set<std::string> Authority::take_used_sessions() {
  std::lock_guard lock(mutex_);
  return std::exchange(used_sessions_, {});
}

void Authority::trust_owner_token(std::string_view token) {
  std::lock_guard lock(mutex_);
  owner_digests_.insert(secret_digest(token));
}

std::set<std::string> Authority::take_used() {
  std::lock_guard lock(mutex_);
  return std::exchange(used_, {});
}

std::shared_ptr<const deploy::AccessPolicy> Authority::policy(store::Snapshot& snapshot) const {
  auto row = snapshot.get(kPolicyRelation, lang::kWholeKey);
  const uint64_t generation = row && *row ? (*row)->generation : 0;
  std::lock_guard lock(mutex_);
  if (policy_ && generation == policy_generation_) return policy_;
  deploy::AccessPolicy read;
  deploy::views::KnownPolicy known;
  auto done = with_rows(snapshot, parts_, [&](const auto& rows) { known = deploy::views::policy_of(rows); });
  // One that cannot be read gives nobody anything.
  if (auto parsed = done && known.version > 0 ? deploy::AccessPolicy::parse(known.text) : read) {
    read = *std::move(parsed);
  }
  policy_ = std::make_shared<const deploy::AccessPolicy>(std::move(read));
  policy_generation_ = generation;
  return policy_;
}

// A token may have ended since its caller came in by it.
Result<deploy::Identity> Authority::identity(const engine::Caller& who, store::Snapshot& snapshot) const {
  if (who.token.empty()) return deploy::Identity{.subject = who.name};
  if (who.token.starts_with(kByCertificate)) {
    if (policy(snapshot)->certified(who.token.substr(kByCertificate.size())) != who.name) return not_known();
    return deploy::Identity{.subject = who.name};
  }
  if (who.token.starts_with(kByPerson)) {
    auto policy_now = policy(snapshot);
    const std::string known_by = who.token.substr(kByPerson.size());
    const size_t first = known_by.find(' '), second = known_by.find(' ', first + 1);
    if (second == std::string::npos) return not_known();
    int64_t until_s = 0;
    std::from_chars(known_by.data(), known_by.data() + first, until_s);
    const deploy::TrustedIssuer* issuer = policy_now->issuer_named(known_by.substr(first + 1, second - first - 1));
    const bool ended = parts_.clock->wall_ms() >= (until_s + kLeewayOfIssuer_s) * 1000;
    if (ended || issuer == nullptr || !issuer->people) return not_known();
    deploy::Identity identity{.subject = who.name};
    for (std::string_view rest = std::string_view(known_by).substr(second + 1); !rest.empty();) {
      const size_t end = std::min(rest.find(','), rest.size());
      auto group = http::percent_decoded(rest.substr(0, end));
      if (group) identity.groups.push_back("group:" + *group);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return identity;
  }
  if (who.token.starts_with(kByIssuer)) {
    const std::string known_by = who.token.substr(kByIssuer.size());
    const size_t first = known_by.find(' '), second = known_by.find(' ', first + 1);
    if (second == std::string::npos) return not_known();
    int64_t until_s = 0;
    std::from_chars(known_by.data(), known_by.data() + first, until_s);
    const std::string issuer = known_by.substr(first + 1, second - first - 1);
    const bool ended = parts_.clock->wall_ms() >= (until_s + kLeewayOfIssuer_s) * 1000;
    if (ended || policy(snapshot)->service_of(issuer, known_by.substr(second + 1)) != who.name) return not_known();
    return deploy::Identity{.subject = who.name};
  }
  std::optional<deploy::views::KnownToken> known;
  auto read = with_rows(snapshot, parts_, [&](const auto& rows) { known = deploy::views::token_of(rows, who.token); });
  if (!read) return read.error();
  if (!known || !is_good(*known, parts_.clock->wall_ms())) return not_known();
  return known->identity;
}

// Goes the way from a value to an environment; false: it leads nowhere.
bool Authority::follow(store::Snapshot& snapshot, const std::vector<std::string>& way, std::string value,
                       deploy::Wanted& into) const {
  for (size_t i = 1; i < way.size(); ++i) {
    const size_t dot = way[i].find('.');
    const std::string concept_ = way[i].substr(0, dot);
    auto row = snapshot.get(concept_, value);
    auto fields = row && *row ? parse_json((*row)->value) : Result<Document>(Error{});
    const json::value* field =
        fields && fields->root.is_object() ? fields->root.get_object().if_contains(way[i].substr(dot + 1)) : nullptr;
    if (field == nullptr || !field->is_string()) return false;
    if (concept_ == kLabelled) {
      (void)with_rows(snapshot, parts_, [&](const auto& rows) { into.labels = deploy::views::labels_of(rows, value); });
    }
    value = std::string(field->get_string());
  }
  into.environments.push_back(std::move(value));
  return true;
}

deploy::Wanted Authority::wanted(store::Snapshot& snapshot, const std::string& action,
                                 const json::object& input) const {
  if (action == "Flow/decide") return wanted_to_decide(snapshot, input);
  const lang::Symbols& symbols = parts_.kit->symbols();
  deploy::Wanted wanted{.action = action};
  auto ref = symbols.find_action(action);
  if (!ref) return wanted;
  const lang::ActionSymbol& symbol = symbols.action(*ref);
  wanted.right = symbol.right;
  for (const lang::KitScope& each : parts_.kit->kit().scopes) {
    if (each.scope.concept_ != symbols.concepts[ref->concept_].name) continue;
    const std::vector<std::string> way = each.scope.parts();
    auto first = lang::find_field(symbol.params, way[0]);
    if (!first) continue;
    // Another argument of the same type is about such a thing as well.
    const lang::TypeId type = symbols.types.present(symbol.params[*first].type);
    for (const lang::FieldSymbol& param : symbol.params) {
      const bool plain = symbols.types[type].kind == lang::Shape::Kind::string;  // every text has that type
      if (param.name != way[0] && (plain || symbols.types.present(param.type) != type)) continue;
      const json::value* value = input.if_contains(param.name);
      const bool absent = value == nullptr || value->is_null();
      if (absent && param.name != way[0]) continue;
      if (absent || !value->is_string() || !follow(snapshot, way, std::string(value->get_string()), wanted)) {
        wanted.environments.clear();
        wanted.labels.reset();
        return wanted;
      }
    }
    return wanted;
  }
  return wanted;
}

// To decide about a flow is to be where its first call is.
deploy::Wanted Authority::wanted_to_decide(store::Snapshot& snapshot, const json::object& input) const {
  const json::value* flow = input.if_contains("flow");
  auto id = Ulid::parse(flow != nullptr && flow->is_string() ? std::string(flow->get_string()) : "");
  auto root = id ? root_of(snapshot, *id) : std::nullopt;
  deploy::Wanted about =
      root ? wanted(snapshot, root->action, root->root ? root->root->input : json::object()) : deploy::Wanted();
  about.action = "Flow/decide";
  about.right = "operate";
  return about;
}

std::vector<std::string> Authority::environments_of(const std::string& action, const json::object& fields) const {
  auto snapshot = parts_.store->read();
  if (!snapshot) return {};
  deploy::Wanted found = wanted(**snapshot, action, fields);
  // How an action ended names what it has made: of Rollout/begin the rollout, though no argument does.
  const std::string concept_name = action.substr(0, action.find('/'));
  for (const lang::KitScope& each : parts_.kit->kit().scopes) {
    if (!found.environments.empty()) break;
    if (each.scope.concept_ != concept_name) continue;
    const std::vector<std::string> way = each.scope.parts();
    const json::value* value = fields.if_contains(way[0]);
    if (value != nullptr && value->is_string()) (void)follow(**snapshot, way, std::string(value->get_string()), found);
  }
  return std::move(found.environments);
}

bool Authority::demands_precondition(const engine::Caller& who, const std::string& action,
                                     const json::object& input) const {
  if (is_unbound(who)) return false;
  auto snapshot = parts_.store->read();
  return snapshot && policy(**snapshot)->demands_precondition(wanted(**snapshot, action, input));
}

bool Authority::demands_reason(const engine::Caller& who, const std::string& action, const json::object& input) const {
  auto snapshot = parts_.store->read();
  return snapshot && demands_reason(who, wanted(**snapshot, action, input));
}

bool Authority::demands_reason(const engine::Caller& who, const deploy::Wanted& wanted) const {
  if (is_unbound(who)) return false;
  auto snapshot = parts_.store->read();
  return snapshot && policy(**snapshot)->demands_reason(wanted);
}

std::optional<Authority::Needed> Authority::approval_for(const engine::Caller& who, const std::string& action,
                                                         const json::object& input) const {
  if (is_unbound(who)) return std::nullopt;
  auto snapshot = parts_.store->read();
  if (!snapshot) return std::nullopt;
  const deploy::Wanted about = wanted(**snapshot, action, input);
  auto policy_now = policy(**snapshot);
  const deploy::ApprovalRule* rule = policy_now->approval_for(about);
  if (rule == nullptr) return std::nullopt;
  return Needed{rule->needed, rule->hours * 3600, about.environments.empty() ? "" : about.environments.front()};
}

Result<std::string> Authority::right_of(const std::string& action) const {
  auto symbol = callable(*parts_.kit, action);
  if (!symbol) return symbol.error();
  return (*symbol)->right;
}

std::vector<deploy::AccessGrant> Authority::grants_of(const engine::Caller& who) const {
  std::vector<deploy::AccessGrant> grants;
  auto snapshot = parts_.store->read();
  auto known = snapshot ? identity(who, **snapshot) : Result<deploy::Identity>(snapshot.error());
  if (!known) return grants;
  auto policy_now = policy(**snapshot);
  for (const deploy::AccessGrant* each : policy_now->grants_of(*known)) grants.push_back(*each);
  return grants;
}

bool Authority::holds(const engine::Caller& who) const {
  auto snapshot = parts_.store->read();
  return snapshot && identity(who, **snapshot);
}

bool Authority::is_unbound(const engine::Caller& who) const {
  return who.token.empty() && (who.name == parts_.owner || who.name == kObserverName);
}

deploy::AccessVerdict Authority::judge(const engine::Caller& who, const deploy::Wanted& wanted) const {
  if (is_unbound(who)) return {true, who.name + " is the home's owner"};
  auto snapshot = parts_.store->read();
  if (!snapshot) return {false, snapshot.error().message};
  auto known = identity(who, **snapshot);
  if (!known) return {false, known.error().message};
  if (wanted.right.empty()) return {false, "there is no right by which " + wanted.action + " could be called"};
  return policy(**snapshot)->judge(*known, wanted);
}

deploy::AccessVerdict Authority::judge_right(const engine::Caller& who, std::string_view right, std::string_view what,
                                             const std::string& action, const json::object& input) const {
  auto snapshot = parts_.store->read();
  if (!snapshot) return {false, snapshot.error().message};
  deploy::Wanted about = wanted(**snapshot, action, input);
  about.action = what;
  about.right = right;
  return judge(who, about);
}

// Bytes belong to no environment before an action names them: whoever may deploy somewhere may put them.
deploy::AccessVerdict Authority::judge_put(const engine::Caller& who, store::Snapshot& snapshot) const {
  auto known = identity(who, snapshot);
  if (!known) return {false, known.error().message};
  auto policy_now = policy(snapshot);
  for (const deploy::AccessGrant* each : policy_now->grants_of(*known)) {
    deploy::Wanted wanted{.action = std::string(kPut), .right = "deploy"};
    if (!each->labels.empty()) wanted.labels.emplace(each->labels.begin(), each->labels.end());
    std::vector<std::string> places = each->environments.value_or(std::vector<std::string>());
    places.insert(places.end(), known->only_in.begin(), known->only_in.end());
    if (places.empty() && policy_now->judge(*known, wanted).allowed) return {true, "they may deploy"};
    for (std::string& place : places) {
      wanted.environments = {std::move(place)};
      if (policy_now->judge(*known, wanted).allowed) return {true, "they may deploy to " + wanted.environments[0]};
    }
  }
  return {false, "no grant gives " + who.name + " the right deploy anywhere"};
}

deploy::AccessVerdict Authority::judge(const engine::Caller& who, const std::string& action,
                                       const json::object& input) const {
  if (is_unbound(who)) return judge(who, deploy::Wanted{.action = action});
  auto snapshot = parts_.store->read();
  if (!snapshot) return {false, snapshot.error().message};
  if (action == kPut) return judge_put(who, **snapshot);
  return judge(who, wanted(**snapshot, action, input));
}

Result<void> Authority::may(const engine::Caller& who, const std::string& action, const json::object& input) const {
  deploy::AccessVerdict verdict = judge(who, action, input);
  if (verdict.allowed) return {};
  return refusal(who, "call " + action, verdict.why);
}

Result<void> Authority::may_globally(const engine::Caller& who, std::string_view right, const std::string& what) const {
  deploy::AccessVerdict verdict = judge(who, deploy::Wanted{.action = what, .right = std::string(right)});
  if (verdict.allowed) return {};
  return refusal(who, what, verdict.why);
}

// ----------------------------------------------------------------------------------------------------------- sight

Sight::Sight(const Authority& authority, const engine::Caller& who, store::Snapshot& all)
    : authority_(authority), name_(who.name) {
  if (authority.is_unbound(who)) {
    everywhere_ = admin_ = true;
    return;
  }
  auto identity = authority.identity(who, all);
  if (!identity) return;
  identity_ = *std::move(identity);
  policy_ = authority.policy(all);
  everywhere_ = sees({.action = "read", .right = "view"});
  admin_ = sees({.action = "read", .right = "administer"});
}

namespace {

// What a row says in a field; nothing if it says no text there.
std::optional<std::string> said_in(store::Snapshot& all, const std::string& rows, const std::string& key,
                                   const std::string& field) {
  auto row = all.get(rows, key);
  auto fields = row && *row ? parse_json((*row)->value) : Result<Document>(Error{});
  const json::value* said = fields && fields->root.is_object() ? fields->root.get_object().if_contains(field) : nullptr;
  return said != nullptr && said->is_string() ? std::optional<std::string>(said->get_string()) : std::nullopt;
}

// The field in which rows of another kind, such as DeployPlan[N], name the concept's first kind of rows that they
// belong to.
std::optional<std::string> field_of_owner(const lang::Symbols& symbols, const std::string& owner,
                                          std::string_view kind) {
  using Kind = lang::Shape::Kind;
  const auto at = symbols.find_concept(owner);
  if (!at || symbols.concepts[*at].source->params.empty()) return std::nullopt;
  const lang::ConceptSymbol& concept_ = symbols.concepts[*at];
  const std::string& first = concept_.source->params[0].text;
  auto shape = [&](lang::TypeId type) -> const lang::Shape& { return symbols.types[symbols.types.present(type)]; };
  for (const lang::RelationSymbol& each : concept_.relations) {
    if (!each.name.empty() || !each.keyed || shape(each.key).kind != Kind::parameter) continue;
    if (shape(each.key).name != kind) continue;
    for (const lang::FieldSymbol& field : each.fields) {
      const lang::Shape& held = shape(field.type);
      if (held.kind == Kind::parameter && held.owner == owner && held.name == first) return field.name;
    }
  }
  return std::nullopt;
}

}  // namespace

bool Sight::sees_row(store::Snapshot& all, std::string_view relation, std::string_view key) {
  const std::string owner = concept_of(relation);
  if (owner == "Access" || owner == "Session" || owner == "Webhook") return admin_;
  if (everywhere_) return true;
  const std::string row(key.substr(0, key.find('\0')));
  const size_t kind = relation.find('[');
  const std::string rows =
      kind == std::string_view::npos ? owner : std::string(relation.substr(0, relation.find(']') + 1));
  if (auto known = rows_.find(rows + "/" + row); known != rows_.end()) return known->second;
  bool seen = false;
  if (kind != std::string_view::npos) {
    const auto field = field_of_owner(authority_.parts_.kit->symbols(), owner,
                                      std::string_view(rows).substr(kind + 1, rows.size() - kind - 2));
    const auto first = field ? said_in(all, rows, row, *field) : std::nullopt;
    seen = first && sees_row(all, owner, *first);
  } else {
    const auto& scopes = authority_.parts_.kit->kit().scopes;
    const auto scope = std::ranges::find_if(scopes, [&](const auto& each) { return each.scope.concept_ == owner; });
    const std::vector<std::string> way = scope == scopes.end() ? std::vector<std::string>() : scope->scope.parts();
    // Rows that have the way's argument as a field, such as those of secrets, are known by more than that.
    const auto own = way.size() == 1 ? said_in(all, owner, row, way[0]) : std::nullopt;
    deploy::Wanted wanted{.action = "read", .right = "view"};
    seen = !way.empty() && authority_.follow(all, way, own.value_or(row), wanted) && sees(wanted);
  }
  return rows_[rows + "/" + row] = seen;
}

bool Sight::sees_flow(store::Snapshot& all, const Ulid& flow) {
  if (everywhere_) return true;
  auto [known, fresh] = flows_.try_emplace(to_string(flow), false);
  if (!fresh) return known->second;
  auto root = root_of(all, flow);
  if (!root) return false;
  deploy::Wanted wanted = authority_.wanted(all, root->action, root->root ? root->root->input : json::object());
  wanted.action = "read";
  wanted.right = "view";
  known->second = root->caller.name == name_ || sees(wanted);
  return known->second;
}

bool Sight::sees_step(store::Snapshot& all, const store::JournalRow& row) {
  return row.flow == Ulid() ? admin_ : sees_flow(all, row.flow);
}

}  // namespace sluice::host
