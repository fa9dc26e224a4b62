// A request is signed anew for each nonce that the authority refuses.
#include "acme/authority.h"

#include <algorithm>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/terminal.h"
#include "crypto/base64.h"
#include "crypto/hex.h"
#include "crypto/hmac.h"
#include "crypto/sha256.h"

namespace sluice::acme {
namespace {

constexpr const char* kAgent = "sluice";
constexpr size_t kMaxAnswer = 1 << 20;
constexpr int kNonceAttempts = 30;
constexpr int64_t kLongestWait_ms = 60'000;
constexpr int64_t kLongestRetry_s = 30 * 86'400;
constexpr int64_t kSlice_ms = 100;

std::string short_digest(const std::string& text) {
  const crypto::Sha256 digest = crypto::sha256(text);
  return crypto::to_hex({reinterpret_cast<const char*>(digest.data()), 8});
}

Said said_in(const http::OutgoingAnswer& answer) {
  Said said{.status = answer.status, .text = answer.body};
  if (auto parsed = parse_json(answer.body); parsed && parsed->root.is_object())
    said.object = parsed->root.get_object();
  if (const std::string* location = answer.header("Location")) said.location = *location;
  if (const std::string* after = answer.header("Retry-After")) {
    const int64_t seconds = std::atoll(after->c_str());  // a date counts as none
    said.retry_after_ms = std::clamp<int64_t>(seconds, 0, kLongestRetry_s) * 1'000;
  }
  return said;
}

}  // namespace

std::string text_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

std::string unpadded_base64(std::string_view bytes) { return crypto::to_base64(bytes, crypto::Base64::url_unpadded); }

Result<void> make_folders(Disk& disk, std::initializer_list<std::string> folders) {
  for (const std::string& each : folders) {
    auto made = disk.make_folder(each, 0700);
    if (!made && made.error().code != Code::conflict) return made;
  }
  return {};
}

std::string Authority::new_order() const { return text_in(directory_, "newOrder"); }

Result<void> Authority::wait(int64_t ms) const {
  for (int64_t left = std::min(ms, kLongestWait_ms); left > 0; left -= kSlice_ms) {
    if (place_.cancelled && place_.cancelled()) {
      return Error{.code = Code::unavailable, .message = "it is no longer wanted"};
    }
    place_.clock.sleep_ms(std::min(left, kSlice_ms));
  }
  return {};
}

Result<void> Authority::open() {
  auto answer = send_({.url = wish_.directory,
                       .headers = {{"User-Agent", kAgent}},
                       .most_bytes = kMaxAnswer,
                       .cancelled = place_.cancelled});
  if (!answer) return answer.error();
  directory_ = said_in(*answer).object;
  for (const char* name : {"newNonce", "newAccount", "newOrder"}) {
    if (answer->status == 200 && !text_in(directory_, name).empty()) continue;
    return Error{.code = Code::unavailable,
                 .message = http::shown_url(*http::parse_url(wish_.directory)) + " is no ACME directory"};
  }
  return {};
}

Result<std::string> Authority::nonce() {
  if (!nonce_.empty()) return std::exchange(nonce_, "");
  auto answer = send_({.method = "HEAD",
                       .url = text_in(directory_, "newNonce"),
                       .headers = {{"User-Agent", kAgent}},
                       .cancelled = place_.cancelled});
  if (!answer) return answer.error();
  const std::string* fresh = answer->header("Replay-Nonce");
  if (fresh == nullptr) return Error{.code = Code::unavailable, .message = "the authority gives no nonce"};
  return *fresh;
}

Error Authority::refusal(const Said& said, const std::string& url) const {
  const std::string type = text_in(said.object, "type");
  std::string detail = printable(text_in(said.object, "detail").substr(0, 500));
  if (const json::value* parts = said.object.if_contains("subproblems"); parts != nullptr && parts->is_array()) {
    for (const json::value& each : parts->get_array()) {
      if (each.is_object()) detail += "; " + printable(text_in(each.get_object(), "detail").substr(0, 200));
    }
  }
  if (detail.empty()) detail = "status " + std::to_string(said.status);
  auto parsed = http::parse_url(url);
  Error error{.code = Code::denied,
              .message = "the authority refuses (" + (parsed ? http::shown_url(*parsed) : "") + "): " + detail};
  if (type.ends_with(":rateLimited") || said.status == 429) {
    error.code = Code::limit;
    if (said.retry_after_ms > 0) {
      error.message += "; it says to come again in " + std::to_string(said.retry_after_ms / 1'000) + " s";
    }
  } else if (said.status >= 500) {
    error.code = Code::unavailable;
  }
  return error;
}

Result<Said> Authority::post(const std::string& url, const std::string& payload, SignedBy by) {
  // Whom the directory and its answers send it to must be as good as the directory itself.
  if (auto where = http::parse_url(url); !where || !where->tls) {
    return Error{.code = Code::unavailable, .message = "the authority names a place that is no https:// URL"};
  }
  for (int attempt = 0; attempt < kNonceAttempts; ++attempt) {
    auto fresh = nonce();
    if (!fresh) return fresh.error();
    json::object head{{"alg", "ES256"}, {"nonce", *fresh}, {"url", url}};
    if (by == SignedBy::key) {
      head["jwk"] = parse_json(key_->jwk())->root;
    } else {
      head["kid"] = account_;
    }
    const std::string signed_text = unpadded_base64(write(head)) + "." + unpadded_base64(payload);
    const std::string signature = unpadded_base64(key_->sign(signed_text));
    const size_t dot = signed_text.find('.');
    http::OutgoingRequest request{.method = "POST",
                                  .url = url,
                                  .headers = {{"Content-Type", "application/jose+json"}, {"User-Agent", kAgent}},
                                  .body = write(json::object{{"protected", signed_text.substr(0, dot)},
                                                             {"payload", signed_text.substr(dot + 1)},
                                                             {"signature", signature}}),
                                  .most_bytes = kMaxAnswer,
                                  .cancelled = place_.cancelled};
    auto answer = send_(request);
    if (!answer) return answer.error();
    if (const std::string* next = answer->header("Replay-Nonce")) nonce_ = *next;
    Said said = said_in(*answer);
    if (said.status < 400) return said;
    const std::string type = text_in(said.object, "type");
    unknown_ = by == SignedBy::account && type.ends_with(":accountDoesNotExist");
    if (!type.ends_with(":badNonce")) return refusal(said, url);
  }
  return Error{.code = Code::unavailable, .message = "the authority takes none of its own nonces"};
}

Result<Said> Authority::post(const std::string& url, const std::string& payload) {
  auto said = post(url, payload, SignedBy::account);
  if (said || !unknown_ || registered_) return said;
  if (auto known = register_account(); !known) return known.error();
  return post(url, payload, SignedBy::account);
}

// RFC 8555, 7.3.4: the account's key, signed by the key of the other account.
std::string Authority::bound(const std::string& url) const {
  const std::string head =
      unpadded_base64(write(json::object{{"alg", "HS256"}, {"kid", wish_.binding->key_id}, {"url", url}}));
  const std::string payload = unpadded_base64(key_->jwk());
  auto key = crypto::from_base64(wish_.binding->key, crypto::Base64::url_unpadded);
  if (!key) key = crypto::from_base64(wish_.binding->key, crypto::Base64::url);
  const crypto::Mac mac = crypto::Hmac(key ? *key : wish_.binding->key).mac(head + "." + payload);
  return write(json::object{{"protected", head},
                            {"payload", payload},
                            {"signature", unpadded_base64({reinterpret_cast<const char*>(mac.data()), mac.size()})}});
}

std::string Authority::account_folder() const { return place_.folder + "/accounts/" + short_digest(wish_.directory); }

Result<void> Authority::log_in() {
  if (auto loaded = load_key(); !loaded) return loaded;
  if (auto known = read_file(place_.disk, account_folder() + "/url", kMaxKept)) {
    account_ = *known;
    return {};
  }
  return register_account();
}

Result<void> Authority::load_key() {
  const std::string folder = account_folder();
  if (auto made = make_folders(place_.disk, {place_.folder, place_.folder + "/accounts", folder}); !made) return made;
  auto pem = read_file(place_.disk, folder + "/key.pem", kMaxKept);
  if (!pem && pem.error().code != Code::not_found) return pem.error();
  if (!pem) {
    key_ = crypto::Es256Key::generate();
    return write_atomically(place_.disk, folder + "/key.pem", key_->to_pem().reveal(), 0600);
  }
  auto key = crypto::Es256Key::from_pem(*pem);
  crypto::wipe(*pem);
  if (!key) return key.error();
  key_ = *std::move(key);
  return {};
}

Result<void> Authority::register_account() {
  const std::string url = text_in(directory_, "newAccount");
  json::object ask{{"termsOfServiceAgreed", true}};
  if (!wish_.email.empty()) ask["contact"] = json::array{json::value("mailto:" + wish_.email)};
  if (wish_.binding) ask["externalAccountBinding"] = parse_json(bound(url))->root;
  auto said = post(url, write(ask), SignedBy::key);
  if (!said) return said.error();
  if (said->location.empty()) return Error{.code = Code::unavailable, .message = "the authority names no account"};
  account_ = said->location;
  registered_ = true;
  return write_atomically(place_.disk, account_folder() + "/url", account_, 0600);
}

}  // namespace sluice::acme
