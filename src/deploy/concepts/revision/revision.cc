// Revision walks the lifecycle. Every verb that takes time writes its claim in begin (`busy`, or `openWarm` of a warm)
// and gives it back in finish, whatever way it ended; so a revision is never left half way. What is done with its
// archive is in revision_shelf.cc.
#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <stdexcept>

#include "base/json.h"
#include "deploy/bundle_shelf.h"
#include "deploy/concepts/revision/lifecycle.h"
#include "deploy/concepts/revision/revision_rows.h"
#include "deploy/concepts/revision/revision_work.h"
#include "deploy/secret_names.h"

namespace sluice::deploy::revision {
namespace {

using enum RevisionLifecycle;

constexpr int64_t kMostDrain_s = 86'400;
constexpr int64_t kDay_ms = 86'400'000;

// One step bumps the generation once, as the row's own does.
void become(RevisionRecord& record, RevisionLifecycle to) {
  if (!may_become(record.lifecycle, to)) {
    throw std::logic_error("no revision goes from " + std::string(name_of(record.lifecycle)) + " to " +
                           std::string(name_of(to)));
  }
  record.lifecycle = to;
}

void fail_with(RevisionRecord& record, const std::string& check, const std::string& message) {
  if (record.lifecycle != failed) become(record, failed);
  record.failure = {.check = check, .message = message};
}

template <class Action>
typename Action::WrongState wrong_state(const RevisionId& id, const RevisionRecord& record, const std::string& wanted) {
  std::string text(name_of(record.lifecycle));
  return {.revision = id,
          .lifecycle = text,
          .busy = record.busy.has_value(),
          .message = record.busy ? "something else is being done to " + id.text()
                                 : id.text() + " is " + text + ", not " + wanted};
}

std::optional<RevisionFound> claimed(const State& state) {
  auto found = state.find_by_busy(state.request());
  if (found.empty()) return std::nullopt;
  return found.front();
}

}  // namespace

std::string_view name_of(RevisionLifecycle lifecycle) {
  switch (lifecycle) {
    case inactive:
      return "inactive";
    case staged:
      return "staged";
    case warming:
      return "warming";
    case ready:
      return "ready";
    case draining:
      return "draining";
    case failed:
      return "failed";
    case archived:
      return "archived";
  }
  return "";
}

// ---------------------------------------------------------------------------------------------------------- stage

Stage::Begun Revision::begin_stage(const Stage& ask, State& state) {
  if (!ask.source.starts_with('/') && !is_blob_digest(ask.source.substr(0, ask.source.find(',')))) {
    return Stage::Invalid{.message = "the archive is named by an absolute path, or by its digest in this home"};
  }
  if (ask.drainSeconds && (*ask.drainSeconds < 0 || *ask.drainSeconds > kMostDrain_s)) {
    return Stage::Invalid{.message = "a revision drains for 0 to 86400 seconds"};
  }
  RevisionDRecord counted = state.get(ask.deployment).value_or(RevisionDRecord{});
  counted.lastSequence++;
  state.put(ask.deployment, counted);
  state.add({.deployment = ask.deployment.text(),
             .environment = ask.environment,
             .bundle = ask.bundle,
             .sequence = counted.lastSequence,
             .createdAt = state.now(),
             .generation = 1,
             .source = ask.source,
             .config = ask.config,
             .drainSeconds = ask.drainSeconds.value_or(-1),
             .lifecycle = inactive,
             .busy = state.request()});
  return lang::Opened{};
}

Stage::Outcome Revision::finish_stage(const Stage&, const Stage::Outcome& outcome, State& state) {
  auto found = claimed(state);
  if (!found) return outcome;
  RevisionRecord& record = found->record;
  record.busy.reset();
  Stage::Outcome told = outcome;
  if (auto* ok = get_if<Stage::Ok>(&told)) {
    become(record, staged);
    record.signature = ok->signature;
    record.stagedAt = state.now();
    *ok = {.revision = found->id,
           .sequence = record.sequence,
           .bundleDigest = record.bundleDigest,
           .configDigest = record.configDigest,
           .signature = record.signature};
  } else if (auto* unverified = get_if<Stage::Unverified>(&told)) {
    unverified->revision = found->id;
    fail_with(record, "signature-status", unverified->message);
  } else if (auto* bad = get_if<Stage::Failed>(&told)) {
    fail_with(record, bad->check, bad->message);
  } else {
    told = Stage::Failed{.revision = found->id, .check = std::string(kEngineCheck), .message = reason_of(outcome)};
    fail_with(record, std::string(kEngineCheck), reason_of(outcome));
  }
  keep(state, found->id, record);
  return told;
}

// ----------------------------------------------------------------------------------------------- warm and inspect

Warm::Begun Revision::begin_warm(const Warm& ask, State& state) {
  auto record = state.get(ask.revision);
  if (!record) return Warm::NotFound{.revision = ask.revision};
  if (record->lifecycle == ready) return Warm::Ok{.revision = ask.revision, .endpoint = record->endpoint};
  if (record->busy || record->lifecycle != staged) return wrong_state<Warm>(ask.revision, *record, "staged");
  become(*record, warming);
  record->retired.reset();
  record->openWarm = state.request();
  record->failure = {};
  keep(state, ask.revision, *record);
  return lang::Opened{};
}

Warm::Outcome Revision::finish_warm(const Warm& ask, const Warm::Outcome& outcome, State& state) {
  auto record = state.get(ask.revision);
  if (!record || record->openWarm != state.request()) return outcome;
  record->openWarm.reset();
  Warm::Outcome told = outcome;
  if (ended_of(outcome) == Warm::Ended::engine) {
    told = Warm::Failed{.revision = ask.revision, .check = std::string(kEngineCheck), .message = reason_of(outcome)};
  }
  if (record->lifecycle == warming) {  // else it was archived in the meantime
    if (const auto* ok = get_if<Warm::Ok>(&told)) {
      become(*record, ready);
      record->endpoint = ok->endpoint;
      record->warmedAt = state.now();
    } else if (const auto* bad = get_if<Warm::Failed>(&told)) {
      fail_with(*record, bad->check, bad->message);
    }
  }
  keep(state, ask.revision, *record);
  return told;
}

Inspect::Begun Revision::begin_inspect(const Inspect& ask, State& state) {
  if (state.has(ask.revision)) return lang::Opened{};
  return Inspect::Unverified{.revision = ask.revision, .message = "there is no revision " + ask.revision.text()};
}

Inspect::Outcome Revision::finish_inspect(const Inspect& ask, const Inspect::Outcome& outcome, State&) {
  if (ended_of(outcome) != Inspect::Ended::engine) return outcome;
  return Inspect::Unverified{.revision = ask.revision, .message = reason_of(outcome)};
}

// -------------------------------------------------------------------------------------------------------- secrets

Wants::Result Revision::wants(const Wants& ask, State& state) {
  auto record = state.get(ask.revision);
  if (!record) return Wants::Unfit{.revision = ask.revision, .message = "there is no revision " + ask.revision.text()};
  Wants::Ok ok{.revision = ask.revision,
               .environment = record->environment,
               .reader = record->bundle + "@" + std::to_string(record->sequence),
               .image = record->needs.image};
  if (record->needs.secretRefs.empty()) return ok;
  std::map<std::string, std::string> pinned;  // by variable
  if (record->needs.pinSecrets.value_or(false)) {
    for (const RevisionSecretVersion& each : state.secret_versions(ask.revision).values()) {
      pinned[each.variable] = each.version;
    }
  }
  std::map<std::string, std::string> held;  // by name
  if (ask.held) {
    for (const auto& each : state.held_secrets(RevisionDId(record->deployment))) {
      held[each.value.name] = each.value.version;
    }
  }
  auto config = parse_json(record->packConfig);
  if (!config) return Wants::Unfit{.revision = ask.revision, .message = config.error().message};
  for (const auto& each : config->root.at("secret_refs").as_object()) {
    auto reference = parse_secret_reference(each.value().as_string());
    if (!reference) return Wants::Unfit{.revision = ask.revision, .message = reference.error().message};
    const std::string variable(each.key());
    const auto at = held.find(reference->name);
    ok.wanted.push_back(
        {.variable = variable, .name = reference->name, .version = at == held.end() ? pinned[variable] : at->second});
  }
  return ok;
}

HoldSecrets::Result Revision::hold_secrets(const HoldSecrets& ask, State& state) {
  // Before the first revision there is no deployment, and nothing to hold.
  if (ask.deployment.text().empty()) return HoldSecrets::Ok{.deployment = ask.deployment};
  std::vector<RevisionHeldSecret> held;
  for (const auto& each : ask.secrets) held.push_back({.name = each.name, .version = each.version});
  if (state.held_secrets(ask.deployment).values() != held) state.held_secrets(ask.deployment).assign(held);
  return HoldSecrets::Ok{.deployment = ask.deployment};
}

CompareSecrets::Result Revision::compare_secrets(const CompareSecrets& ask, State& state) {
  const auto record = state.get(ask.revision);
  if (!record) return CompareSecrets::Same{.revision = ask.revision};
  for (const auto& held : state.held_secrets(RevisionDId(record->deployment)).values()) {
    for (const auto& has : state.secret_versions(ask.revision).values()) {
      if (has.name == held.name && has.version != held.version) return CompareSecrets::Others{.revision = ask.revision};
    }
  }
  return CompareSecrets::Same{.revision = ask.revision};
}

Entrust::Result Revision::entrust(const Entrust& ask, State& state) {
  std::vector<RevisionSecretVersion> versions;
  for (const auto& each : ask.versions) {
    versions.push_back({.variable = each.variable, .name = each.name, .version = each.version});
  }
  auto record = state.get(ask.revision);
  if (record) {
    state.secret_versions(ask.revision).assign(versions);
    record->secretsFrom = ask.provider;
    state.put(ask.revision, *record);
    const RevisionDId deployment(record->deployment);
    auto held = state.held_secrets(deployment).values();
    const auto freed = std::erase_if(held, [&](const RevisionHeldSecret& one) {
      return std::ranges::any_of(
          versions, [&](const auto& each) { return each.name == one.name && each.version != one.version; });
    });
    if (freed > 0) state.held_secrets(deployment).assign(held);
  }
  return Entrust::Ok{.revision = ask.revision};
}

// ------------------------------------------------------------------------------------------ drain, retry, archive

Drain::Begun Revision::begin_drain(const Drain& ask, State& state) {
  auto record = state.get(ask.revision);
  if (!record) return Drain::NotFound{.revision = ask.revision};
  bool again = record->lifecycle == draining;  // what could not be stopped is tried again
  if (record->busy || (!again && record->lifecycle != ready)) {
    return wrong_state<Drain>(ask.revision, *record, "ready");
  }
  if (!again) become(*record, draining);
  record->busy = state.request();
  keep(state, ask.revision, *record);
  return lang::Opened{};
}

Drain::Outcome Revision::finish_drain(const Drain& ask, const Drain::Outcome& outcome, State& state) {
  auto found = claimed(state);
  if (!found) return outcome;
  found->record.busy.reset();
  if (ended_of(outcome) == Drain::Ended::ok) {
    become(found->record, inactive);
    found->record.endpoint.clear();
  }
  keep(state, found->id, found->record);
  if (ended_of(outcome) != Drain::Ended::engine) return outcome;
  return Drain::NotStopped{.revision = ask.revision, .message = reason_of(outcome)};
}

Retry::Begun Revision::begin_retry(const Retry& ask, State& state) {
  auto record = state.get(ask.revision);
  if (!record) return Retry::NotFound{.revision = ask.revision};
  if (record->busy || (record->lifecycle != failed && record->lifecycle != inactive)) {
    return wrong_state<Retry>(ask.revision, *record, "failed or inactive");
  }
  record->busy = state.request();
  keep(state, ask.revision, *record);
  return lang::Opened{};
}

Retry::Outcome Revision::finish_retry(const Retry& ask, const Retry::Outcome& outcome, State& state) {
  auto found = claimed(state);
  if (!found) return outcome;
  RevisionRecord& record = found->record;
  record.busy.reset();
  Retry::Outcome told = outcome;
  if (ended_of(outcome) == Retry::Ended::ok) {
    become(record, staged);
    record.failure = {};
    record.stagedAt = state.now();
  } else if (auto* unverified = get_if<Retry::Unverified>(&told)) {
    unverified->revision = ask.revision;
    fail_with(record, "signature-status", unverified->message);
  } else if (const auto* bad = get_if<Retry::Failed>(&told)) {
    fail_with(record, bad->check, bad->message);
  } else {
    told = Retry::Failed{.revision = ask.revision, .check = std::string(kEngineCheck), .message = reason_of(outcome)};
    fail_with(record, std::string(kEngineCheck), reason_of(outcome));
  }
  keep(state, found->id, record);
  return told;
}

Archive::Begun Revision::begin_archive(const Archive& ask, State& state) {
  auto record = state.get(ask.revision);
  if (!record) return Archive::NotFound{.revision = ask.revision};
  bool again = record->lifecycle == archived;  // something of it may run still
  if (record->busy || (!again && !may_become(record->lifecycle, archived))) {
    return wrong_state<Archive>(ask.revision, *record, "inactive, staged, warming, ready or failed");
  }
  if (!again) {
    become(*record, archived);
    record->archivedAt = state.now();
  }
  record->endpoint.clear();
  record->busy = state.request();
  keep(state, ask.revision, *record);
  return lang::Opened{};
}

Archive::Outcome Revision::finish_archive(const Archive& ask, const Archive::Outcome& outcome, State& state) {
  auto found = claimed(state);
  if (!found) return outcome;
  found->record.busy.reset();
  found->record.discarded = !found->record.artifact.empty();  // also while something of it runs still
  keep(state, found->id, found->record);
  if (ended_of(outcome) != Archive::Ended::engine) return outcome;
  return Archive::NotStopped{.revision = ask.revision, .message = reason_of(outcome)};
}

// ------------------------------------------------------------------------------------------------------- the rest

Fail::Result Revision::fail(const Fail& ask, State& state) {
  auto record = state.get(ask.revision);
  if (!record) return Fail::NotFound{.revision = ask.revision};
  if (record->busy || !may_become(record->lifecycle, failed)) {
    return wrong_state<Fail>(ask.revision, *record, "inactive, staged, warming or ready");
  }
  fail_with(*record, ask.check, ask.message);
  record->endpoint.clear();
  keep(state, ask.revision, *record);
  return Fail::Ok{.revision = ask.revision};
}

StandIn::Result Revision::stand_in(const StandIn& ask, State& state) {
  auto record = state.get(ask.revision);
  if (!record) return StandIn::None{.revision = ask.revision, .message = "the revision is gone"};
  auto name = [](const RevisionRecord& of) { return of.bundle + "@" + std::to_string(of.sequence); };
  std::optional<RevisionFound> newest;
  for (const RevisionFound& each : state.find_by_deployment(record->deployment)) {
    if (each.id == ask.revision || each.record.lifecycle != ready || each.record.busy) continue;
    if (!newest || each.record.sequence > newest->record.sequence) newest = each;
  }
  if (!newest) {
    return StandIn::None{.revision = ask.revision,
                         .message = "no replica of " + name(*record) + " answers, and no other revision is warm"};
  }
  return StandIn::Ok{.revision = ask.revision,
                     .deployment = record->deployment,
                     .other = newest->id,
                     .name = name(*record),
                     .otherName = name(newest->record)};
}

Move::Result Revision::move(const Move& ask, State& state) {
  auto record = state.get(ask.revision);
  if (record && record->lifecycle == ready && record->endpoint != ask.endpoint) {
    record->endpoint = ask.endpoint;
    keep(state, ask.revision, *record);
  }
  return Move::Ok{.revision = ask.revision};
}

Tidy::Result Revision::tidy(const Tidy& ask, State& state) {
  std::vector<RevisionFound> all_staged;
  for (const RevisionFound& each : state.find_by_deployment(ask.deployment.text())) {
    if (each.record.lifecycle == staged && !each.record.busy) all_staged.push_back(each);
    if (each.record.lifecycle != archived || each.record.busy || !each.record.archivedAt) continue;
    if (state.now().ms - each.record.archivedAt->ms <= ask.archivedMaxAgeDays * kDay_ms) continue;
    state.secret_versions(each.id).clear();
    state.reads_found(each.id).clear();
    state.erase(each.id);
  }
  std::ranges::sort(all_staged, {}, [](const RevisionFound& each) {
    return std::pair(each.record.stagedAt ? each.record.stagedAt->ms : 0, each.record.sequence);
  });
  for (size_t i = 0; i + static_cast<size_t>(ask.stagedMaxCount) < all_staged.size(); ++i) {
    become(all_staged[i].record, archived);
    all_staged[i].record.archivedAt = state.now();
    all_staged[i].record.discarded = true;
    keep(state, all_staged[i].id, all_staged[i].record);
  }
  return Tidy::Ok{.deployment = ask.deployment};
}

Retire::Result Revision::retire(const Retire& ask, State& state) {
  auto is_in = [](const std::vector<std::string>& list, const RevisionId& id) {
    return std::ranges::find(list, id.text()) != list.end();
  };
  auto all = state.find_by_deployment(ask.deployment.text());
  int64_t newest = 0;
  for (const RevisionFound& each : all) {
    if (is_in(ask.stays, each.id)) newest = std::max(newest, each.record.sequence);
  }
  std::ranges::sort(all, {}, [](const RevisionFound& each) { return each.record.sequence; });
  for (RevisionFound& each : all) {
    if (each.record.busy || each.record.sequence > newest || is_in(ask.stays, each.id)) continue;
    if (each.record.lifecycle == ready && !each.record.retired) {
      each.record.retired = state.now();  // one that cannot be stopped is not tried again
      keep(state, each.id, each.record);
      return Retire::Drain{.revision = each.id};
    }
    if (each.record.lifecycle == inactive && each.record.warmedAt && !is_in(ask.kept, each.id)) {
      return Retire::Archive{.revision = each.id};
    }
  }
  return Retire::Ok{.deployment = ask.deployment};
}

ReviveNext::Result Revision::revive_next(const ReviveNext& ask, State& state) {
  for (const std::string& each : ask.revisions) {
    const RevisionId id(each);
    auto record = state.get(id);
    if (!record) return ReviveNext::Lost{.revision = each, .message = "the revision " + each + " is gone"};
    if (record->lifecycle == ready) continue;
    const std::string name = record->bundle + "@" + std::to_string(record->sequence);
    if (record->lifecycle == inactive || record->lifecycle == failed) return ReviveNext::Retry{.revision = id};
    if (record->lifecycle == staged) return ReviveNext::Warm{.revision = id};
    return ReviveNext::Lost{.revision = each, .message = name + " is " + std::string(name_of(record->lifecycle))};
  }
  return ReviveNext::Ok{};
}

EndNext::Result Revision::end_next(const EndNext& ask, State& state) {
  for (const RevisionFound& each : state.find_by_deployment(ask.deployment.text())) {
    if (each.record.lifecycle != archived) return EndNext::Archive{.revision = each.id};
  }
  return EndNext::Ok{.deployment = ask.deployment};
}

Forget::Result Revision::forget(const Forget& ask, State& state) {
  for (const RevisionFound& each : state.find_by_deployment(ask.deployment.text())) {
    state.secret_versions(each.id).clear();
    state.reads_found(each.id).clear();
    state.erase(each.id);
  }
  state.erase(ask.deployment);
  return Forget::Ok{.deployment = ask.deployment};
}

Live::Result Revision::live(const Live&, const State& state) {
  Live::Ok ok;
  for (RevisionLifecycle each : {inactive, staged, warming, ready, draining, failed}) {
    for (const RevisionFound& found : state.find_by_lifecycle(each)) ok.revisions.push_back(found.id);
  }
  return ok;
}

ShowConfig::Result Revision::show_config(const ShowConfig& ask, const State& state) {
  auto record = state.get(ask.revision);
  if (!record) return ShowConfig::NotFound{.revision = ask.revision};
  return ShowConfig::Ok{
      .revision = ask.revision, .packConfig = record->packConfig, .configDigest = record->configDigest};
}

}  // namespace sluice::deploy::revision
