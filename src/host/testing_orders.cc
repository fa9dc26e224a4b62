// The steps of the order's flow.
#include "host/testing_orders.h"

#include <array>
#include <boost/json.hpp>

namespace sluice::host {

Ulid id(uint8_t n) {
  std::array<uint8_t, Ulid::kRandomBytes> bytes;
  bytes.fill(n);
  return Ulid::from(kNoon_ms + n, bytes);
}

json::object fields(const std::string& text) { return json::parse(text).as_object(); }

engine::RecordId completion(uint8_t n) { return {id(n), engine::RecordKind::completion}; }

engine::RecordId request(uint8_t n) { return {id(n), engine::RecordKind::request}; }

engine::Planned invoke(uint8_t n, const std::string& action, const std::string& arguments) {
  return {.id = id(n), .action = action, .fields = fields(arguments)};
}

std::vector<engine::Step> order_steps() {
  using engine::Step;
  auto step = [n = uint64_t{0}](uint8_t invocation, Step::Kind kind, const std::string& action) mutable {
    ++n;
    return Step{.seq = n,
                .at_ms = kNoon_ms + static_cast<int64_t>(n) * 1000,
                .flow = id(1),
                .invocation = id(invocation),
                .kind = kind,
                .action = action};
  };
  std::vector<Step> steps;
  steps.push_back(step(1, Step::Kind::act, "Order/place"));
  steps[0].caller = {.name = "uid:1000", .reason = "tea time"};
  steps[0].root = engine::Root{.input = fields(R"({"item":"tea"})"), .sync_set = "set1"};
  steps[0].end = engine::End{.variant = "ok", .fields = fields(R"({"order":"o1"})")};
  steps[0].fired = {{.sync = "AuditOrder", .matched = {completion(1)}},
                    {.sync = "MailReceipt",
                     .matched = {completion(1)},
                     .rows = 1,
                     .then = {{.kind = engine::Planned::Kind::child, .id = id(9)}}},
                    {.sync = "PayOrder",
                     .matched = {completion(1)},
                     .rows = 1,
                     .then = {invoke(2, "Till/pay", R"({"order":"o1"})")}}};
  steps.push_back(step(2, Step::Kind::begin, "Till/pay"));
  steps[1].fired = {
      {.sync = "RouteCard", .matched = {request(2)}, .rows = 1, .then = {invoke(3, "Card/charge", R"({"amount":5})")}}};
  steps.push_back(step(3, Step::Kind::begin, "Card/charge"));
  steps[2].work = fields(R"({"amount":5})");
  steps.push_back(step(3, Step::Kind::again, "Card/charge"));
  steps[3].by = "effect";
  steps[3].note = "the bank is busy";
  steps[3].attempt = 1;
  steps[3].due_ms = kNoon_ms + 60'000;
  steps.push_back(step(3, Step::Kind::finish, "Card/charge"));
  steps[4].end = engine::End{.variant = "declined", .fields = fields(R"({"code":51})")};
  steps[4].by = "effect";
  steps[4].fired = {{.sync = "CardDeclined",
                     .matched = {completion(3), request(2)},
                     .rows = 1,
                     .then = {{.kind = engine::Planned::Kind::answer, .id = id(2), .variant = "declined"}}}};
  steps.push_back(step(2, Step::Kind::finish, "Till/pay"));
  steps[5].end = engine::End{.variant = "declined", .fields = fields(R"({"code":51})")};
  steps[5].by = "answer";
  return steps;
}

}  // namespace sluice::host
