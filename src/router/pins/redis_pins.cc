// The hash of a deployment has a field for each session. A field does not run out by itself, so a value says when its
// session was last seen, and for some fields that are written, more are looked at and removed if their time is over: a
// hash stays within a tenth of what lives in it.
#include "router/pins/redis_pins.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <utility>

#include "crypto/base64.h"
#include "crypto/sha256.h"

namespace sluice::router {
namespace {

// A thread's loop counts in milliseconds and begins one behind: within five all is over.
constexpr int64_t kPatience_us = 4'000;
constexpr uint32_t kFailuresToLose = 3;
constexpr int64_t kSpare_s = 60;  // that a hash lasts beyond the pins in it
constexpr uint32_t kWritesToSweep = 16;
constexpr std::string_view kSwept = "160";  // fields that are looked at then
constexpr size_t kFieldBytes = 16;

struct StoredPin {
  std::string_view revision;
  int64_t seen_s = 0;
};

// REVISION:SECONDS
std::optional<StoredPin> read_pin(std::string_view text) {
  size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  StoredPin pin{.revision = text.substr(0, colon)};
  std::string_view number = text.substr(colon + 1);
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), pin.seen_s);
  if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
  return pin;
}

// Who can read Redis should not be able to go on with somebody's session.
std::string field_of(const std::string& deployment, std::string_view session) {
  std::string text = deployment + "\n";
  text += session;
  crypto::Sha256 digest = crypto::sha256(text);
  return crypto::to_base64({reinterpret_cast<const char*>(digest.data()), kFieldBytes}, crypto::Base64::url_unpadded);
}

std::string_view text_of(const redisReply& reply) { return {reply.str, reply.len}; }

