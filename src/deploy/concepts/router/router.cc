// Router counts generations and keeps what each router has acknowledged; RouterFleet speaks to them. A publish takes
// its number in begin and compiles when it is its turn, so one that waited finds that the one before has sent its
// change already, or sends the newest state for all that wait behind it.
#include <algorithm>
#include <map>
#include <set>

#include "deploy/concepts/router/router_work.h"
#include "deploy/cookie_keys.h"
#include "deploy/router_fleet.h"
#include "deploy/views/router_settings.h"
#include "deploy/views/snapshot.h"

namespace sluice::deploy::router {
namespace {

constexpr int64_t kDrainPoll_ms = 50;
constexpr int64_t kSecond_ms = 1'000;

std::optional<lang::Element<RouterMember>> member_of(const State& state, const RouterId& environment,
                                                     const std::string& router) {
  for (const auto& each : state.members(environment)) {
    if (each.value.router == router) return each;
  }
  return std::nullopt;
}

RouterRecord table_of(const State& state, const RouterId& environment) {
  return state.get(environment).value_or(RouterRecord{});
}

std::vector<RouterFleet::Member> members_in(const State& state, const std::string& environment) {
  std::vector<RouterFleet::Member> members;
  for (const RouterMember& each : state.members(RouterId(environment)).values()) {
    members.push_back({.router = each.router, .name = each.name, .control = each.control});
  }
  return members;
}

}  // namespace

Register::Result Router::register_(const Register& ask, State& state) {
  RouterRecord table = table_of(state, ask.environment);
  auto known = member_of(state, ask.environment, ask.router);
  // One that obeys more than was ever published here does so from another life of this store: numbers go on from there.
  const bool current = ask.generation > 0 && ask.generation == table.generation;
  table.generation = std::max(table.generation, ask.generation);
  state.put(ask.environment, table);
  RouterMember member{.router = ask.router, .name = ask.name, .control = ask.control, .acknowledged = ask.generation};
  if (known) {
    state.members(ask.environment).put(known->number, member);
  } else {
    state.members(ask.environment).push(member);
  }
  if (current && known) return Register::Current{.environment = ask.environment, .router = ask.router};
  return Register::Ok{.environment = ask.environment, .router = ask.router};
}

Publish::Begun Router::begin_publish(const Publish& ask, State& state) {
  RouterRecord table = table_of(state, ask.environment);
  table.generation++;
  state.put(ask.environment, table);
  if (state.members(ask.environment).empty()) {
    return Publish::Result(Publish::Alone{.environment = ask.environment, .generation = table.generation});
  }
  return PublishWork{.environment = ask.environment.text(), .generation = table.generation};
}

Publish::Performed Router::perform_publish(const PublishWork& work, Effect& effect) {
  auto& fleet = effect.tool<RouterFleet>();
  const RouterFleet::Turn turn(fleet, work.environment);
  // Read now that it is this one's turn: what is sent is what holds, with the newest number of all who wait.
  const views::States states(effect.read());
  const RouterId environment(work.environment);
  auto table = views::router_table(states, work.environment);
  table.generation = std::max(work.generation, table_of(states.router(), environment).generation);
  auto members = members_in(states.router(), work.environment);
  Publish::Ok ok{.environment = environment, .generation = table.generation};
  // Whoever was sent a later number has what this one is about.
  std::erase_if(members, [&](const RouterFleet::Member& each) {
    auto generation = fleet.generation_of(each.router);
    if (!generation || *generation < table.generation) return false;
    ok.acknowledged.push_back(each.router);
    return true;
  });
  if (members.empty()) return ok;
  views::put_router_settings(states, work.environment, table);
  auto cookie_keys = effect.tool<CookieKeys>().current();
  if (!cookie_keys) return lang::Again{.reason = to_string(cookie_keys.error())};
  auto debug_key = fleet.debug_key();
  if (!debug_key) return lang::Again{.reason = to_string(debug_key.error())};
  table.cookie_keys = *std::move(cookie_keys);
  table.debug_keys = {*std::move(debug_key)};
  auto sent = fleet.publish(table, members);
  if (!sent) return lang::Again{.reason = to_string(sent.error())};
  for (std::string& each : sent->acknowledged) ok.acknowledged.push_back(std::move(each));
  for (const RouterFleet::Missed& each : sent->missed) {
    ok.missed.push_back(
        {.router = each.member.router, .name = each.member.name, .reason = each.reason, .gone = each.gone});
  }
  for (const RouterFleet::Quarantine& each : sent->quarantined) {
    ok.quarantined.push_back({.name = each.name, .deployment = each.deployment, .reason = each.reason});
  }
  return ok;
}

Publish::Outcome Router::finish_publish(const Publish& ask, const Publish::Outcome& outcome, State& state) {
  const auto* ok = get_if<Publish::Ok>(&outcome);
  if (ok == nullptr) return outcome;
  const std::set<std::string> acknowledged(ok->acknowledged.begin(), ok->acknowledged.end());
  std::map<std::string, std::string> troubles;  // of those that did not, by router
  for (const auto& each : ok->missed) {
    if (!each.gone) troubles[each.router] = each.reason;
  }
  // There may be a thousand: they are read once, and only those that have changed are written.
  std::vector<lang::Element<RouterMember>> changed;
  for (const auto& each : state.members(ask.environment)) {
    RouterMember member = each.value;
    if (acknowledged.contains(member.router)) {
      member.acknowledged = std::max(member.acknowledged, ok->generation);
      member.trouble.clear();
    } else if (auto trouble = troubles.find(member.router); trouble != troubles.end()) {
      member.trouble = trouble->second;
    }
    if (member.acknowledged == each.value.acknowledged && member.trouble == each.value.trouble) continue;
    changed.push_back({each.number, std::move(member)});
  }
  for (const auto& each : changed) state.members(ask.environment).put(each.number, each.value);
  state.edit(ask.environment, [&](RouterRecord& record) { record.publishedAt = state.now(); });
  return outcome;
}

Acknowledge::Result Router::acknowledge(const Acknowledge& ask, State& state) {
  auto known = member_of(state, ask.environment, ask.router);
  if (!known) return Acknowledge::Unknown{.environment = ask.environment, .router = ask.router};
  RouterMember member = known->value;
  member.acknowledged = ask.generation;
  if (ask.generation > 0) member.trouble.clear();
  state.members(ask.environment).put(known->number, member);
  const int64_t newest = table_of(state, ask.environment).generation;
  if (ask.generation < newest) {
    return Acknowledge::Behind{.environment = ask.environment, .router = ask.router, .generation = newest};
  }
  return Acknowledge::Ok{.environment = ask.environment, .router = ask.router};
}

Retire::Result Router::retire(const Retire& ask, State& state) {
  if (auto known = member_of(state, ask.environment, ask.router)) state.members(ask.environment).erase(known->number);
  return Retire::Ok{.environment = ask.environment, .router = ask.router};
}

Drain::Begun Router::begin_drain(const Drain& ask, State& state) {
  if (state.members(ask.environment).empty()) {
    return Drain::Result(Drain::Ok{.environment = ask.environment, .revision = ask.revision});
  }
  return DrainWork{.environment = ask.environment.text(),
                   .deployment = ask.deployment,
                   .revision = ask.revision,
                   .seconds = std::max<int64_t>(ask.seconds, 0)};
}

Drain::Performed Router::perform_drain(const DrainWork& work, Effect& effect) {
  auto& fleet = effect.tool<RouterFleet>();
  auto& clock = effect.tool<Clock>();
  lang::ReadOnlyRows rows(effect.read().rows_of("Router"));
  const auto members = members_in(State(rows), work.environment);
  // A second more than the routers have: they cut what is left by themselves.
  const int64_t until_ns = clock.monotonic_ns() + (work.seconds + 1) * kSecond_ms * 1'000'000;
  Drain::Ok ok{.environment = RouterId(work.environment), .revision = work.revision};
  while (true) {
    const auto drained = fleet.drained(work.deployment, work.revision, work.seconds * kSecond_ms, members);
    if (drained.cut > 0) ok.cut = drained.cut;
    if (drained.done || effect.cancelled() || clock.monotonic_ns() >= until_ns) break;
    clock.sleep_ms(kDrainPoll_ms);
  }
  return ok;
}

Drain::Outcome Router::finish_drain(const Drain&, const Drain::Outcome& outcome, State&) { return outcome; }

Show::Result Router::show(const Show& ask, const State& state) {
  Show::Ok shown{.environment = ask.environment, .generation = table_of(state, ask.environment).generation};
  shown.members = state.members(ask.environment).values();
  return shown;
}

}  // namespace sluice::deploy::router
