// Discovery, then the keys; both must come from where the issuer says.
#include "host/issuer_keys.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "http/outgoing.h"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr int64_t kKeep_ns = 600'000'000'000;
constexpr int64_t kAgain_ns = 30'000'000'000;
constexpr int64_t kIssuer_ms = 5'000;
constexpr size_t kMostIssuerBytes = size_t{1} << 20U;

Result<std::string> fetched(http::Outgoing& outgoing, const std::string& url) {
  auto answer = outgoing.send({.url = url, .timeout_ms = kIssuer_ms, .most_bytes = kMostIssuerBytes});
  if (!answer) return answer.error();
  if (answer->status == 200) return std::move(answer->body);
  return Error{.code = Code::unavailable, .message = url + " answered " + std::to_string(answer->status)};
}

std::string member_of(const json::value& document, std::string_view name) {
  const json::value* value = document.is_object() ? document.get_object().if_contains(name) : nullptr;
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

}  // namespace

bool is_issuer_url(std::string_view url) {
  auto parsed = http::parse_url(url);
  if (!parsed || url.find('?') != std::string_view::npos || url.find('#') != std::string_view::npos) return false;
  return parsed->tls || parsed->host.starts_with("127.") || parsed->host == "::1" || parsed->host == "localhost";
}

Result<std::vector<crypto::Jwk>> IssuerKeys::read(const std::string& issuer) const {
  http::Outgoing outgoing({}, clock_);
  const std::string base = issuer.ends_with('/') ? issuer.substr(0, issuer.size() - 1) : issuer;
  auto text = fetched(outgoing, base + "/.well-known/openid-configuration");
  if (!text) return text.error();
  auto document = parse_json(*text, "discovery");
  if (!document) return document.error();
  if (member_of(document->root, "issuer") != issuer) {
    return Error{.code = Code::verification_failed, .message = issuer + " says that it is another issuer"};
  }
  const std::string place = member_of(document->root, "jwks_uri");
  if (!is_issuer_url(place)) {
    return Error{.code = Code::verification_failed, .message = issuer + " does not say where its keys are"};
  }
  auto keys = fetched(outgoing, place);
  if (!keys) return keys.error();
  return crypto::read_jwks(*keys);
}

Result<std::vector<crypto::Jwk>> IssuerKeys::keys_of(const std::string& issuer, const std::string& key_id) {
  if (!is_issuer_url(issuer)) {
    return Error{.code = Code::invalid, .message = "an issuer is reached over https://"};
  }
  std::shared_ptr<Kept> kept;
  {
    std::lock_guard lock(mutex_);
    auto& place = kept_[issuer];
    if (!place) place = std::make_shared<Kept>();
    kept = place;
  }
  std::lock_guard lock(kept->mutex);
  const int64_t now_ns = clock_.monotonic_ns();
  const bool known = std::ranges::any_of(kept->keys, [&](const auto& each) { return each.id == key_id; });
  const bool fresh = kept->read_ns != 0 && now_ns - kept->read_ns < kKeep_ns;
  if (fresh && known) return kept->keys;
  if (kept->tried_ns != 0 && now_ns - kept->tried_ns < kAgain_ns && kept->read_ns != 0) return kept->keys;
  kept->tried_ns = now_ns;
  auto keys = read(issuer);
  if (keys) {
    kept->keys = *std::move(keys);
    kept->read_ns = now_ns;
    return kept->keys;
  }
  if (fresh) return kept->keys;
  return keys.error();
}

}  // namespace sluice::host
