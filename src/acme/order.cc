// One request after another; a wait is as long as the authority says.
#include "acme/order.h"

#include <algorithm>

#include "base/atomic_file.h"
#include "base/document.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/terminal.h"
#include "crypto/x509.h"

namespace sluice::acme {

struct KeptOrder {
  std::string url;
  std::string directory;
  std::vector<std::string> names;
};
BOOST_DESCRIBE_STRUCT(KeptOrder, (), (url, directory, names))

namespace {

constexpr int64_t kFirstLook_ms = 250;
constexpr int kLooks = 120;

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
      if (!looked && looked.error().code != Code::denied) return looked;  // denied: it is another account's, or gone
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
    if (std::ranges::find(wish_.names, name) == wish_.names.end()) {
      return Error{.code = Code::unavailable,
                   .message = "the authority wants a proof for " + printable(name) + ", which nobody asked for"};
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
    auto said =
        authority_.post(text_in(said_.object, "finalize"), write(json::object{{"csr", unpadded_base64(request_)}}));
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

Result<Issued> fulfil_order(const Wish& wish, const Place& place, Authority& authority, const Hooks& hooks) {
  return Order(wish, place, authority, hooks).fulfil();
}

}  // namespace sluice::acme
