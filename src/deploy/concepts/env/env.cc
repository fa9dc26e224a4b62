// Env keeps environments by the name that people gave them. A change of a binding leaves the binding before in
// pastPacks, from where rollback takes it; nothing else follows from it, so what runs goes on.
#include <algorithm>
#include <functional>

#include "base/ascii.h"
#include "base/disk.h"
#include "base/version.h"
#include "deploy/cluster_rights.h"
#include "deploy/concepts/env/env_work.h"
#include "deploy/environment_rules.h"
#include "deploy/packs.h"
#include "deploy/views/answers.h"
#include "deploy/views/doctor.h"

namespace sluice::deploy::env {
namespace {

constexpr std::string_view kLocal = "local";
constexpr size_t kMaxText = 1000;
constexpr int64_t kPastKept = 20;
constexpr int64_t kMostAliasDays = 3650;
constexpr int64_t kDay_ms = 86'400'000;
constexpr EnvRetention kRetention{.archivedMaxAgeDays = 14, .stagedMaxCount = 5};

bool is_plain(const std::string& text) {
  return text.size() <= kMaxText && std::ranges::none_of(text, [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

EnvRecord new_record(const State& state, std::string name) {
  return {.name = std::move(name),
          .createdAt = state.now(),
          .generation = 1,
          .retention = kRetention,
          .health = {.lastDoctorStatus = EnvLastDoctorStatus::pending}};
}

// The binding of a slot with its number in the list.
std::optional<lang::Element<EnvPack>> binding_of(const State& state, const EnvId& id, const std::string& slot) {
  for (const auto& each : state.packs(id)) {
    if (each.value.slot == slot) return each;
  }
  return std::nullopt;
}

// Generations of a slot go on counting, also when it was empty in between.
int64_t next_generation(const State& state, const EnvId& id, const std::string& slot) {
  int64_t last = -1;
  for (const auto& each : state.packs(id)) {
    if (each.value.slot == slot) last = std::max(last, each.value.generation);
  }
  for (const auto& each : state.past_packs(id)) {
    if (each.value.slot == slot) last = std::max(last, each.value.generation);
  }
  return last + 1;
}

EnvPastPack past_of(const EnvPack& pack) {
  return {pack.slot, pack.kind, pack.packRef, pack.answersRef, pack.answers, pack.generation, pack.boundAt};
}

void keep_past(State& state, const EnvId& id, const EnvPack& pack) {
  state.past_packs(id).push(past_of(pack));
  int64_t kept = 0;
  std::vector<int64_t> numbers;
  for (const auto& each : state.past_packs(id)) {
    if (each.value.slot == pack.slot) numbers.push_back(each.number);
  }
  for (int64_t number : numbers) {
    if (static_cast<int64_t>(numbers.size()) - kept++ > kPastKept) state.past_packs(id).erase(number);
  }
}

void forget_taken_back(State& state, const EnvId& id, const std::string& slot) {
  std::vector<int64_t> numbers;
  for (const auto& each : state.taken_back(id)) {
    if (each.value.slot == slot) numbers.push_back(each.number);
  }
  for (int64_t number : numbers) state.taken_back(id).erase(number);
}

// One step changes the row once: the generation that people see is the row's own.
void touch(State& state, const EnvId& id, const std::function<void(EnvRecord&)>& change = {}) {
  state.edit(id, [&](EnvRecord& record) {
    record.generation++;
    if (change) change(record);
  });
}

// Which provider a pack stands for, where syncs have to know. An empty kind is that of a slot that nothing serves.
void set_provider(EnvRecord& record, const std::string& slot, const std::string& kind) {
  if (slot == "deployer") record.runtimeType = kind.empty() ? "" : runtime_type_of(parse_descriptor(kind).value());
  if (slot != "secrets") return;
  record.secretsType.reset();
  if (!kind.empty()) record.secretsType = secrets_type_of(parse_descriptor(kind).value());
}

// Empty if a pack of this kind may serve the slot. A built-in one knows its own slot, and what is named as one and is
// not is of another version of Sluice; of others the descriptor says nothing.
std::string misfit(const std::string& slot, const std::string& kind) {
  if (!is_slot(slot)) {
    std::string all;
    for (std::string_view each : slots()) all += (all.empty() ? "" : ", ") + std::string(each);
    return "there is no slot '" + slot + "'; the slots are " + all;
  }
  auto descriptor = parse_descriptor(kind);
  if (!descriptor) return descriptor.error().message;
  const BuiltInPack* built_in = find_built_in(descriptor->path);
  if (built_in != nullptr && built_in->slot != slot) {
    return kind + " serves the slot " + std::string(built_in->slot) + ", not " + slot;
  }
  if (built_in == nullptr && kind.starts_with("sluice.")) {
    std::string has;
    for (const BuiltInPack& each : built_in_packs()) {
      if (each.slot == slot)
        has += (has.empty() ? "" : " or ") + std::string(each.path) + "@" + std::string(each.major) + ".0.0";
    }
    return "Sluice " + std::string(version_number()) + " has no pack " + kind +
           (has.empty() ? ", and none for the slot " + slot : "; for the slot " + slot + " it has " + has);
  }
  return "";
}

void erase_all_of(State& state, const EnvId& id) {
  state.packs(id).clear();
  state.past_packs(id).clear();
  state.taken_back(id).clear();
  state.other_names(id).clear();
  state.erase(id);
}

EnvPack pack_of(const State& state, const EnvId& id, const std::string& slot, const std::string& kind,
                const std::optional<std::string>& pack_ref, const std::optional<std::string>& answers_ref,
                const std::optional<std::string>& answers = {}) {
  return {.slot = slot,
          .kind = kind,
          .packRef = pack_ref.value_or(kind.substr(0, kind.find('@'))),
          .answersRef = answers_ref,
          .answers = answers,
          .generation = next_generation(state, id, slot),
          .boundAt = state.now()};
}

}  // namespace

Open::Result Env::open(const Open&, State& state) {
  const EnvId id{std::string(kLocal)};
  Open::Ok opened{.environment = id, .created = !state.has(id)};
  if (opened.created) state.put(id, new_record(state, "Local"));
  std::vector<DefaultPack> missing;
  for (const DefaultPack& each : default_packs()) {
    if (!binding_of(state, id, std::string(each.slot))) missing.push_back(each);
  }
  for (const DefaultPack& each : missing) {
    std::string slot(each.slot), kind(each.kind);
    state.packs(id).push(pack_of(state, id, slot, kind, {}, {}));
    if (!opened.created) opened.healed.push_back(slot);
  }
  if (missing.empty()) return opened;
  state.edit(id, [&](EnvRecord& record) {
    if (!opened.created) record.generation++;
    for (const DefaultPack& each : missing) set_provider(record, std::string(each.slot), std::string(each.kind));
  });
  return opened;
}

Create::Result Env::create(const Create& ask, State& state) {
  const std::string& text = ask.environment.text();
  if (std::string fault = fault_of_environment_name(text); !fault.empty()) {
    return Create::Invalid{.environment = text, .message = std::move(fault)};
  }
  if (ask.name && !is_plain(*ask.name)) return Create::Invalid{.environment = text, .message = "a name is one line"};
  if (state.has(ask.environment)) {
    return Create::Exists{.environment = ask.environment, .message = "there is an environment " + text + " already"};
  }
  if (ask.extends && !state.has(*ask.extends)) {
    return Create::NoBase{.environment = ask.environment,
                          .message = "there is no environment " + ask.extends->text() + " to extend"};
  }
  EnvRecord record = new_record(state, ask.name.value_or(text));
  record.extends = ask.extends;
  if (ask.extends) {
    record.runtimeType = state.get(*ask.extends)->runtimeType;
    record.secretsType = state.get(*ask.extends)->secretsType;
  }
  state.put(ask.environment, record);
  // What it extends lends it its packs; from there on they are its own.
  if (ask.extends) {
    for (const EnvPack& each : state.packs(*ask.extends).values()) {
      EnvPack own = each;
      own.generation = 0;
      own.boundAt = state.now();
      state.packs(ask.environment).push(own);
    }
  }
  return Create::Ok{.environment = ask.environment, .generation = record.generation};
}

Update::Result Env::update(const Update& ask, State& state) {
  auto record = state.get(ask.environment);
  if (!record) return Update::NotFound{.environment = ask.environment};
  auto refuse = [&](std::string message) { return Update::Invalid{ask.environment, std::move(message)}; };
  for (const auto* text : {&ask.name, &ask.credentialsRef, &ask.revocationList}) {
    if (*text && !is_plain(**text)) return refuse("a text is one line of at most 1000 characters");
  }
  if (ask.name && ask.name->empty()) return refuse("a name is not empty");
  for (const std::string& fault :
       {ask.credentialsRef ? fault_of_credentials(ask.environment.text(), *ask.credentialsRef) : "",
        ask.archivedMaxAgeDays ? fault_of_archived_days(*ask.archivedMaxAgeDays) : "",
        ask.stagedMaxCount ? fault_of_staged_count(*ask.stagedMaxCount) : ""}) {
    if (!fault.empty()) return refuse(fault);
  }
  if (ask.name) record->name = *ask.name;
  if (ask.credentialsRef) record->credentialsRef = ask.credentialsRef;
  if (ask.credentialsRef && ask.credentialsRef->empty()) record->credentialsRef.reset();
  if (ask.revocationRequired) record->revocation.required = *ask.revocationRequired;
  if (ask.revocationList) record->revocation.listRef = *ask.revocationList;
  if (ask.archivedMaxAgeDays) record->retention.archivedMaxAgeDays = *ask.archivedMaxAgeDays;
  if (ask.stagedMaxCount) record->retention.stagedMaxCount = *ask.stagedMaxCount;
  record->generation++;
  state.put(ask.environment, *record);
  return Update::Ok{.environment = ask.environment, .generation = record->generation};
}

Destroy::Result Env::destroy(const Destroy& ask, State& state) {
  if (!state.has(ask.environment)) return Destroy::NotFound{.environment = ask.environment};
  erase_all_of(state, ask.environment);
  return Destroy::Ok{.environment = ask.environment};
}

Alias::Result Env::alias(const Alias& ask, State& state) {
  if (!state.has(ask.environment)) return Alias::NotFound{.environment = ask.environment};
  auto refuse = [&](std::string message) { return Alias::Invalid{ask.environment, std::move(message)}; };
  if (!is_environment_name(ask.name)) return refuse("an alias is named as an environment is");
  if (ask.name == ask.environment.text()) return refuse(ask.name + " is its own name");
  if (ask.days < 0 || ask.days > kMostAliasDays) return refuse("an alias is kept for 0 to 3650 days");
  std::vector<int64_t> known;
  for (const auto& each : state.other_names(ask.environment)) {
    if (each.value.name == ask.name) known.push_back(each.number);
  }
  for (int64_t number : known) state.other_names(ask.environment).erase(number);
  const lang::DateTime until{state.now().ms + ask.days * kDay_ms};
  if (ask.days > 0) state.other_names(ask.environment).push({.name = ask.name, .until = until});
  touch(state, ask.environment);
  return Alias::Ok{.environment = ask.environment, .name = ask.name, .until = until};
}

Absorb::Result Env::absorb(const Absorb& ask, State& state) {
  if (!state.has(ask.environment)) return Absorb::NotFound{.environment = ask.environment};
  auto other = state.get(ask.other);
  if (!other) return Absorb::NotFound{.environment = ask.other};
  if (ask.environment == ask.other) {
    return Absorb::Invalid{.environment = ask.environment, .message = "an environment cannot take over itself"};
  }
  if (other->credentialsRef) {
    return Absorb::InUse{.environment = ask.other,
                         .message = ask.other.text() + " has credentials, and they would be lost"};
  }
  Absorb::Ok ok{.environment = ask.environment, .other = ask.other};
  std::vector<EnvPack> taken;
  for (const EnvPack& each : state.packs(ask.other).values()) {
    if (binding_of(state, ask.environment, each.slot)) continue;
    state.packs(ask.environment)
        .push(pack_of(state, ask.environment, each.slot, each.kind, each.packRef, each.answersRef, each.answers));
    ok.taken.push_back(each.slot);
    taken.push_back(each);
  }
  erase_all_of(state, ask.other);
  touch(state, ask.environment, [&](EnvRecord& record) {
    for (const EnvPack& each : taken) set_provider(record, each.slot, each.kind);
  });
  return ok;
}

Bind::Result Env::bind(const Bind& ask, State& state) {
  if (!state.has(ask.environment)) return Bind::NotFound{.environment = ask.environment};
  if (std::string why = misfit(ask.slot, ask.kind); !why.empty()) {
    return Bind::Invalid{.environment = ask.environment, .message = why};
  }
  if (auto bound = binding_of(state, ask.environment, ask.slot)) {
    return Bind::Bound{
        .environment = ask.environment,
        .slot = ask.slot,
        .kind = bound->value.kind,
        .message = "the slot " + ask.slot + " of " + ask.environment.text() + " is served by " + bound->value.kind};
  }
  EnvPack pack = pack_of(state, ask.environment, ask.slot, ask.kind, ask.packRef, ask.answersRef, ask.answers);
  state.packs(ask.environment).push(pack);
  touch(state, ask.environment, [&](EnvRecord& record) { set_provider(record, ask.slot, ask.kind); });
  return Bind::Ok{.environment = ask.environment, .slot = ask.slot, .kind = ask.kind, .generation = pack.generation};
}

Rebind::Result Env::rebind(const Rebind& ask, State& state) {
  if (!state.has(ask.environment)) return Rebind::NotFound{.environment = ask.environment};
  auto bound = binding_of(state, ask.environment, ask.slot);
  if (!bound) {
    return Rebind::Unbound{.environment = ask.environment,
                           .slot = ask.slot,
                           .message = "nothing serves the slot " + ask.slot + " of " + ask.environment.text()};
  }
  const std::string kind = ask.kind.value_or(bound->value.kind);
  if (std::string why = misfit(ask.slot, kind); !why.empty()) {
    return Rebind::Invalid{.environment = ask.environment, .message = why};
  }
  bool same = kind == bound->value.kind;
  EnvPack pack = pack_of(state, ask.environment, ask.slot, kind,
                         ask.packRef || !same ? ask.packRef : std::optional(bound->value.packRef),
                         ask.answersRef || !same ? ask.answersRef : bound->value.answersRef,
                         ask.answers || !same ? ask.answers : bound->value.answers);
  keep_past(state, ask.environment, bound->value);
  state.packs(ask.environment).put(bound->number, pack);
  forget_taken_back(state, ask.environment, ask.slot);
  touch(state, ask.environment, [&](EnvRecord& record) { set_provider(record, ask.slot, kind); });
  return Rebind::Ok{.environment = ask.environment,
                    .slot = ask.slot,
                    .kind = kind,
                    .generation = pack.generation,
                    .look = ask.slot == "secrets" && !ask.allowMissing.value_or(false)};
}

Unbind::Result Env::unbind(const Unbind& ask, State& state) {
  if (!state.has(ask.environment)) return Unbind::NotFound{.environment = ask.environment};
  if (!is_slot(ask.slot)) {
    return Unbind::Invalid{.environment = ask.environment, .message = misfit(ask.slot, "")};
  }
  auto bound = binding_of(state, ask.environment, ask.slot);
  if (!bound) {
    return Unbind::Unbound{.environment = ask.environment,
                           .slot = ask.slot,
                           .message = "nothing serves the slot " + ask.slot + " of " + ask.environment.text()};
  }
  keep_past(state, ask.environment, bound->value);
  state.packs(ask.environment).erase(bound->number);
  touch(state, ask.environment, [&](EnvRecord& record) { set_provider(record, ask.slot, ""); });
  // Nothing of local is missing for long.
  if (ask.environment.text() == kLocal) (void)open({}, state);
  return Unbind::Ok{.environment = ask.environment, .slot = ask.slot, .kind = bound->value.kind};
}

Rollback::Result Env::rollback(const Rollback& ask, State& state) {
  if (!state.has(ask.environment)) return Rollback::NotFound{.environment = ask.environment};
  if (!is_slot(ask.slot)) {
    return Rollback::Invalid{.environment = ask.environment, .message = misfit(ask.slot, "")};
  }
  if (ask.steps < 1) return Rollback::Invalid{.environment = ask.environment, .message = "expected one step or more"};
  std::vector<lang::Element<EnvPastPack>> past;
  for (const auto& each : state.past_packs(ask.environment)) {
    if (each.value.slot == ask.slot) past.push_back(each);
  }
  if (ask.steps > static_cast<int64_t>(past.size())) {
    return Rollback::NoPast{.environment = ask.environment,
                            .slot = ask.slot,
                            .message = "the slot " + ask.slot + " of " + ask.environment.text() + " can go back " +
                                       std::to_string(past.size()) + " steps, not " + std::to_string(ask.steps)};
  }
  const EnvPastPack& wanted = past[past.size() - static_cast<size_t>(ask.steps)].value;
  EnvPack pack =
      pack_of(state, ask.environment, ask.slot, wanted.kind, wanted.packRef, wanted.answersRef, wanted.answers);
  // Those that were stepped over are gone, so that rolling back again goes further back.
  for (size_t i = past.size() - static_cast<size_t>(ask.steps); i < past.size(); ++i) {
    state.past_packs(ask.environment).erase(past[i].number);
  }
  if (auto bound = binding_of(state, ask.environment, ask.slot)) {
    state.packs(ask.environment).put(bound->number, pack);
  } else {
    state.packs(ask.environment).push(pack);
  }
  touch(state, ask.environment, [&](EnvRecord& record) { set_provider(record, ask.slot, pack.kind); });
  return Rollback::Ok{
      .environment = ask.environment, .slot = ask.slot, .kind = pack.kind, .generation = pack.generation};
}

TakeBack::Result Env::take_back(const TakeBack& ask, State& state) {
  auto bound = binding_of(state, ask.environment, ask.slot);
  if (!bound || bound->value.generation != ask.generation) return TakeBack::Again{.environment = ask.environment};
  const std::string refused = bound->value.kind;
  auto back = rollback({.environment = ask.environment, .slot = ask.slot, .steps = 1}, state);
  if (get_if<Rollback::Ok>(&back) == nullptr) return TakeBack::Again{.environment = ask.environment};
  forget_taken_back(state, ask.environment, ask.slot);
  state.taken_back(ask.environment)
      .push({.slot = ask.slot, .kind = refused, .message = ask.message, .at = state.now()});
  return TakeBack::Ok{.environment = ask.environment};
}

WhyTakenBack::Result Env::why_taken_back(const WhyTakenBack& ask, const State& state) {
  for (const auto& each : state.taken_back(ask.environment).values()) {
    if (each.slot == ask.slot && each.kind == ask.kind) {
      return WhyTakenBack::Ok{.environment = ask.environment, .message = each.message};
    }
  }
  return WhyTakenBack::NotFound{.environment = ask.environment};
}

Doctor::Begun Env::begin_doctor(const Doctor& ask, State& state) {
  if (!state.has(ask.environment)) return Doctor::Result(Doctor::NotFound{.environment = ask.environment});
  return DoctorWork{.environment = ask.environment.text(), .at_ms = state.now().ms};
}

Doctor::Performed Env::perform_doctor(const DoctorWork& work, Effect& effect) {
  Doctor::Ok ok{.environment = EnvId(work.environment), .status = EnvStatus::green};
  std::vector<views::Finding> found = views::examine_all(
      effect.read(), [&]() -> Disk& { return effect.tool<Disk>(); }, work.environment);
  if (const auto* packs = effect.tools().find<PackHealth>()) {
    for (auto& each : views::examine_outside(effect.read(), work.environment, *packs)) found.push_back(std::move(each));
  }
  if (const auto* cluster = effect.tools().find<ClusterRights>()) {
    if (auto away = views::examine_pods(effect.read(), work.environment, *cluster)) found.push_back(*std::move(away));
  }
  if (auto late = views::examine_expiry(effect.read(), work.environment, work.at_ms)) found.push_back(*std::move(late));
  for (auto& each : views::examine_backups(effect.read(), work.at_ms)) found.push_back(std::move(each));
  for (const views::Finding& each : found) {
    bool red = each.level == views::Finding::Level::red;
    ok.status = red ? EnvStatus::red : std::max(ok.status, EnvStatus::yellow);
    ok.findings.push_back({.level = red ? "red" : "yellow", .what = each.what, .next = each.next});
  }
  return ok;
}

Doctor::Outcome Env::finish_doctor(const Doctor& ask, const Doctor::Outcome& outcome, State& state) {
  const auto* ok = get_if<Doctor::Ok>(&outcome);
  if (ok == nullptr) return outcome;
  touch(state, ask.environment, [&](EnvRecord& record) {
    record.health.lastDoctorStatus = ok->status == EnvStatus::green    ? EnvLastDoctorStatus::green
                                     : ok->status == EnvStatus::yellow ? EnvLastDoctorStatus::yellow
                                                                       : EnvLastDoctorStatus::red;
    record.health.message = ok->findings.empty() ? "" : ok->findings.front().what;
    record.health.checkedAt = state.now();
  });
  return outcome;
}

List::Result Env::list(const List&, const State& state) {
  List::Ok listed;
  for (const EnvFound& each : state.all()) {
    listed.environments.push_back({.environment = each.id,
                                   .name = each.record.name,
                                   .generation = each.record.generation,
                                   .packs = static_cast<int64_t>(state.packs(each.id).size()),
                                   .lastDoctorStatus = each.record.health.lastDoctorStatus});
  }
  return listed;
}

}  // namespace sluice::deploy::env