void count(std::atomic<uint64_t>& number) {
  number.store(number.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace

void RedisPins::use(const TableSettings* settings) {
  std::optional<RedisPlace> place = settings != nullptr ? settings->redis : std::nullopt;
  if (settings != nullptr) environment_ = settings->environment;
  if (!link_.use(std::move(place))) return;
  sweeps_.clear();
  counts_.in_use.store(link_.in_use(), std::memory_order_relaxed);
  counts_.up.store(link_.is_up(), std::memory_order_relaxed);
}

void RedisPins::set_time(int64_t now_us, int64_t wall_s) {
  now_us_ = now_us;
  wall_s_ = wall_s;
  link_.set_time(now_us);
}

std::string RedisPins::hash_of(const Deployment& deployment) const {
  return "sl:rev_pin:" + environment_ + ":" + deployment.id + ":" + deployment.tenant;
}

bool RedisPins::has_run_out(std::string_view value, int64_t ttl_s) const {
  auto pin = read_pin(value);
  // Clocks differ; one that is far ahead is wrong.
  return !pin || std::abs(wall_s_ - pin->seen_s) > ttl_s;
}

// ---------------------------------------------------------------------------------------------------------------- ask

void RedisPins::look_up(const Deployment& deployment, std::string_view session, Client& client) {
  ask({.ttl_s = deployment.ttl_s,
       .hash = hash_of(deployment),
       .answer = {.deployment = deployment.id, .session = std::string(session), .client = &client}});
}

void RedisPins::compare(const Deployment& deployment, std::string_view session, std::string_view own) {
  if (!takes_questions()) return;
  ask({.ttl_s = deployment.ttl_s,
       .hash = hash_of(deployment),
       .answer = {.deployment = deployment.id, .session = std::string(session), .own = std::string(own)}});
}

void RedisPins::ask(Asked asked) {
  count(counts_.lookups);
  asked.kind = Asked::Kind::look_up;
  asked.until_us = now_us_ + kPatience_us;
  ++open_;
  if (link_.command({"HGET", asked.hash, field_of(asked.answer.deployment, asked.answer.session)})) {
    asked_.push_back(std::move(asked));
  } else {
    count(counts_.failures);
    finish(asked, PinElsewhere::unknown);
  }
}

void RedisPins::put(const Deployment& deployment, std::string_view session, std::string_view revision, bool replace) {
  if (!takes_questions()) return;
  std::string hash = hash_of(deployment);
  std::string value = std::string(revision) + ":" + std::to_string(wall_s_);
  if (!link_.command({replace ? "HSET" : "HSETNX", hash, field_of(deployment.id, session), value})) return;
  count(counts_.writes);
  asked_.push_back({.kind = Asked::Kind::write});
  if (!replace) {
    asked_.back() = {
        .kind = Asked::Kind::first_write,
        .ttl_s = deployment.ttl_s,
        .hash = hash,
        .answer = {.deployment = deployment.id, .session = std::string(session), .own = std::string(revision)}};
  }
  if (link_.command({"EXPIRE", hash, std::to_string(deployment.ttl_s + kSpare_s)})) asked_.push_back({});
  sweep(hash, deployment.ttl_s);
}

void RedisPins::sweep(const std::string& hash, int64_t ttl_s) {
  Sweep& sweep = sweeps_[hash];
  if (++sweep.writes < kWritesToSweep) return;
  sweep.writes = 0;
  if (!link_.command({"HSCAN", hash, sweep.cursor, "COUNT", kSwept})) return;
  asked_.push_back({.kind = Asked::Kind::sweep, .ttl_s = ttl_s, .hash = hash});
}

void RedisPins::forget(const Client& client) {
  for (Asked& asked : asked_) {
    if (asked.answer.client == &client) asked.answer.client = nullptr;
  }
  for (PinAnswer& answer : answers_) {
    if (answer.client == &client) answer.client = nullptr;
  }
}

// ------------------------------------------------------------------------------------------------------------ answers

void RedisPins::step() {
  if (!link_.in_use() && asked_.empty()) return;
  link_.step();
  // Giving the connection up ends everything that was asked, and taking a reply may ask more: always from the front.
  while (!link_.replies().empty()) {
    std::vector<RedisReply> replies = std::exchange(link_.replies(), {});
    for (const RedisReply& reply : replies) {
      Asked asked = std::move(asked_.front());
      asked_.pop_front();
      take(asked, reply.get());
    }
  }
  while (open_ > 0) {
    Asked* late = first_open();
    if (late->until_us > now_us_) break;
    finish(*late, PinElsewhere::unknown);
    late->over = true;
    failed(counts_.timeouts, "it replies too late");
    if (!link_.replies().empty()) {
      step();
      return;
    }
  }
  counts_.up.store(link_.is_up(), std::memory_order_relaxed);
  counts_.trouble.store(link_.is_up() ? "" : link_.trouble(), std::memory_order_relaxed);
}

RedisPins::Asked* RedisPins::first_open() {
  auto found =
      std::ranges::find_if(asked_, [](const Asked& each) { return each.kind == Asked::Kind::look_up && !each.over; });
  return &*found;
}

int64_t RedisPins::next_step_us() {
  if (!answers_.empty() || !link_.replies().empty()) return 0;
  return open_ > 0 ? first_open()->until_us : INT64_MAX;
}

void RedisPins::finish(Asked& asked, PinElsewhere what) {
  --open_;
  asked.answer.what = what;
  // Whoever only compares has nothing to do if there is nothing to compare with.
  if (asked.answer.client != nullptr || what != PinElsewhere::unknown) answers_.push_back(std::move(asked.answer));
  asked.answer = {};
}

void RedisPins::failed(std::atomic<uint64_t>& number, const char* why) {
  count(number);
  if (++failures_in_a_row_ < kFailuresToLose) return;
  failures_in_a_row_ = 0;
  if (link_.is_up()) {
    link_.lose(why);
  } else {
    link_.take_none_until_up();  // connecting goes on
  }
}

// `reply` is nothing if the connection was lost.
void RedisPins::take(Asked& asked, const redisReply* reply) {
  switch (asked.kind) {
    case Asked::Kind::look_up:
      if (asked.over) return;
      if (reply == nullptr) {
        count(counts_.failures);
        finish(asked, PinElsewhere::unknown);
      } else {
        take_pin(asked, *reply);
      }
      return;
    case Asked::Kind::first_write:
      // Another router was first: it is its pin that counts.
      if (reply != nullptr && reply->type == REDIS_REPLY_INTEGER && reply->integer == 0 && takes_questions()) {
        ask(std::move(asked));
      }
      return;
    case Asked::Kind::sweep:
      if (reply != nullptr) take_sweep(asked, *reply);
      return;
    case Asked::Kind::write:
      return;
  }
}

void RedisPins::take_pin(Asked& asked, const redisReply& reply) {
  if (reply.type != REDIS_REPLY_STRING && reply.type != REDIS_REPLY_NIL) {
    finish(asked, PinElsewhere::unknown);
    failed(counts_.failures, "it refuses what it is asked");
    return;
  }
  failures_in_a_row_ = 0;
  link_.found_well();
  auto pin = reply.type == REDIS_REPLY_STRING ? read_pin(text_of(reply)) : std::nullopt;
  if (reply.type == REDIS_REPLY_NIL) {
    count(counts_.misses);
    finish(asked, PinElsewhere::none);
  } else if (!pin || has_run_out(text_of(reply), asked.ttl_s)) {
    count(counts_.misses);
    finish(asked, PinElsewhere::stale);
  } else {
    count(counts_.hits);
    asked.answer.revision = pin->revision;
    asked.answer.aged = wall_s_ - pin->seen_s >= renewal_step_s(asked.ttl_s);
    finish(asked, PinElsewhere::found);
  }
}

void RedisPins::take_sweep(const Asked& asked, const redisReply& reply) {
  if (reply.type != REDIS_REPLY_ARRAY || reply.elements != 2) return;
  const redisReply& cursor = *reply.element[0];
  const redisReply& pairs = *reply.element[1];
  if (cursor.type != REDIS_REPLY_STRING || pairs.type != REDIS_REPLY_ARRAY) return;
  sweeps_[asked.hash].cursor = text_of(cursor);
  std::vector<std::string_view> words = {"HDEL", asked.hash};
  for (size_t i = 0; i + 1 < pairs.elements; i += 2) {
    const redisReply& field = *pairs.element[i];
    const redisReply& value = *pairs.element[i + 1];
    if (field.type != REDIS_REPLY_STRING || value.type != REDIS_REPLY_STRING) continue;
    // What has just run out may have just been written again.
    if (has_run_out(text_of(value), asked.ttl_s + kSpare_s)) words.push_back(text_of(field));
  }
  if (words.size() > 2 && link_.command(words)) asked_.push_back({});
}

}  // namespace sluice::router
