// One request an event; what is sent is made anew each time, but for the id and the body.
#include "deploy/webhook_outlet.h"

#include <array>
#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/json.h"
#include "crypto/base64.h"
#include "crypto/hmac.h"
#include "http/outgoing.h"

namespace sluice::deploy {
namespace {

namespace json = boost::json;

constexpr std::string_view kSecretPrefix = "whsec_";
constexpr size_t kWebhookKeyBytes = 32;
constexpr int64_t kWebhookTimeout_ms = 10'000;

std::string mac_text(const crypto::Mac& mac) { return {reinterpret_cast<const char*>(mac.data()), mac.size()}; }

std::string text_member_of(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

// "rollout.failed in prod by user:ann: the error rate is 12 %"
std::string chat_sentence(const WebhookEvent& event, const json::object& body) {
  std::string text = event.type;
  if (std::string place = text_member_of(body, "environment"); !place.empty()) text += " in " + place;
  if (std::string caller = text_member_of(body, "caller"); !caller.empty()) text += " by " + caller;
  const json::value* fields = body.if_contains("fields");
  if (fields == nullptr || !fields->is_object()) return text;
  for (const char* each : {"message", "reason", "bundle", "deployment", "rollout", "revision", "plan", "name"}) {
    if (std::string said = text_member_of(fields->get_object(), each); !said.empty()) return text + ": " + said;
  }
  return text;
}

// What a chat would read as its own marks.
std::string chat_escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

WebhookBody webhook_body(const std::string& format, const WebhookEvent& event) {
  auto parsed = parse_json(event.body, "event");
  const json::object body =
      parsed && parsed->root.is_object() ? parsed->root.get_object() : json::object{{"text", event.body}};
  if (format == "slack") {
    return {"application/json", write(json::object{{"text", chat_escaped(chat_sentence(event, body))}})};
  }
  json::object cloud{{"specversion", "1.0"},
                     {"id", event.id},
                     {"source", "urn:sluice"},
                     {"type", "sluice." + event.type},
                     {"datacontenttype", "application/json"}};
  if (std::string at = text_member_of(body, "at"); !at.empty()) cloud["time"] = at;
  if (std::string place = text_member_of(body, "environment"); !place.empty()) cloud["subject"] = place;
  cloud["data"] = body;
  return {"application/cloudevents+json", write(cloud)};
}

std::string webhook_signature(const std::vector<std::string>& secrets, const std::string& id, int64_t timestamp_s,
                              const std::string& body) {
  const std::string signed_text = id + "." + std::to_string(timestamp_s) + "." + body;
  std::string all;
  for (const std::string& each : secrets) {
    auto bytes = crypto::from_base64(std::string_view(each).substr(kSecretPrefix.size()));
    if (!bytes) continue;
    all += (all.empty() ? "v1," : " v1,") + crypto::to_base64(mac_text(crypto::Hmac(*bytes).mac(signed_text)));
  }
  return all;
}

// Made when it is first needed.
Result<std::string> WebhookOutlet::key() const {
  std::lock_guard lock(mutex_);
  auto kept = read_file(disk_, key_file_, kWebhookKeyBytes);
  if (kept && kept->size() == kWebhookKeyBytes) return kept;
  if (kept) return Error{.code = Code::invalid, .message = key_file_ + " is no key: it has not 32 bytes"};
  if (kept.error().code != Code::not_found) return kept.error();
  std::array<uint8_t, kWebhookKeyBytes> random;
  random_.fill(random);
  const std::string made(reinterpret_cast<const char*>(random.data()), random.size());
  if (auto written = write_atomically(disk_, key_file_, made, 0600); !written) return written.error();
  return made;
}

Result<std::string> WebhookOutlet::secret(const std::string& webhook, int64_t version) const {
  auto bytes = key();
  if (!bytes) return bytes.error();
  return std::string(kSecretPrefix) +
         crypto::to_base64(mac_text(crypto::Hmac(*bytes).mac("webhook " + webhook + " " + std::to_string(version))));
}

Result<int> WebhookOutlet::send(const WebhookTarget& target, const WebhookEvent& event) {
  std::vector<std::string> secrets;
  for (int64_t version = target.version; version > 0 && version >= target.version - (target.old_secret ? 1 : 0);
       --version) {
    auto one = secret(target.webhook, version);
    if (!one) return one.error();
    secrets.push_back(*std::move(one));
  }
  const WebhookBody body = webhook_body(target.format, event);
  const int64_t now_s = clock_.wall_ms() / 1000;
  const std::string id = target.webhook + "." + event.id;
  http::Outgoing outgoing(
      {.addresses = {.only_public = !target.allow_local},
       .proxy = http::proxy_of([&](const std::string& name) { return variables_(name).value_or(""); }, target.url)},
      clock_);
  auto answer = outgoing.send({.method = "POST",
                               .url = target.url,
                               .headers = {{"Content-Type", body.content_type},
                                           {"webhook-id", id},
                                           {"webhook-timestamp", std::to_string(now_s)},
                                           {"webhook-signature", webhook_signature(secrets, id, now_s, body.text)}},
                               .body = body.text,
                               .timeout_ms = kWebhookTimeout_ms,
                               .most_bytes = size_t{64} << 10U});
  if (!answer) return answer.error();
  if (answer->status >= 200 && answer->status < 300) return answer->status;
  return Error{.code = Code::unavailable,
               .message = "it answered " + std::to_string(answer->status) +
                          (answer->status / 100 == 3 ? ", and redirects are not followed" : "")};
}

}  // namespace sluice::deploy
