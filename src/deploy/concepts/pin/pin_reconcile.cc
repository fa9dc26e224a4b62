// One pin: what runs is made what the pin says. It acts on what is, so it may be asked as often as anybody likes; asked
// while it is at work, it looks once more afterwards.
#include <algorithm>
#include <set>

#include "base/disk.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/time_zone.h"
#include "deploy/concepts/pin/pin_rows.h"
#include "deploy/concepts/pin/pin_work.h"
#include "deploy/promotion/promotion.h"

namespace sluice::deploy::pin {
namespace {

constexpr size_t kKeptLocks = 10;
constexpr const char* kInCluster = "cluster";  // in the place of a deployment

// The newest entry of the history; of those before, the last ten stay.
void push_lock(State& state, const PinId& id, const PinRecord& record, PinLock lock) {
  const auto locks = state.locks(id).values();
  lock.number = locks.empty() ? 1 : locks.back().number + 1;
  lock.at = state.now();
  state.locks(id).push(lock);
  size_t left = locks.size() + 1;
  for (const auto& each : state.locks(id)) {
    if (left <= kKeptLocks) break;
    --left;
    // What it went back to is still needed.
    if (record.held == each.value.number) continue;
    state.locks(id).erase(each.number);
  }
}

// What was applied becomes the newest entry of the history, unless it is that one already.
void note_lock(State& state, const PinId& id, const PinRecord& record) {
  const PinRendering& made = record.rendering;
  const auto locks = state.locks(id).values();
  if (!locks.empty() && locks.back().hash == made.hash && locks.back().release == made.release) return;
  push_lock(state, id, record,
            {.release = made.release,
             .identity = made.identity,
             .settings = made.settings,
             .target = made.target,
             .hash = made.hash,
             .deployment = record.deployment,
             .revision = record.revision,
             .facts = "",
             .by = record.movedBy});
}

std::string applied_message(const State& state, const PinId& id) {
  std::string others;
  for (const auto& each : state.together(id)) others += (others.empty() ? "" : ", ") + each.value;
  return "Release successfully applied" + (others.empty() ? "" : "; it and " + others + " need each other");
}

// The settings that ran before and are not said any more.
std::vector<std::string> unset_between(const std::string& before, const promote::BundleSpec& now) {
  std::vector<std::string> names;
  const auto target = promote::parse_target(before);
  if (!target || !target->bundle) return names;
  const auto said = [&](const std::string& name) {
    return now.config.as_object().contains(name) || now.secretRefs.contains(name);
  };
  for (const auto& each : target->bundle->config.as_object()) {
    if (!said(std::string(each.key()))) names.emplace_back(each.key());
  }
  for (const auto& [name, unused] : target->bundle->secretRefs) {
    if (!said(name)) names.push_back(name);
  }
  return names;
}

Render::Bundle bundle_of(const RenderWork& work, const promote::BundleSpec& spec, PinRendering rendering) {
  json::object refs;
  for (const auto& [name, reference] : spec.secretRefs) refs[name] = reference;
  Render::Bundle bundle{.pin = PinId(work.pin),
                        .environment = work.environment,
                        .archive = spec.bundle.substr(0, spec.bundle.find(',')),
                        .signature = spec.bundle.find(',') == std::string::npos
                                         ? std::optional<std::string>()
                                         : spec.bundle.substr(spec.bundle.find(',') + 1),
                        .customer = spec.customer.empty() ? std::optional<std::string>() : spec.customer,
                        .settings = write(spec.config),
                        .runtimeRefs = write(refs),
                        .unset = unset_between(work.before, spec),
                        .running = std::nullopt,
                        .hosts = std::nullopt,
                        .pathPrefixes = std::nullopt,
                        .deployment = work.deployment,
                        .secrets = {},
                        .gradual = false,
                        .strategy = "",
                        .steps = {},
                        .criteria = "",
                        .together = {},
                        .rendering = std::move(rendering)};
  for (const auto& each : views::read_facts(work.facts).secrets) bundle.secrets.push_back({each.name, each.version});
  // What went back is there at once, and where nothing has traffic there is nothing to take it from.
  if (spec.rollout && work.target.empty() && !work.deployment.empty()) {
    bundle.gradual = spec.rollout->strategy != "immediate";
    bundle.strategy = spec.rollout->strategy;
    bundle.steps = spec.rollout->steps;
    bundle.criteria = spec.rollout->analysis.is_null() ? "" : write(spec.rollout->analysis);
  }
  if (spec.replicas) bundle.running = write(json::object{{"replicas", *spec.replicas}});
  if (spec.routes) {
    bundle.hosts = spec.routes->hosts;
    bundle.pathPrefixes = spec.routes->pathPrefixes;
  }
  return bundle;
}

}  // namespace

// -------------------------------------------------------------------------------------------------------- reconcile

Reconcile::Begun Pin::begin_reconcile(const Reconcile& ask, State& state) {
  auto record = state.get(ask.pin);
  if (!record) return Reconcile::Result(Reconcile::NotFound{.pin = ask.pin, .message = no_pin(ask.pin)});
  if (record->reconciling) {
    if (!record->again) {
      record->again = true;
      state.put(ask.pin, *record);
    }
    return Reconcile::Result(Reconcile::Joined{.pin = ask.pin});
  }
  record->reconciling = record->generation;
  record->again = false;
  state.put(ask.pin, *record);
  return lang::Opened{};
}

Reconcile::Outcome Pin::finish_reconcile(const Reconcile& ask, const Reconcile::Outcome& outcome, State& state) {
  auto record = state.get(ask.pin);
  if (!record) return Reconcile::NotFound{.pin = ask.pin, .message = no_pin(ask.pin)};
  Reconcile::Outcome told = outcome;
  if (const auto* end = get_if<lang::EngineEnd>(&outcome)) {
    told = Reconcile::Failed{.pin = ask.pin, .message = end->message};
  }
  record->observed = record->reconciling.value_or(record->observed);
  record->reconciling.reset();
  record->since = state.now();
  record->awaits.clear();
  if (auto* ok = get_if<Reconcile::Ok>(&told)) {
    ok->pin = ask.pin;
    record->deployment = ok->deployment;
    record->revision = ok->revision;
    record->applied = record->rendering.release;
    record->running = record->rendering.target;
    if (!record->ready) record->readyAt = state.now();
    record->ready = true;
    record->reason = kReady;
    record->message = applied_message(state, ask.pin);
    state.drift(ask.pin).clear();
    note_lock(state, ask.pin, *record);
  } else if (auto* gone = get_if<Reconcile::Gone>(&told)) {
    gone->pin = ask.pin;
    record->deployment.clear();
    record->revision.clear();
    record->applied.clear();
    record->running.clear();
    record->ready = false;
    record->readyAt.reset();
    record->reason = kUndeployed;
    record->message = "it is not to run here";
    state.drift(ask.pin).clear();
  } else if (auto* waiting = get_if<Reconcile::Waiting>(&told)) {
    waiting->pin = ask.pin;
    record->ready = false;
    record->reason = kWaiting;
    record->message = waiting->message;
    record->awaits = waiting->awaits.value_or("");
  } else if (auto* failed = get_if<Reconcile::Failed>(&told)) {
    failed->pin = ask.pin;
    record->ready = false;
    record->reason = kFailed;
    record->message = failed->message;
  }
  // Meanwhile it was moved: what is said here is of the release before.
  if (record->observed != record->generation) {
    record->ready = false;
    record->reason = kProgressing;
  }
  state.put(ask.pin, *record);
  return told;
}

// ----------------------------------------------------------------------------------------------------------- render

Render::Begun Pin::begin_render(const Render& ask, State& state) {
  const auto record = state.get(ask.pin);
  if (!record) return Render::Result(Render::Failed{.pin = ask.pin, .message = no_pin(ask.pin)});
  RenderWork work{.pin = ask.pin.text(),
                  .component = record->component,
                  .environment = record->environment,
                  .release = record->release,
                  .active = record->wanted == PinWanted::Active_,
                  .deployment = record->deployment,
                  .target = "",
                  .before = record->running,
                  .identity = "",
                  .settings = "",
                  .facts = "",
                  .correct = record->onDrift == PinOnDrift::correct && !state.drift(ask.pin).empty()};
  for (const auto& each : state.locks(ask.pin)) {
    if (!record->held || each.value.number != *record->held) continue;
    work.target = each.value.target;
    work.identity = each.value.identity;
    work.settings = each.value.settings;
    work.facts = each.value.facts;
  }
  return work;
}

Render::Performed Pin::perform_render(const RenderWork& work, Effect& effect) {
  const PinId pin(work.pin);
  if (!work.active) {
    if (work.deployment.empty()) return Render::Gone{.pin = pin};
    if (work.deployment == kInCluster) {
      return Render::Unapply{
          .pin = pin, .environment = work.environment, .instance = work.component, .namespace_ = work.environment};
    }
    return Render::Undeploy{.pin = pin, .deployment = work.deployment};
  }
  PinRendering rendering{
      .release = work.release, .identity = work.identity, .settings = work.settings, .target = "", .hash = ""};
  const views::States states(effect.read());
  promote::Target target;
  if (!work.target.empty()) {
    auto kept = promote::parse_target(work.target);
    if (!kept) return Render::Failed{.pin = pin, .message = to_string(kept.error())};
    target = *std::move(kept);
  } else {
    if (auto missing = views::waits_for(states, work.component, work.environment, work.release)) {
      return Render::Waiting{.pin = pin, .message = missing->why, .awaits = missing->provider};
    }
    const TimeZones zones(effect.tool<Disk>());
    auto made = views::render_release(states, work.component, work.environment, work.release, zones);
    if (!made && (made.error().code == Code::not_found || made.error().code == Code::unavailable)) {
      return Render::Waiting{.pin = pin, .message = made.error().message, .awaits = std::nullopt};
    }
    if (!made) return Render::Failed{.pin = pin, .message = to_string(made.error())};
    target = std::move(made->target);
    rendering.identity = made->identity;
    rendering.settings = made->settings;
  }
  rendering.target = target.text;
  rendering.hash = target.hash;
  auto together = views::starts_together(states, work.component, work.environment, work.release);
  if (target.bundle) {
    auto bundle = bundle_of(work, *target.bundle, std::move(rendering));
    bundle.together = std::move(together);
    return bundle;
  }
  json::array files;
  for (size_t index = 0; index < target.objects.size(); ++index) {
    files.push_back({{"path", std::to_string(index) + ".yaml"}, {"text", write(target.objects[index])}});
  }
  return Render::Objects{.pin = pin,
                         .environment = work.environment,
                         .instance = work.component,
                         .namespace_ = work.environment,
                         .template_ = {.repoUrl = "", .ref = std::nullopt, .path = std::nullopt},
                         .files = effect.seal(write(files)),
                         .force = work.correct,
                         .together = std::move(together),
                         .rendering = std::move(rendering)};
}

Render::Outcome Pin::finish_render(const Render& ask, const Render::Outcome& outcome, State& state) {
  const auto keep = [&](const auto& made) {
    state.edit(ask.pin, [&](PinRecord& record) { record.rendering = made.rendering; });
    state.together(ask.pin).assign(made.together);
  };
  if (const auto* bundle = get_if<Render::Bundle>(&outcome)) keep(*bundle);
  if (const auto* objects = get_if<Render::Objects>(&outcome)) keep(*objects);
  const auto* end = get_if<lang::EngineEnd>(&outcome);
  if (end == nullptr) return outcome;
  return Render::Failed{.pin = ask.pin, .message = end->message};
}

// ---------------------------------------------------------------------------------------------------------- witness

Witness::Begun Pin::begin_witness(const Witness& ask, State& state) {
  const auto record = state.get(ask.pin);
  if (!record || !record->ready) return Witness::Result(Witness::Ok{.pin = ask.pin, .facts = ""});
  return WitnessWork{.pin = ask.pin.text(), .revision = record->revision};
}

Witness::Performed Pin::perform_witness(const WitnessWork& work, Effect& effect) {
  const views::States states(effect.read());
  return Witness::Ok{.pin = PinId(work.pin), .facts = views::write_facts(views::facts_of(states, work.revision))};
}

Witness::Outcome Pin::finish_witness(const Witness& ask, const Witness::Outcome& outcome, State& state) {
  const auto* ok = get_if<Witness::Ok>(&outcome);
  if (ok == nullptr) return Witness::Ok{.pin = ask.pin, .facts = ""};
  const auto record = state.get(ask.pin);
  auto locks = state.locks(ask.pin).values();
  if (!record || !record->ready || locks.empty() || locks.back().facts == ok->facts) return outcome;
  PinLock& newest = locks.back();
  // It moved on meanwhile: what was read is not of this entry.
  if (newest.revision != record->revision) return outcome;
  const bool first = newest.facts.empty();
  if (!first && views::read_facts(newest.facts).secrets != views::read_facts(ok->facts).secrets) {
    newest.facts = ok->facts;
    newest.by.clear();
    push_lock(state, ask.pin, *record, newest);
    return outcome;
  }
  newest.facts = ok->facts;
  state.locks(ask.pin).assign(locks);
  return outcome;
}

}  // namespace sluice::deploy::pin
