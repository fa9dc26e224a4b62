// The cache is direct-mapped: a cookie that pushes out another costs that one an HMAC.
#include "router/pins/sticky.h"

#include <boost/json.hpp>
#include <charconv>

#include "base/json.h"
#include "crypto/base64.h"

namespace sluice::router {
namespace {

constexpr size_t kSeenCookies = 4'096;
constexpr uint32_t kBelieved_s = 60;
constexpr size_t kMaxClaims = 1'024;
constexpr size_t kMacText = 43;  // 32 bytes as unpadded base64

std::string_view text_of_claim(const json::object& claims, std::string_view name) {
  const json::value* value = claims.if_contains(name);
  if (value == nullptr || !value->is_string()) return {};
  return {value->get_string().data(), value->get_string().size()};
}

int64_t number_of_claim(const json::object& claims, std::string_view name) {
  const json::value* value = claims.if_contains(name);
  return value != nullptr && value->is_int64() ? value->get_int64() : -1;
}

std::string_view as_text(const crypto::Mac& mac) { return {reinterpret_cast<const char*>(mac.data()), mac.size()}; }

}  // namespace

std::optional<std::string_view> cookie_named(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    size_t end = header.find(';');
    std::string_view pair = header.substr(0, end);
    while (!pair.empty() && pair.front() == ' ') pair.remove_prefix(1);
    if (pair.size() > name.size() && pair[name.size()] == '=' && pair.starts_with(name)) {
      return pair.substr(name.size() + 1);
    }
    header.remove_prefix(end == std::string_view::npos ? header.size() : end + 1);
  }
  return std::nullopt;
}

StickyCookies::StickyCookies(Random& random)
    : first_(random_hash_key(random)), second_(random_hash_key(random)), seen_(kSeenCookies) {}

void StickyCookies::take_keys(const TableSettings& settings) {
  if (stamp_ == settings.stamp) return;
  keys_.clear();
  for (const CookieKey& key : settings.cookie_keys) keys_.push_back({key.id, crypto::Hmac(key.bytes)});
  stamp_ = settings.stamp;
}

bool StickyCookies::has_valid_mac(std::string_view claims, std::string_view mac) {
  auto bytes = crypto::from_base64(mac, crypto::Base64::url_unpadded);
  if (!bytes) return false;
  for (Key& key : keys_) {
    if (key.hmac.verify(claims, *bytes)) return true;
  }
  return false;
}

std::optional<StickyClaim> StickyCookies::claim_of(const Deployment& deployment, uint32_t answer, int64_t expires_s,
                                                   int64_t now_s) const {
  if (expires_s <= now_s) return std::nullopt;
  StickyClaim claim{.renew = expires_s - now_s < deployment.ttl_s / 2};
  if (deployment.mode == StickyMode::bucket) {
    claim.bucket = answer;
    return claim;
  }
  for (const Revision& revision : deployment.revisions) {
    if (revision.memory->number != answer) continue;
    claim.revision = &revision;
    return claim;
  }
  return std::nullopt;
}

std::optional<StickyClaim> StickyCookies::verify(const TableSettings& settings, const Deployment& deployment,
                                                 std::string_view value, int64_t now_s) {
  take_keys(settings);
  size_t dot = value.find('.');
  if (keys_.empty() || dot == std::string_view::npos || dot > kMaxClaims || value.size() - dot - 1 != kMacText) {
    return std::nullopt;
  }
  // The mode is part of what is hashed, as an answer means another thing in each.
  uint64_t scope = deployment.id_hash ^ static_cast<uint64_t>(deployment.mode);
  WideHash hash{keyed_hash({first_.first ^ scope, first_.second}, value),
                keyed_hash({second_.first ^ scope, second_.second}, value)};
  Seen& seen = seen_[hash.first % kSeenCookies];
  if (seen.hash == hash && seen.settings == static_cast<uint32_t>(settings.stamp) &&
      static_cast<uint32_t>(now_s) - seen.seen_s < kBelieved_s) {
    return claim_of(deployment, seen.answer, seen.expires_s, now_s);
  }
  ++verified_;
  std::string_view text = value.substr(0, dot);
  if (!has_valid_mac(text, value.substr(dot + 1))) return std::nullopt;
  auto decoded = crypto::from_base64(text, crypto::Base64::url_unpadded);
  auto parsed = decoded ? parse_json(*decoded, "", {.max_depth = 2}) : Result<Document>(decoded.error());
  const json::object* claims = parsed ? parsed->root.if_object() : nullptr;
  if (claims == nullptr || text_of_claim(*claims, "e") != settings.environment ||
      text_of_claim(*claims, "t") != deployment.tenant || text_of_claim(*claims, "d") != deployment.id) {
    return std::nullopt;
  }
  int64_t expires_s = number_of_claim(*claims, "x");
  int64_t answer = -1;
  if (deployment.mode == StickyMode::bucket) {
    answer = number_of_claim(*claims, "b");
    if (answer >= static_cast<int64_t>(kAllPoints)) return std::nullopt;
  } else if (const Revision* revision = deployment.named(text_of_claim(*claims, "r"))) {
    answer = revision->memory->number;
  }
  if (answer < 0 || expires_s < 0 || expires_s > INT32_MAX) return std::nullopt;
  seen = {hash, static_cast<uint32_t>(now_s), static_cast<uint32_t>(expires_s), static_cast<uint32_t>(answer),
          static_cast<uint32_t>(settings.stamp)};
  return claim_of(deployment, static_cast<uint32_t>(answer), expires_s, now_s);
}

void StickyCookies::issue(const TableSettings& settings, const Deployment& deployment, const Revision& revision,
                          uint32_t bucket, std::string_view path, int64_t now_s, std::string& out) {
  take_keys(settings);
  if (keys_.empty()) return;
  claims_.advance_to(claims_.view().data());
  auto add_text = [&](std::string_view name, std::string_view value) {
    claims_.append(name);
    append_json_string(claims_, value);
  };
  char digits[20];
  auto add_number = [&](std::string_view name, int64_t value) {
    claims_.append(name);
    claims_.append({digits, std::to_chars(digits, digits + sizeof digits, value).ptr});
  };
  add_text("{\"e\":", settings.environment);
  add_text(",\"t\":", deployment.tenant);
  add_text(",\"d\":", deployment.id);
  if (deployment.mode == StickyMode::bucket) {
    add_number(",\"b\":", bucket);
  } else {
    add_text(",\"r\":", revision.id);
  }
  add_number(",\"g\":", deployment.generation);
  add_number(",\"x\":", now_s + deployment.ttl_s);
  add_text(",\"k\":", keys_.front().id);
  claims_.append('}');
  out.append("Set-Cookie: ").append(deployment.cookie_name).append("=");
  const size_t start = out.size();
  crypto::append_base64(claims_.view(), crypto::Base64::url_unpadded, out);
  const crypto::Mac mac = keys_.front().hmac.mac(std::string_view(out).substr(start));
  out.append(".");
  crypto::append_base64(as_text(mac), crypto::Base64::url_unpadded, out);
  out.append("; Path=")
      .append(path)
      .append("; Max-Age=")
      .append(digits, std::to_chars(digits, digits + sizeof digits, deployment.ttl_s).ptr);
  out.append("; HttpOnly; SameSite=Lax");
  if (deployment.secure) out.append("; Secure");
  out.append("\r\n");
}

}  // namespace sluice::router
