// Totals of a router grow from its epoch on. Usage keeps, for each revision, the totals that it has counted last of
// each router and epoch, and adds the difference; so an answer that is read twice, or lost, changes nothing.
#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <set>

#include "deploy/concepts/usage/usage_work.h"
#include "deploy/router_fleet.h"
#include "deploy/views/known_routers.h"

namespace sluice::deploy::usage {
namespace {

constexpr int64_t kSecond_ms = 1'000, kHour_ms = 3'600 * kSecond_ms, kHoursKept_ms = 400 * 24 * kHour_ms;
constexpr std::string_view kNobody = "default";  // as tables name a tenant or a team that is not named

std::string text_at(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

int64_t count_at(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr) return 0;
  if (value->is_int64()) return value->get_int64();
  return value->is_uint64() ? static_cast<int64_t>(value->get_uint64()) : 0;
}

// What was counted of this router and epoch already.
UsageTotal counted_of(const State& state, const UsageId& revision, const std::string& router,
                      const std::string& epoch) {
  for (const UsageTotal& each : state.totals(revision).values()) {
    if (each.router == router && each.epoch == epoch) return each;
  }
  return {.router = router, .epoch = epoch};
}

int64_t last_sequence(const State& state, const std::string& router, const std::string& epoch) {
  for (const UsageReading& each : state.readings().values()) {
    if (each.router == router && each.epoch == epoch) return each.sequence;
  }
  return -1;
}

int64_t warm_seconds(const UsageRecord& record, lang::DateTime now) {
  if (!record.warmSince) return record.warmSeconds;
  return record.warmSeconds + std::max<int64_t>((now.ms - record.warmSince->ms) / kSecond_ms, 0);
}

int64_t hour_of(int64_t ms) { return ms - ms % kHour_ms; }

// Adds to the hour, and forgets hours that are too old when a new one begins.
void add_to_hour(State& state, const UsageId& revision, const UsageHour& more) {
  auto hours = state.hours(revision);
  for (const auto& each : hours) {
    if (each.value.hour != more.hour) continue;
    UsageHour sum = each.value;
    sum.requests += more.requests;
    sum.bytesIn += more.bytesIn;
    sum.bytesOut += more.bytesOut;
    sum.warmSeconds += more.warmSeconds;
    hours.put(each.number, sum);
    return;
  }
  std::vector<int64_t> old;
  for (const auto& each : hours) {
    if (each.value.hour.ms < more.hour.ms - kHoursKept_ms) old.push_back(each.number);
  }
  for (int64_t number : old) hours.erase(number);
  hours.push(more);
}

// The seconds of a time that was warm, each in its hour. They add up to the whole seconds of all of it.
void add_warm_hours(State& state, const UsageId& revision, int64_t from_ms, int64_t to_ms) {
  const int64_t seconds = (to_ms - from_ms) / kSecond_ms;
  int64_t counted = 0;
  for (int64_t hour = hour_of(from_ms); hour < to_ms && counted < seconds; hour += kHour_ms) {
    const int64_t so_far = hour + kHour_ms >= to_ms ? seconds : (hour + kHour_ms - from_ms) / kSecond_ms;
    add_to_hour(state, revision, {.hour = {.ms = hour}, .warmSeconds = so_far - counted});
    counted = so_far;
  }
}

// What was used between two times, in whole hours.
UsageHour used_between(const State& state, const UsageFound& found, const Show& ask) {
  const int64_t from_ms = ask.since ? hour_of(ask.since->ms) : 0;
  const int64_t to_ms = ask.until ? ask.until->ms : state.now().ms + kHour_ms;
  UsageHour sum;
  for (const UsageHour& each : state.hours(found.id).values()) {
    if (each.hour.ms < from_ms || each.hour.ms >= to_ms) continue;
    sum.requests += each.requests;
    sum.bytesIn += each.bytesIn;
    sum.bytesOut += each.bytesOut;
    sum.warmSeconds += each.warmSeconds;
  }
  if (found.record.warmSince) {
    const int64_t last_ms = to_ms == hour_of(to_ms) ? to_ms : hour_of(to_ms) + kHour_ms;
    const int64_t warm_ms = std::min(state.now().ms, last_ms) - std::max(found.record.warmSince->ms, from_ms);
    sum.warmSeconds += std::max<int64_t>(warm_ms / kSecond_ms, 0);
  }
  return sum;
}

void add_series(State& state, const std::string& router, const std::string& epoch, const auto& series) {
  UsageRecord record = state.get(series.revision)
                           .value_or(UsageRecord{.environment = series.environment,
                                                 .deployment = series.deployment,
                                                 .bundle = series.bundle,
                                                 .customer = series.customer,
                                                 .tenant = series.tenant,
                                                 .team = series.team});
  const UsageTotal before = counted_of(state, series.revision, router, epoch);
  const UsageHour more{.hour = {.ms = hour_of(state.now().ms)},
                       .requests = std::max<int64_t>(series.requests - before.requests, 0),
                       .bytesIn = std::max<int64_t>(series.bytesIn - before.bytesIn, 0),
                       .bytesOut = std::max<int64_t>(series.bytesOut - before.bytesOut, 0)};
  record.requests += more.requests;
  record.bytesIn += more.bytesIn;
  record.bytesOut += more.bytesOut;
  state.put(series.revision, record);
  add_to_hour(state, series.revision, more);
  const UsageTotal total{.router = router,
                         .epoch = epoch,
                         .requests = series.requests,
                         .bytesIn = series.bytesIn,
                         .bytesOut = series.bytesOut};
  for (const auto& each : state.totals(series.revision)) {
    if (each.value.router != router || each.value.epoch != epoch) continue;
    state.totals(series.revision).put(each.number, total);
    return;
  }
  state.totals(series.revision).push(total);
}

void note_sequence(State& state, const UsageReading& reading) {
  for (const auto& each : state.readings()) {
    if (each.value.router != reading.router || each.value.epoch != reading.epoch) continue;
    state.readings().put(each.number, reading);
    return;
  }
  state.readings().push(reading);
}

void note_in_memory(State& state, const auto& counts) {
  for (const auto& each : state.unkept()) {
    if (each.value.epoch != counts.epoch) continue;
    UsageUnkeptItem known = each.value;
    known.read = state.now();
    state.unkept().put(each.number, known);
    return;
  }
  state.unkept().push({.router = counts.router,
                       .epoch = counts.epoch,
                       .reason = counts.reason,
                       .since = state.now(),
                       .read = state.now()});
}

void note_lost(State& state, const auto& counts) {
  for (const auto& each : state.unkept()) {
    if (each.value.epoch != counts.epoch) continue;
    UsageUnkeptItem known = each.value;
    known.lost = true;
    state.unkept().put(each.number, known);
    return;
  }
  // It began and ended between two readings.
  state.unkept().push({.router = counts.router, .epoch = counts.epoch, .since = state.now(), .lost = true});
}

using Reading = decltype(Collect::Ok::readings)::value_type;
using Series = decltype(Reading::series)::value_type;

// Of each revision once: a deployment whose tenant or team was changed has counts under both names.
std::vector<Series> series_of(const json::object& answer) {
  std::vector<Series> all;
  std::map<std::string, size_t> places;  // by revision
  const json::value* series = answer.if_contains("series");
  if (series == nullptr || !series->is_array()) return all;
  for (const json::value& each : series->get_array()) {
    if (!each.is_object()) continue;
    const json::object& one = each.get_object();
    const UsageId revision(text_at(one, "revision"));
    auto [known, fresh] = places.try_emplace(revision.text(), all.size());
    if (fresh) {
      all.push_back({.revision = revision,
                     .deployment = text_at(one, "deployment"),
                     .bundle = text_at(one, "bundle"),
                     .customer = text_at(one, "customer"),
                     .tenant = text_at(one, "tenant"),
                     .team = text_at(one, "team")});
    }
    Series& sum = all[known->second];
    sum.requests += count_at(one, "requests");
    sum.bytesIn += count_at(one, "bytes_in");
    sum.bytesOut += count_at(one, "bytes_out");
  }
  return all;
}

}  // namespace

Collect::Begun Usage::begin_collect(const Collect&, State&) { return CollectWork{}; }

Collect::Performed Usage::perform_collect(const CollectWork&, Effect& effect) {
  lang::ReadOnlyRows rows(effect.read().rows_of("Usage"));
  const State counted(rows);
  std::vector<RouterFleet::Member> members;
  std::map<std::string, std::string> environments;  // by router
  for (views::KnownRouter& each : views::known_routers(effect.read())) {
    environments[each.member.router] = each.environment;
    members.push_back(std::move(each.member));
  }
  Collect::Ok ok;
  std::set<std::string> answered, in_memory;  // routers; epochs
  std::set<std::string> named;                // epochs that are known to be lost
  for (const UsageUnkeptItem& each : counted.unkept().values()) {
    if (each.lost) named.insert(each.epoch);
  }
  for (const json::object& answer : effect.tool<RouterFleet>().usage(members)) {
    Reading reading{.router = text_at(answer, "router"),
                    .epoch = text_at(answer, "epoch"),
                    .sequence = count_at(answer, "sequence")};
    if (reading.router.empty()) continue;
    answered.insert(reading.router);
    if (answer.contains("memory")) {
      in_memory.insert(reading.epoch);
      ok.inMemory.push_back({.router = reading.router, .epoch = reading.epoch, .reason = text_at(answer, "memory")});
    }
    if (std::string lost = text_at(answer, "lost"); !lost.empty() && named.insert(lost).second) {
      ok.lost.push_back({.router = reading.router, .epoch = lost});
    }
    for (Series& now : series_of(answer)) {
      const UsageTotal before = counted_of(counted, now.revision, reading.router, reading.epoch);
      if (now.requests == before.requests && now.bytesIn == before.bytesIn && now.bytesOut == before.bytesOut) continue;
      // A router that was retired has left counts of revisions that are known.
      auto known = environments.find(reading.router);
      auto record = counted.get(now.revision);
      now.environment = known != environments.end() ? known->second : record ? record->environment : "";
      reading.series.push_back(std::move(now));
    }
    if (!reading.series.empty()) ok.readings.push_back(std::move(reading));
  }
  // What a router had in memory, and has there no more, it has lost.
  for (const UsageUnkeptItem& each : counted.unkept().values()) {
    if (!answered.contains(each.router) || in_memory.contains(each.epoch)) continue;
    if (named.insert(each.epoch).second) ok.lost.push_back({.router = each.router, .epoch = each.epoch});
  }
  return ok;
}

Collect::Outcome Usage::finish_collect(const Collect&, const Collect::Outcome& outcome, State& state) {
  const auto* ok = get_if<Collect::Ok>(&outcome);
  if (ok == nullptr) return outcome;
  for (const auto& reading : ok->readings) {
    if (reading.sequence <= last_sequence(state, reading.router, reading.epoch)) continue;
    for (const auto& series : reading.series) add_series(state, reading.router, reading.epoch, series);
    note_sequence(state, {.router = reading.router, .epoch = reading.epoch, .sequence = reading.sequence});
  }
  for (const auto& each : ok->inMemory) note_in_memory(state, each);
  for (const auto& each : ok->lost) note_lost(state, each);
  return outcome;
}

Warmed::Result Usage::warmed(const Warmed& ask, State& state) {
  UsageRecord record = state.get(ask.revision).value_or(UsageRecord{});
  record.environment = ask.environment;
  record.deployment = ask.deployment;
  record.bundle = ask.bundle;
  record.customer = ask.customer;
  record.tenant = ask.tenant.empty() ? std::string(kNobody) : ask.tenant;
  record.team = ask.team.empty() ? std::string(kNobody) : ask.team;
  if (!record.warmSince) record.warmSince = state.now();
  state.put(ask.revision, record);
  return Warmed::Ok{.revision = ask.revision};
}

Cooled::Result Usage::cooled(const Cooled& ask, State& state) {
  auto record = state.get(ask.revision);
  if (record && record->warmSince) {
    record->warmSeconds = warm_seconds(*record, state.now());
    add_warm_hours(state, ask.revision, record->warmSince->ms, state.now().ms);
    record->warmSince.reset();
    state.put(ask.revision, *record);
  }
  return Cooled::Ok{.revision = ask.revision};
}

Show::Result Usage::show(const Show& ask, const State& state) {
  Show::Ok shown;
  for (const UsageFound& each : state.all()) {
    const UsageRecord& record = each.record;
    const bool always = !ask.since && !ask.until;
    const UsageHour used = always ? UsageHour{.requests = record.requests,
                                              .bytesIn = record.bytesIn,
                                              .bytesOut = record.bytesOut,
                                              .warmSeconds = warm_seconds(record, state.now())}
                                  : used_between(state, each, ask);
    if (!always && used.requests == 0 && used.bytesIn == 0 && used.bytesOut == 0 && used.warmSeconds == 0) continue;
    shown.revisions.push_back({.revision = each.id,
                               .environment = record.environment,
                               .deployment = record.deployment,
                               .bundle = record.bundle,
                               .customer = record.customer,
                               .tenant = record.tenant,
                               .team = record.team,
                               .requests = used.requests,
                               .bytesIn = used.bytesIn,
                               .bytesOut = used.bytesOut,
                               .warmSeconds = used.warmSeconds});
  }
  for (const UsageUnkeptItem& each : state.unkept().values()) {
    shown.unkept.push_back({.router = each.router,
                            .epoch = each.epoch,
                            .reason = each.reason,
                            .since = each.since,
                            .read = each.read,
                            .lost = each.lost});
  }
  return shown;
}

}  // namespace sluice::deploy::usage
