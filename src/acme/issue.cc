// One request after another; a wait is as long as the authority says.
#include "acme/issue.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/document.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/terminal.h"
#include "crypto/base64.h"
#include "crypto/es256.h"
#include "crypto/hex.h"
#include "crypto/hmac.h"
#include "crypto/sha256.h"
#include "crypto/x509.h"
#include "http/outgoing.h"

namespace sluice::acme {

struct KeptOrder {
  std::string url;
  std::string directory;
  std::vector<std::string> names;
};
BOOST_DESCRIBE_STRUCT(KeptOrder, (), (url, directory, names))

namespace {

constexpr const char* kAgent = "sluice";
constexpr size_t kMaxAnswer = 1 << 20;
constexpr size_t kMaxKept = 64 << 10;
constexpr int kNonceAttempts = 30;
constexpr int64_t kFirstLook_ms = 250;
constexpr int64_t kLongestWait_ms = 60'000;
constexpr int64_t kLongestRetry_s = 30 * 86'400;
constexpr int kLooks = 120;
constexpr int64_t kSlice_ms = 100;

std::string text_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

std::string unpadded(std::string_view bytes) { return crypto::to_base64(bytes, crypto::Base64::url_unpadded); }

std::string short_digest(const std::string& text) {
  const crypto::Sha256 digest = crypto::sha256(text);
  return crypto::to_hex({reinterpret_cast<const char*>(digest.data()), 8});
}

Result<void> make_folders(Disk& disk, std::initializer_list<std::string> folders) {
  for (const std::string& each : folders) {
    auto made = disk.make_folder(each, 0700);
    if (!made && made.error().code != Code::conflict) return made;
  }
  return {};
}

struct Said {
  int status = 0;
  json::object object;  // empty if it is none
  std::string text;
  std::string location;
  int64_t retry_after_ms = 0;
};

// The authority, as it is spoken to.
class Authority {
 public:
  Authority(const Wish& wish, const Place& place)
      : wish_(wish), place_(place), outgoing_({.tls = {.roots_pem = wish.roots_pem}}, place.clock) {}

  Result<void> open();
  Result<void> log_in();
  // With an empty payload it is only read (POST-as-GET).
  Result<Said> post(const std::string& url, const std::string& payload);
  std::string new_order() const { return text_in(directory_, "newOrder"); }
  std::string key_authorization(const std::string& token) const { return token + "." + key_->thumbprint(); }
  // An error if it is not wanted any more.
  Result<void> wait(int64_t ms) const;

 private:
  Result<std::string> nonce();
  Result<Said> send(const std::string& url, const std::string& payload, bool by_key);
  Error refusal(const Said& said, const std::string& url) const;
  std::string bound(const std::string& url) const;

