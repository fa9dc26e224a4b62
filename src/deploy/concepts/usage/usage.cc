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

constexpr int64_t kSecond_ms = 1'000;
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

void add_series(State& state, const std::string& router, const std::string& epoch, const auto& series) {
  UsageRecord record = state.get(series.revision)
                           .value_or(UsageRecord{.environment = series.environment,
                                                 .deployment = series.deployment,
                                                 .bundle = series.bundle,
                                                 .customer = series.customer,
                                                 .tenant = series.tenant,
                                                 .team = series.team});
  const UsageTotal before = counted_of(state, series.revision, router, epoch);
  record.requests += std::max<int64_t>(series.requests - before.requests, 0);
  record.bytesIn += std::max<int64_t>(series.bytesIn - before.bytesIn, 0);
  record.bytesOut += std::max<int64_t>(series.bytesOut - before.bytesOut, 0);
  state.put(series.revision, record);
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
    record->warmSince.reset();
    state.put(ask.revision, *record);
  }
  return Cooled::Ok{.revision = ask.revision};
}

Show::Result Usage::show(const Show&, const State& state) {
  Show::Ok shown;
  for (const UsageFound& each : state.all()) {
    const UsageRecord& record = each.record;
    shown.revisions.push_back({.revision = each.id,
                               .environment = record.environment,
                               .deployment = record.deployment,
                               .bundle = record.bundle,
                               .customer = record.customer,
                               .tenant = record.tenant,
                               .team = record.team,
                               .requests = record.requests,
                               .bytesIn = record.bytesIn,
                               .bytesOut = record.bytesOut,
                               .warmSeconds = warm_seconds(record, state.now())});
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
