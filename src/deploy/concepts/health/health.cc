// Health goes through what a kit consists of one by one, and keeps the newest result of each target.
#include "deploy/bundle_shelf.h"
#include "deploy/concepts/health/health_work.h"
#include "deploy/live_probe.h"
#include "health.gen.h"

namespace sluice::deploy::health {
namespace {

// A slow answer is one that takes longer (local_runtime.cc says so of its own).
constexpr int64_t kThreshold_ms = 500;

void forget_lists(State& state, const HealthId& id) {
  state.left(id).clear();
  state.healthy(id).clear();
  state.degraded(id).clear();
  state.failed(id).clear();
}

// The newest result replaces the one before.
HealthId open_check(State& state, const std::string& target, HealthKind kind) {
  for (const HealthFound& each : state.find_by_target(target)) {
    if (each.record.kind != kind || each.record.ask) continue;
    forget_lists(state, each.id);
    state.erase(each.id);
  }
  return state.add(HealthRecord{.target = target,
                                .kind = kind,
                                .status = HealthStatus::checking,
                                .checkedAt = state.now(),
                                .ask = state.request()});
}

std::optional<HealthFound> check_of(const State& state) {
  auto found = state.find_by_ask(state.request());
  if (found.empty()) return std::nullopt;
  return found.front();
}

void close_check(State& state, HealthFound& check, HealthStatus status, int64_t latency_ms) {
  check.record.status = status;
  check.record.latencyMs = latency_ms;
  check.record.checkedAt = state.now();
  check.record.ask.reset();
  state.put(check.id, check.record);
}

// The next one that is to be asked, if any.
std::optional<std::string> next_of(State& state, const HealthId& id) {
  for (const auto& each : state.left(id)) {
    std::string next = each.value;
    state.left(id).erase(each.number);
    return next;
  }
  return std::nullopt;
}

}  // namespace

CheckConcept::Begun Health::begin_check_concept(const CheckConcept& ask, State& state) {
  open_check(state, ask.concept_, HealthKind::concept_);
  return lang::Opened{};
}

CheckConcept::Outcome Health::finish_check_concept(const CheckConcept& ask, const CheckConcept::Outcome& outcome,
                                                   State& state) {
  auto check = check_of(state);
  if (!check) return outcome;
  if (const auto* ok = get_if<CheckConcept::Ok>(&outcome)) {
    close_check(state, *check, HealthStatus::ok, ok->latencyMs);
    return CheckConcept::Ok{.check = check->id, .latencyMs = ok->latencyMs};
  }
  if (const auto* slow = get_if<CheckConcept::Degraded>(&outcome)) {
    close_check(state, *check, HealthStatus::degraded, slow->latencyMs);
    return CheckConcept::Degraded{.concept_ = ask.concept_, .latencyMs = slow->latencyMs, .threshold = kThreshold_ms};
  }
  close_check(state, *check, HealthStatus::failed, 0);
  const auto* unreachable = get_if<CheckConcept::Unreachable>(&outcome);
  const auto* engine = get_if<lang::EngineEnd>(&outcome);
  if (engine != nullptr && engine->outcome == lang::EngineOutcome::cancelled) return outcome;
  return CheckConcept::Unreachable{.concept_ = ask.concept_,
                                   .transport = unreachable != nullptr ? unreachable->transport : engine->message};
}

CheckKit::Begun Health::begin_check_kit(const CheckKit& ask, State& state) {
  open_check(state, ask.kit, HealthKind::kit);
  return lang::Opened{};
}

CheckKit::Outcome Health::finish_check_kit(const CheckKit&, const CheckKit::Outcome& outcome, State& state) {
  auto check = check_of(state);
  if (!check) return outcome;
  if (const auto* engine = get_if<lang::EngineEnd>(&outcome)) {
    check->record.details = engine->message;
    close_check(state, *check, HealthStatus::failed, 0);
    return outcome;
  }
  const auto healthy = state.healthy(check->id).values();
  const auto degraded = state.degraded(check->id).values();
  const auto failed = state.failed(check->id).values();
  if (!failed.empty()) {
    close_check(state, *check, HealthStatus::failed, check->record.latencyMs);
    return CheckKit::Failed{.check = check->id, .healthy = healthy, .failed = failed};
  }
  if (!degraded.empty()) {
    close_check(state, *check, HealthStatus::degraded, check->record.latencyMs);
    return CheckKit::Degraded{.check = check->id, .healthy = healthy, .degraded = degraded};
  }
  close_check(state, *check, HealthStatus::ok, check->record.latencyMs);
  return CheckKit::Ok{.check = check->id, .conceptResults = healthy};
}

CheckSync::Begun Health::begin_check_sync(const CheckSync& ask, State& state) {
  open_check(state, ask.sync, HealthKind::sync);
  return lang::Opened{};
}

CheckSync::Outcome Health::finish_check_sync(const CheckSync& ask, const CheckSync::Outcome& outcome, State& state) {
  auto check = check_of(state);
  if (!check) return outcome;
  const auto* engine = get_if<lang::EngineEnd>(&outcome);
  const auto* told = get_if<CheckSync::PartialFailure>(&outcome);
  const auto failed = state.failed(check->id).values();
  if (engine != nullptr || told != nullptr || !failed.empty()) {
    if (engine != nullptr) check->record.details = engine->message;
    if (told != nullptr) check->record.details = told->reason;
    close_check(state, *check, HealthStatus::failed, check->record.latencyMs);
    if (engine != nullptr && engine->outcome == lang::EngineOutcome::cancelled) return outcome;
    return CheckSync::PartialFailure{
        .sync = ask.sync, .failed = failed, .reason = check->record.details.value_or("a revision does not answer")};
  }
  if (!state.degraded(check->id).values().empty()) {
    close_check(state, *check, HealthStatus::degraded, kPathTimeout_ms);
    return CheckSync::Timeout{.sync = ask.sync, .timeoutMs = kPathTimeout_ms};
  }
  close_check(state, *check, HealthStatus::ok, check->record.latencyMs);
  return CheckSync::Ok{.check = check->id, .roundTripMs = check->record.latencyMs};
}

CheckInvariant::Begun Health::begin_check_invariant(const CheckInvariant& ask, State& state) {
  open_check(state, ask.concept_, HealthKind::invariant);
  return lang::Opened{};
}

CheckInvariant::Outcome Health::finish_check_invariant(const CheckInvariant& ask,
                                                       const CheckInvariant::Outcome& outcome, State& state) {
  auto check = check_of(state);
  if (!check) return outcome;
  if (get_if<CheckInvariant::Ok>(&outcome) != nullptr) {
    close_check(state, *check, HealthStatus::ok, 0);
    return CheckInvariant::Ok{.check = check->id};
  }
  if (const auto* engine = get_if<lang::EngineEnd>(&outcome)) check->record.details = engine->message;
  if (const auto* violated = get_if<CheckInvariant::Violated>(&outcome)) {
    check->record.details = violated->invariant + ": expected " + violated->expected + ", got " + violated->actual;
  }
  close_check(state, *check, HealthStatus::failed, 0);
  const auto* engine = get_if<lang::EngineEnd>(&outcome);
  if (engine == nullptr || engine->outcome == lang::EngineOutcome::cancelled) return outcome;
  return CheckInvariant::Unreachable{.concept_ = ask.concept_, .reason = engine->message};
}

SendThrough::Begun Health::begin_send_through(const SendThrough& ask, State&) {
  return SendThroughWork{
      .environment = ask.environment, .deployment = ask.deployment, .revision = ask.revision, .artifact = ask.artifact};
}

SendThrough::Performed Health::perform_send_through(const SendThroughWork& work, Effect& effect) {
  auto seen = effect.tool<BundleShelf>().look(work.artifact);
  if (!seen) return SendThrough::Lost{.revision = work.revision, .reason = to_string(seen.error())};
  auto done = effect.tool<LiveProbe>().send_through({.environment = work.environment,
                                                     .deployment = work.deployment,
                                                     .revision = work.revision,
                                                     .path = seen->manifest.health.path.text});
  if (done) return SendThrough::Ok{.revision = work.revision, .latencyMs = *done};
  if (done.error().code == Code::timeout) return SendThrough::Late{.revision = work.revision};
  return SendThrough::Lost{.revision = work.revision, .reason = done.error().message};
}

SendThrough::Outcome Health::finish_send_through(const SendThrough&, const SendThrough::Outcome& outcome, State&) {
  return outcome;
}

TryInvariant::Begun Health::begin_try_invariant(const TryInvariant& ask, State&) {
  return TryInvariantWork{.endpoint = ask.endpoint, .invariant = ask.invariant};
}

TryInvariant::Performed Health::perform_try_invariant(const TryInvariantWork& work, Effect& effect) {
  auto tried = effect.tool<LiveProbe>().try_invariant(work.endpoint, work.invariant, "sluice-check-" + effect.id());
  if (!tried) {
    if (tried.error().code == Code::not_found) return TryInvariant::Undeclared{.reason = tried.error().message};
    return TryInvariant::Unreachable{.reason = tried.error().message};
  }
  if (tried->violated.empty()) return TryInvariant::Ok{.invariants = tried->invariants};
  return TryInvariant::Violated{.invariant = tried->violated, .expected = tried->expected, .actual = tried->actual};
}

TryInvariant::Outcome Health::finish_try_invariant(const TryInvariant&, const TryInvariant::Outcome& outcome, State&) {
  return outcome;
}

Suspect::Begun Health::begin_suspect(const Suspect& ask, State& state) {
  for (const HealthFound& each : state.find_by_target(ask.instance)) {
    if (each.record.kind == HealthKind::suspect && each.record.ask) return Suspect::Ignored{.instance = ask.instance};
  }
  open_check(state, ask.instance, HealthKind::suspect);
  return lang::Opened{};
}

Suspect::Outcome Health::finish_suspect(const Suspect& ask, const Suspect::Outcome& outcome, State& state) {
  auto check = check_of(state);
  if (!check) return outcome;
  if (const auto* bad = get_if<Suspect::Degraded>(&outcome)) {
    check->record.details = bad->reason;
    close_check(state, *check, HealthStatus::degraded, 0);
    return outcome;
  }
  forget_lists(state, check->id);
  state.erase(check->id);
  const auto* engine = get_if<lang::EngineEnd>(&outcome);
  if (engine != nullptr && engine->outcome == lang::EngineOutcome::unanswered) {
    return Suspect::Ignored{.instance = ask.instance};
  }
  return outcome;
}

Expect::Result Health::expect(const Expect& ask, State& state) {
  for (const std::string& each : ask.revisions) state.left(ask.check).push(each);
  if (auto next = next_of(state, ask.check)) return Expect::Next{.check = ask.check, .concept_ = *next};
  return Expect::Ok{.check = ask.check};
}

Found::Result Health::found(const Found& ask, State& state) {
  if (ask.status == HealthFoundStatus::ok) state.healthy(ask.check).push(ask.concept_);
  if (ask.status == HealthFoundStatus::degraded) state.degraded(ask.check).push(ask.concept_);
  if (ask.status == HealthFoundStatus::failed) state.failed(ask.check).push(ask.concept_);
  state.edit(ask.check, [&](HealthRecord& record) {
    record.latencyMs = std::max(record.latencyMs, ask.latencyMs);
    if (ask.details) record.details = ask.details;
  });
  if (auto next = next_of(state, ask.check)) return Found::Next{.check = ask.check, .concept_ = *next};
  return Found::Ok{.check = ask.check};
}

Forget::Result Health::forget(const Forget& ask, State& state) {
  for (const HealthFound& each : state.find_by_target(ask.target)) {
    forget_lists(state, each.id);
    state.erase(each.id);
  }
  return Forget::Ok{.target = ask.target};
}

}  // namespace sluice::deploy::health
