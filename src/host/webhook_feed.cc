// Rows are read as they are kept, as the concept writes them.
#include "host/webhook_feed.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/utc_time.h"
#include "engine/journal/record_reader.h"
#include "host/observing.h"
#include "lang/check/relations.h"

namespace sluice::host {
namespace {

constexpr const char* kWebhooks = "Webhook";
constexpr const char* kWholeWebhooks = "Webhook[]";
constexpr size_t kRowsALook = 5'000;
constexpr uint64_t kNoteEvery = 1'000;

json::object webhook_row(const store::StateRow& row) {
  auto parsed = parse_json(row.value);
  return parsed && parsed->root.is_object() ? parsed->root.get_object() : json::object();
}

std::string row_text(const json::object& row, std::string_view name) {
  const json::value* value = row.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

}  // namespace

bool has_webhooks(const lang::CheckedKit& kit) { return kit.symbols().find_concept(kWebhooks).has_value(); }

std::vector<WebhookFeed::Wanting> WebhookFeed::all_wanting(store::Snapshot& snapshot) const {
  std::vector<Wanting> all;
  (void)snapshot.scan(kWebhooks, "", [&](const store::StateRow& row) {
    const json::object fields = webhook_row(row);
    Wanting one{.webhook = row.key, .filter = {.environment = row_text(fields, "environment")}};
    // A type that there is no more is wanted in vain; the others still count.
    const std::string types = row_text(fields, "events");
    for (size_t at = 0; at < types.size();) {
      const size_t comma = std::min(types.find(',', at), types.size());
      if (comma > at) one.filter.types.push_back(types.substr(at, comma - at));
      at = comma + 1;
    }
    if (auto since = parse_utc(row_text(fields, "createdAt"))) one.since_ms = *since;
    all.push_back(std::move(one));
    return true;
  });
  return all;
}

bool WebhookFeed::tell(const Told& told) {
  const std::string id = std::to_string(told.event);
  auto flow =
      engine_.start({.action = "Webhook/notify",
                     .input = {{"webhook", told.webhook}, {"event", id}, {"type", told.type}, {"body", told.body}},
                     .caller = {.name = std::string(kObserverName)},
                     .key = "webhook " + told.webhook + " " + id,
                     .of_kit = true});
  return flow || flow.error().code != Code::unavailable;
}

void WebhookFeed::note_seen() {
  auto done = engine_.start({.action = "Webhook/noteSeen",
                             .input = {{"position", static_cast<int64_t>(next_ - 1)}},
                             .caller = {.name = std::string(kObserverName)},
                             .of_kit = true});
  if (done) noted_ = next_ - 1;
}

void WebhookFeed::look() {
  if (next_ != 0 && engine_.position() < next_) return;
  std::vector<Told> due;
  uint64_t after = next_;
  {
    auto snapshot = store_.read();
    if (!snapshot) return;
    if (next_ == 0) {
      auto whole = (*snapshot)->get(kWholeWebhooks, lang::kWholeKey);
      const json::object kept = whole && *whole ? webhook_row(**whole) : json::object();
      const json::value* seen = kept.if_contains("seen");
      noted_ = seen != nullptr && seen->is_int64() ? static_cast<uint64_t>(seen->get_int64()) : 0;
      next_ = after = noted_ + 1;
    }
    const std::vector<Wanting> wanting = all_wanting(**snapshot);
    if (wanting.empty()) {
      next_ = (*snapshot)->position() + 1;
      return;
    }
    size_t rows = 0;
    auto read = (*snapshot)->journal_from(next_, [&](const store::JournalRow& row) {
      after = row.seq + 1;
      auto step = engine::read_step(row.record);
      auto event = step ? event_of(*step) : std::nullopt;
      if (event) {
        event->environment = environment_of(*event, &authority_);
        for (const Wanting& each : wanting) {
          if (step->at_ms < each.since_ms || !each.filter.takes_type(event->event) || !each.filter.takes(*event)) {
            continue;
          }
          due.push_back({each.webhook, event->event, row.seq, write(::sluice::to_json(*event))});
        }
      }
      return ++rows < kRowsALook;
    });
    if (!read) return;
  }
  for (const Told& each : due) {
    if (!tell(each)) return;  // the next look tells all of them again, under the same keys
  }
  next_ = after;
  if (!due.empty() || next_ > noted_ + kNoteEvery) note_seen();
}

}  // namespace sluice::host
