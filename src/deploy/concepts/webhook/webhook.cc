// Webhook keeps who wants to be told what. Which events there are is the host's business (host/webhook_feed.h), how one
// is sent that of deploy/webhook_outlet.h.
#include <algorithm>
#include <boost/describe/enum_to_string.hpp>
#include <boost/json.hpp>

#include "base/json.h"
#include "deploy/concepts/webhook/webhook_work.h"
#include "deploy/views/states.h"
#include "http/outgoing.h"
#include "lang/run/view.h"

namespace sluice::deploy::webhook {
namespace {

constexpr int64_t kBothSecrets_ms = int64_t{24} * 60 * 60 * 1000;
constexpr size_t kMostWebhooks = 100;

std::string format_name(WebhookFormat format) { return boost::describe::enum_to_string(format, "cloudevents"); }

std::string fault_of(const Create& ask) {
  auto shown = [](unsigned char c) { return c >= ' ' && c != 0x7f; };
  if (ask.name.empty() || ask.name.size() > 100 || !std::ranges::all_of(ask.name, shown)) {
    return "a webhook's name is one line of at most 100 bytes";
  }
  if (!ask.url.starts_with("http://") && !ask.url.starts_with("https://")) {
    return "the address is an http:// or https:// URL, not " + ask.url;
  }
  if (auto url = http::parse_url(ask.url); !url) return url.error().message;
  auto typed = [](unsigned char c) { return (c >= 'a' && c <= 'z') || c == '.' || c == '-' || c == '*' || c == ','; };
  if (!std::ranges::all_of(ask.events, typed))
    return "events are types with commas between them: rollout.*,plan.failed";
  return "";
}

WebhookTarget target_of(const State& state, const WebhookId& id, const WebhookRecord& record) {
  return {.webhook = id.text(),
          .url = record.url,
          .format = format_name(record.format),
          .allow_local = record.allowLocal,
          .version = record.version,
          .old_secret = record.rotatedAt && state.now().ms < record.rotatedAt->ms + kBothSecrets_ms};
}

void note_delivery(State& state, const WebhookId& id, const std::string& trouble) {
  auto record = state.get(id);
  if (!record) return;
  record->trouble = trouble;
  record->lastAt = state.now();
  if (trouble.empty()) record->delivered++;
  state.put(id, *record);
}

struct WebhookSecretQuery {
  std::string webhook;
};
BOOST_DESCRIBE_STRUCT(WebhookSecretQuery, (), (webhook))

struct WebhookSecretView {
  std::string webhook, secret;
};
BOOST_DESCRIBE_STRUCT(WebhookSecretView, (), (webhook, secret))

// Whoever may not see the webhook's row is told that there is none.
Result<WebhookSecretView> read_secret(const lang::Reading& reading, const WebhookSecretQuery& query) {
  auto record = views::States(reading.rows).webhook().get(WebhookId(query.webhook));
  const auto* outlet = reading.tools.find<WebhookOutlet>();
  if (!record || outlet == nullptr) {
    return Error{
        .code = Code::not_found, .message = "there is no webhook " + query.webhook, .next = "list the webhooks"};
  }
  auto secret = outlet->secret(query.webhook, record->version);
  if (!secret) return secret.error();
  return WebhookSecretView{query.webhook, *std::move(secret)};
}

}  // namespace

Create::Result Webhook::create(const Create& ask, State& state) {
  if (std::string fault = fault_of(ask); !fault.empty()) return Create::Invalid{.message = fault};
  WebhookFormat format = {};
  const std::string wanted = ask.format.value_or("cloudevents");
  if (!boost::describe::enum_from_string(wanted.c_str(), format)) {
    return Create::Invalid{.message = "there is no format " + wanted + "; it is cloudevents or slack"};
  }
  size_t count = 0;
  for (const WebhookFound& each : state.all()) {
    ++count;
    if (each.record.name == ask.name) {
      return Create::Exists{.webhook = each.id, .message = "there is a webhook " + ask.name + " already"};
    }
  }
  if (count >= kMostWebhooks) return Create::Invalid{.message = "there are 100 webhooks, which is all there may be"};
  WebhookId id = state.add({.name = ask.name,
                            .url = ask.url,
                            .events = ask.events,
                            .environment = ask.environment,
                            .format = format,
                            .allowLocal = ask.allowLocal.value_or(false),
                            .version = 1,
                            .createdAt = state.now(),
                            .createdBy = ask.caller.value_or("")});
  return Create::Ok{.webhook = id, .name = ask.name};
}

Remove::Result Webhook::remove(const Remove& ask, State& state) {
  auto record = state.get(ask.webhook);
  if (!record) {
    return Remove::NotFound{.webhook = ask.webhook, .message = "there is no webhook " + ask.webhook.text()};
  }
  state.erase(ask.webhook);
  return Remove::Ok{.webhook = ask.webhook, .name = record->name};
}

Rotate::Result Webhook::rotate(const Rotate& ask, State& state) {
  auto record = state.get(ask.webhook);
  if (!record) {
    return Rotate::NotFound{.webhook = ask.webhook, .message = "there is no webhook " + ask.webhook.text()};
  }
  record->version++;
  record->rotatedAt = state.now();
  state.put(ask.webhook, *record);
  return Rotate::Ok{.webhook = ask.webhook, .version = record->version};
}

SendTest::Begun Webhook::begin_send_test(const SendTest& ask, State& state) {
  auto record = state.get(ask.webhook);
  if (!record) {
    return SendTest::NotFound{.webhook = ask.webhook, .message = "there is no webhook " + ask.webhook.text()};
  }
  const json::object body{{"event", "webhook.test"},
                          {"at", utc_text(state.now().ms)},
                          {"fields", {{"message", "Sluice can reach you"}, {"name", record->name}}}};
  return SendTestWork{
      .target = target_of(state, ask.webhook, *record),
      .event = {.id = "test-" + std::to_string(state.now().ms), .type = "webhook.test", .body = write(body)}};
}

SendTest::Performed Webhook::perform_send_test(const SendTestWork& work, Effect& effect) {
  auto sent = effect.tool<WebhookOutlet>().send(work.target, work.event);
  if (sent) return SendTest::Ok{.webhook = WebhookId(work.target.webhook), .status = *sent};
  return SendTest::Unavailable{.webhook = WebhookId(work.target.webhook), .message = sent.error().message};
}

SendTest::Outcome Webhook::finish_send_test(const SendTest& ask, const SendTest::Outcome& outcome, State& state) {
  if (get_if<SendTest::Ok>(&outcome) != nullptr) note_delivery(state, ask.webhook, "");
  if (const auto* failed = get_if<SendTest::Unavailable>(&outcome)) note_delivery(state, ask.webhook, failed->message);
  return outcome;
}

Notify::Result Webhook::notify(const Notify& ask, State&) { return Notify::Ok{.webhook = ask.webhook}; }

Deliver::Begun Webhook::begin_deliver(const Deliver& ask, State& state) {
  auto record = state.get(ask.webhook);
  if (!record) return Deliver::Removed{.webhook = ask.webhook};
  return DeliverWork{.target = target_of(state, ask.webhook, *record),
                     .event = {.id = ask.event, .type = ask.type, .body = ask.body}};
}

Deliver::Performed Webhook::perform_deliver(const DeliverWork& work, Effect& effect) {
  auto sent = effect.tool<WebhookOutlet>().send(work.target, work.event);
  if (sent) return Deliver::Ok{.webhook = WebhookId(work.target.webhook), .status = *sent};
  return Deliver::Unavailable{.webhook = WebhookId(work.target.webhook), .message = sent.error().message};
}

Deliver::Outcome Webhook::finish_deliver(const Deliver& ask, const Deliver::Outcome& outcome, State& state) {
  if (get_if<Deliver::Ok>(&outcome) != nullptr) note_delivery(state, ask.webhook, "");
  if (const auto* failed = get_if<Deliver::Unavailable>(&outcome)) note_delivery(state, ask.webhook, failed->message);
  return outcome;
}

NoteSeen::Result Webhook::note_seen(const NoteSeen& ask, State& state) {
  auto whole = state.whole();
  whole.seen = std::max(whole.seen, ask.position);
  state.put_whole(whole);
  return NoteSeen::Ok{};
}

List::Result Webhook::list(const List&, const State& state) {
  List::Ok listed;
  for (const WebhookFound& each : state.all()) {
    listed.webhooks.push_back({.webhook = each.id,
                               .name = each.record.name,
                               .url = each.record.url,
                               .events = each.record.events,
                               .environment = each.record.environment,
                               .format = format_name(each.record.format),
                               .allowLocal = each.record.allowLocal,
                               .version = each.record.version,
                               .createdAt = each.record.createdAt,
                               .createdBy = each.record.createdBy,
                               .delivered = each.record.delivered,
                               .lastAt = each.record.lastAt,
                               .trouble = each.record.trouble});
  }
  return listed;
}

std::vector<lang::View> webhook_views() {
  return {lang::make_view("webhook-secret", "The secret that signs what a webhook sends; for admins", read_secret)};
}

}  // namespace sluice::deploy::webhook