  const Wish& wish_;
  const Place& place_;
  http::Outgoing outgoing_;
  json::object directory_;
  std::optional<crypto::Es256Key> key_;
  std::string account_;  // its URL
  std::string nonce_;
};

Result<void> Authority::wait(int64_t ms) const {
  for (int64_t left = std::min(ms, kLongestWait_ms); left > 0; left -= kSlice_ms) {
    if (place_.cancelled && place_.cancelled()) {
      return Error{.code = Code::unavailable, .message = "it is no longer wanted"};
    }
    place_.clock.sleep_ms(std::min(left, kSlice_ms));
  }
  return {};
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

Result<void> Authority::open() {
  auto answer = outgoing_.send({.url = wish_.directory,
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
  auto answer = outgoing_.send({.method = "HEAD",
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

Result<Said> Authority::send(const std::string& url, const std::string& payload, bool by_key) {
  // Whom the directory and its answers send it to must be as good as the directory itself.
  if (auto where = http::parse_url(url); !where || !where->tls) {
    return Error{.code = Code::unavailable, .message = "the authority names a place that is no https:// URL"};
  }
  for (int attempt = 0; attempt < kNonceAttempts; ++attempt) {
    auto fresh = nonce();
    if (!fresh) return fresh.error();
    json::object head{{"alg", "ES256"}, {"nonce", *fresh}, {"url", url}};
    if (by_key) {
      head["jwk"] = parse_json(key_->jwk())->root;
    } else {
      head["kid"] = account_;
    }
    const std::string signed_text = unpadded(write(head)) + "." + unpadded(payload);
    const std::string signature = unpadded(key_->sign(signed_text));
    const size_t dot = signed_text.find('.');
    http::OutgoingRequest request{.method = "POST",
                                  .url = url,
                                  .headers = {{"Content-Type", "application/jose+json"}, {"User-Agent", kAgent}},
                                  .body = write(json::object{{"protected", signed_text.substr(0, dot)},
                                                             {"payload", signed_text.substr(dot + 1)},
                                                             {"signature", signature}}),
                                  .most_bytes = kMaxAnswer,
                                  .cancelled = place_.cancelled};
    auto answer = outgoing_.send(request);
    if (!answer) return answer.error();
    if (const std::string* next = answer->header("Replay-Nonce")) nonce_ = *next;
    Said said = said_in(*answer);
    if (said.status < 400) return said;
    if (!text_in(said.object, "type").ends_with(":badNonce")) return refusal(said, url);
  }
  return Error{.code = Code::unavailable, .message = "the authority takes none of its own nonces"};
}

Result<Said> Authority::post(const std::string& url, const std::string& payload) { return send(url, payload, false); }

// RFC 8555, 7.3.4: the account's key, signed by the key of the other account.
std::string Authority::bound(const std::string& url) const {
  const std::string head =
      unpadded(write(json::object{{"alg", "HS256"}, {"kid", wish_.binding->key_id}, {"url", url}}));
  const std::string payload = unpadded(key_->jwk());
  auto key = crypto::from_base64(wish_.binding->key, crypto::Base64::url_unpadded);
  if (!key) key = crypto::from_base64(wish_.binding->key, crypto::Base64::url);
  const crypto::Mac mac = crypto::Hmac(key ? *key : wish_.binding->key).mac(head + "." + payload);
  return write(json::object{{"protected", head},
                            {"payload", payload},
                            {"signature", unpadded({reinterpret_cast<const char*>(mac.data()), mac.size()})}});
}

// Makes the account, or finds it: the same key is the same account.
Result<void> Authority::log_in() {
  const std::string folder = place_.folder + "/accounts/" + short_digest(wish_.directory);
  if (auto made = make_folders(place_.disk, {place_.folder, place_.folder + "/accounts", folder}); !made) return made;
  auto pem = read_file(place_.disk, folder + "/key.pem", kMaxKept);
  if (!pem && pem.error().code != Code::not_found) return pem.error();
  if (pem) {
    auto key = crypto::Es256Key::from_pem(*pem);
    crypto::wipe(*pem);
    if (!key) return key.error();
    key_ = *std::move(key);
  } else {
    key_ = crypto::Es256Key::generate();
    const auto written = write_atomically(place_.disk, folder + "/key.pem", key_->to_pem().reveal(), 0600);
    if (!written) return written;
  }
  if (auto known = read_file(place_.disk, folder + "/url", kMaxKept)) {
    account_ = *known;
    return {};
  }
  const std::string url = text_in(directory_, "newAccount");
  json::object ask{{"termsOfServiceAgreed", true}};
  if (!wish_.email.empty()) ask["contact"] = json::array{json::value("mailto:" + wish_.email)};
  if (wish_.binding) ask["externalAccountBinding"] = parse_json(bound(url))->root;
  auto said = send(url, write(ask), true);
  if (!said) return said.error();
  if (said->location.empty()) return Error{.code = Code::unavailable, .message = "the authority names no account"};
  account_ = said->location;
  return write_atomically(place_.disk, folder + "/url", account_, 0600);
}

// ------------------------------------------------------------------------------------------------------------- an
// order

class Order {
 public:
  Order(const Wish& wish, const Place& place, Authority& authority, const Hooks& hooks)
      : wish_(wish),
        place_(place),
        authority_(authority),
        hooks_(hooks),
        folder_(place.folder + "/orders/" + place.id) {}

  Result<Issued> fulfil();

 private:
  // Goes on with what an attempt before has begun, if that can still come to something.
  Result<void> begin();
  Result<void> prove();
  Result<void> finalize();
  Result<void> look();
  std::string status() const { return text_in(said_.object, "status"); }
  Result<Said> look_until(const std::string& url, std::initializer_list<std::string_view> pending);
  Error failed(const json::object& object, const std::string& what) const;

  const Wish& wish_;
  const Place& place_;
  Authority& authority_;
  const Hooks& hooks_;
  std::string folder_, url_;
  Said said_;
  crypto::SecretBuffer key_;
  std::string request_;  // DER
};

Error Order::failed(const json::object& object, const std::string& what) const {
  std::string detail;
  if (const json::value* error = object.if_contains("error"); error != nullptr && error->is_object()) {
    detail = printable(text_in(error->get_object(), "detail").substr(0, 500));
  }
  return {.code = Code::denied, .message = what + (detail.empty() ? "" : ": " + detail)};
}

Result<Said> Order::look_until(const std::string& url, std::initializer_list<std::string_view> pending) {
  for (int i = 0; i < kLooks; ++i) {
    auto said = authority_.post(url, "");
    if (!said) return said;
    if (std::ranges::find(pending, std::string_view(text_in(said->object, "status"))) == pending.end()) return said;
    const int64_t wait_ms = said->retry_after_ms > 0 ? said->retry_after_ms : kFirstLook_ms * (1 + i / 8);
    if (auto waited = authority_.wait(wait_ms); !waited) return waited.error();
  }
  return Error{.code = Code::timeout, .message = "the authority does not come to an end"};
}

Result<void> Order::look() {
  auto said = authority_.post(url_, "");
  if (!said) return said.error();
  said_ = *std::move(said);
  return {};
}

Result<void> Order::begin() {
  auto made = make_folders(place_.disk, {place_.folder, place_.folder + "/orders", folder_});
  if (!made) return made;
  auto pem = read_file(place_.disk, folder_ + "/key.pem", kMaxKept);
  auto request = crypto::make_signing_request(wish_.names, pem ? std::string_view(*pem) : std::string_view());
  if (pem) crypto::wipe(*pem);
  if (!request) return request.error();
  request_ = request->der;
  key_ = std::move(request->key_pem);
  auto written = write_atomically(place_.disk, folder_ + "/key.pem", key_.reveal(), 0600);
  if (!written) return written;
  if (auto text = read_file(place_.disk, folder_ + "/order.json", kMaxKept)) {
    auto parsed = parse_json(*text);
    auto kept = parsed ? read<KeptOrder>(*parsed) : Result<KeptOrder>(parsed.error());
    if (kept && kept->directory == wish_.directory && kept->names == wish_.names) {
      url_ = kept->url;
      auto looked = look();
      if (looked && status() != "invalid" && status() != "expired") return {};
      if (!looked && looked.error().code != Code::denied) return looked;
    }
  }
  json::array identifiers;
  for (const std::string& each : wish_.names) {
    identifiers.push_back(json::object{{"type", "dns"}, {"value", each}});
  }
  auto said = authority_.post(authority_.new_order(), write(json::object{{"identifiers", std::move(identifiers)}}));
  if (!said) return said.error();
  said_ = *std::move(said);
  url_ = said_.location;
  if (url_.empty()) return Error{.code = Code::unavailable, .message = "the authority names no order"};
  return write_atomically(place_.disk, folder_ + "/order.json",
                          write(to_json(KeptOrder{url_, wish_.directory, wish_.names})) + "\n", 0600);
}

Result<void> Order::prove() {
  const json::value* all = said_.object.if_contains("authorizations");
  if (all == nullptr || !all->is_array()) {
    return Error{.code = Code::unavailable, .message = "the authority's order has no authorizations"};
  }
  struct Open {
    std::string authorization, challenge;
  };
  std::vector<Open> open;
  std::vector<Challenge> challenges;
  for (const json::value& each : all->get_array()) {
    if (!each.is_string()) continue;
    const std::string url(each.get_string());
    auto said = authority_.post(url, "");
    if (!said) return said.error();
    if (text_in(said->object, "status") == "valid") continue;
    std::string name;
    if (const json::value* of = said->object.if_contains("identifier"); of != nullptr && of->is_object()) {
      name = text_in(of->get_object(), "value");
    }
    const json::value* offered = said->object.if_contains("challenges");
    const Challenge* chosen = nullptr;
    for (const json::value& one : offered != nullptr && offered->is_array() ? offered->get_array() : json::array()) {
      if (!one.is_object() || text_in(one.get_object(), "type") != name_of(wish_.challenge)) continue;
      const std::string token = text_in(one.get_object(), "token");
      const bool plain = !token.empty() && token.size() <= 200 && std::ranges::all_of(token, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
      });
      if (!plain) return Error{.code = Code::unavailable, .message = "the authority's token is none"};
      challenges.push_back({.kind = wish_.challenge,
                            .name = name,
                            .token = token,
                            .key_authorization = authority_.key_authorization(token)});
      open.push_back({url, text_in(one.get_object(), "url")});
      chosen = &challenges.back();
      break;
    }
    if (chosen == nullptr) {
      return Error{.code = Code::denied,
                   .message = "the authority does not take " + std::string(name_of(wish_.challenge)) + " for " +
                              printable(name)};
    }
  }
  if (open.empty()) return {};
  auto proved = [&]() -> Result<void> {
    if (auto shown = hooks_.show(challenges); !shown) return shown;
    for (const Open& each : open) {
      if (auto told = authority_.post(each.challenge, "{}"); !told) return told.error();
    }
    for (size_t i = 0; i < open.size(); ++i) {
      auto said = look_until(open[i].authorization, {"pending", "processing"});
      if (!said) return said.error();
      if (text_in(said->object, "status") == "valid") continue;
      json::object why;
      if (const json::value* tried = said->object.if_contains("challenges"); tried != nullptr && tried->is_array()) {
        for (const json::value& one : tried->get_array()) {
          if (one.is_object() && one.get_object().contains("error")) why = one.get_object();
        }
      }
      return failed(why, "the authority does not find the proof for " + printable(challenges[i].name));
    }
    return {};
  }();
  hooks_.hide(challenges);
  return proved;
}

Result<void> Order::finalize() {
  if (status() == "pending") {
    if (auto proved = prove(); !proved) return proved;
    auto ready = look_until(url_, {"pending"});
    if (!ready) return ready.error();
    said_ = *std::move(ready);
  }
  if (status() == "ready") {
    auto said = authority_.post(text_in(said_.object, "finalize"), write(json::object{{"csr", unpadded(request_)}}));
    if (!said) return said.error();
    said_ = *std::move(said);
  }
  if (status() != "valid") {
    auto ended = look_until(url_, {"processing", "ready", "pending"});
    if (!ended) return ended.error();
    said_ = *std::move(ended);
  }
  if (status() == "valid") return {};
  return failed(said_.object, "the authority has ended the order");
}

Result<Issued> Order::fulfil() {
  if (auto begun = begin(); !begun) return begun.error();
  if (auto done = finalize(); !done) return done.error();
  auto chain = authority_.post(text_in(said_.object, "certificate"), "");
  if (!chain) return chain.error();
  auto facts = crypto::read_certificates(chain->text);
  if (!facts)
    return Error{.code = Code::unavailable, .message = "the authority sends no certificate: " + facts.error().message};
  for (const std::string& each : wish_.names) {
    if (std::ranges::find(facts->front().names, each) != facts->front().names.end()) continue;
    return Error{.code = Code::unavailable, .message = "the authority's certificate is not of " + printable(each)};
  }
  return Issued{.chain_pem = chain->text, .key_pem = std::move(key_)};
}

}  // namespace

std::string_view name_of(ChallengeKind kind) { return kind == ChallengeKind::http01 ? "http-01" : "tls-alpn-01"; }

std::optional<ChallengeKind> challenge_named(std::string_view name) {
  for (ChallengeKind each : {ChallengeKind::http01, ChallengeKind::tls_alpn01}) {
    if (name_of(each) == name) return each;
  }
  return std::nullopt;
}

Result<Issued> issue(const Wish& wish, const Place& place, const Hooks& hooks) {
  auto url = http::parse_url(wish.directory);
  if (!url) return url.error();
  if (!url->tls) return Error{.code = Code::invalid, .message = "the directory of an authority is an https:// URL"};
  Authority authority(wish, place);
  if (auto opened = authority.open(); !opened) return opened.error();
  if (auto known = authority.log_in(); !known) return known.error();
  return Order(wish, place, authority, hooks).fulfil();
}

void forget_order(Disk& disk, const std::string& folder, const std::string& id) {
  for (const char* file : {"/order.json", "/key.pem"}) (void)disk.remove(folder + "/orders/" + id + file);
  (void)disk.remove_folder(folder + "/orders/" + id);
}

}  // namespace sluice::acme
