// SecretStore counts versions; SealedStore keeps the values. What is kept is listed here only once it is on the disk.
#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <variant>

#include "deploy/providers/secret/store/sealed_store.h"
#include "deploy/providers/secret/store/secret_store_work.h"
#include "deploy/views/answers.h"

namespace sluice::deploy::secret_store {
namespace {

SecretStoreId id_of(const std::string& environment, const std::string& name) {
  return SecretStoreId(environment + "/" + name);
}

template <class Outcome>
std::string reason_of(const Outcome& outcome) {
  const auto* end = get_if<lang::EngineEnd>(&outcome);
  return end ? end->message : "";
}

std::string no_secret(const std::string& environment, const std::string& name) {
  return "there is no secret " + name + " in " + environment;
}

// The number of the newest version that was kept; 0 if there is none.
int64_t newest_kept(const State& state, const SecretStoreId& id) {
  int64_t newest = 0;
  for (const auto& each : state.versions(id)) newest = std::max(newest, each.value.version);
  return newest;
}

bool is_kept(const State& state, const SecretStoreId& id, int64_t version) {
  for (const auto& each : state.versions(id)) {
    if (each.value.version == version) return true;
  }
  return false;
}

// Takes the next number. One whose value was not kept is never used again.
PutWork next_version(State& state, const std::string& environment, const std::string& name) {
  const SecretStoreId id = id_of(environment, name);
  SecretStoreRecord record = state.get(id).value_or(SecretStoreRecord{.environment = environment, .name = name});
  record.newest++;
  state.put(id, record);
  return {.environment = environment, .name = name, .version = record.newest};
}

void list_version(State& state, const std::string& environment, const std::string& name, int64_t version) {
  const SecretStoreId id = id_of(environment, name);
  if (!is_kept(state, id, version)) state.versions(id).push({.version = version, .keptAt = state.now()});
}

struct Unfit {
  std::string message;
};
struct Lost {
  std::string message;
};
using Kept = std::variant<std::string, Unfit, Lost, Error>;

Kept keep(const PutWork& work, Effect& effect, bool make_up) {
  auto& store = effect.tool<SealedStore>();
  // An attempt before this one may have kept it, and the value that came with the call may be gone since.
  auto kept = store.has(work.environment, work.name, work.version, effect.id());
  if (!kept) return kept.error();
  if (*kept) return std::to_string(work.version);
  std::string value;
  try {
    value = make_up ? store.make_up() : effect.open(*work.value);
  } catch (const std::exception&) {
    return Lost{"Sluice ended before the value of " + work.name + " was kept; put it again"};
  }
  if (value.empty()) return Unfit{"the value of " + work.name + " is empty"};
  if (value.size() > kMaxSecretBytes) return Unfit{"the value of " + work.name + " has more than 1 MB"};
  auto answers = views::answers_of_slot(effect.read(), effect.tool<Disk>(), work.environment, "secrets");
  if (!answers) return answers.error();
  const KeySource source{.file = answers->text("key_file"), .command = answers->text("key_command")};
  auto put = store.put(work.environment, work.name, work.version, value, effect.id(), source);
  crypto::wipe(value);
  if (!put) return put.error();
  return std::to_string(work.version);
}

}  // namespace

Fetch::Begun SecretStore::begin_fetch(const Fetch& ask, State& state) {
  const SecretStoreId id = id_of(ask.environment, ask.name);
  int64_t version = newest_kept(state, id);
  if (version == 0) {
    return Fetch::Result(Fetch::NotFound{.name = ask.name, .message = no_secret(ask.environment, ask.name)});
  }
  if (ask.version) {
    auto read = std::from_chars(ask.version->data(), ask.version->data() + ask.version->size(), version);
    if (read.ec != std::errc() || read.ptr != ask.version->data() + ask.version->size() ||
        !is_kept(state, id, version)) {
      return Fetch::Result(Fetch::NotFound{
          .name = ask.name, .message = "version " + *ask.version + " of " + ask.name + " is no longer kept"});
    }
  }
  return FetchWork{.environment = ask.environment, .name = ask.name, .version = version};
}

Fetch::Performed SecretStore::perform_fetch(const FetchWork& work, Effect& effect) {
  auto value = effect.tool<SealedStore>().get(work.environment, work.name, work.version);
  if (!value && value.error().code == Code::not_found) {
    return Fetch::NotFound{.name = work.name, .message = no_secret(work.environment, work.name)};
  }
  if (!value) return Fetch::Closed{.name = work.name, .message = to_string(value.error())};
  return Fetch::Ok{.version = std::to_string(work.version), .value = effect.seal(std::string(value->reveal()))};
}

Fetch::Outcome SecretStore::finish_fetch(const Fetch& ask, const Fetch::Outcome& outcome, State&) {
  if (ended_of(outcome) != Fetch::Ended::engine) return outcome;
  return Fetch::Closed{.name = ask.name, .message = reason_of(outcome)};
}

Head::Result SecretStore::head(const Head& ask, State& state) {
  const int64_t newest = newest_kept(state, id_of(ask.environment, ask.name));
  if (newest == 0) return Head::Ok{.exists = false};
  return Head::Ok{.exists = true, .version = std::to_string(newest)};
}

Put::Begun SecretStore::begin_put(const Put& ask, State& state) {
  PutWork work = next_version(state, ask.environment, ask.name);
  work.value = ask.value;
  return work;
}

Put::Performed SecretStore::perform_put(const PutWork& work, Effect& effect) {
  const Kept kept = keep(work, effect, false);
  if (const auto* version = std::get_if<std::string>(&kept)) return Put::Ok{.version = *version};
  if (const auto* unfit = std::get_if<Unfit>(&kept)) return Put::Unfit{.name = work.name, .message = unfit->message};
  if (const auto* lost = std::get_if<Lost>(&kept)) return Put::Lost{.name = work.name, .message = lost->message};
  return Put::Closed{.name = work.name, .message = to_string(std::get<Error>(kept))};
}

Put::Outcome SecretStore::finish_put(const Put& ask, const Put::Outcome& outcome, State& state) {
  if (const auto* ok = get_if<Put::Ok>(&outcome)) {
    list_version(state, ask.environment, ask.name, std::stoll(ok->version));
    return outcome;
  }
  if (ended_of(outcome) != Put::Ended::engine) return outcome;
  return Put::Closed{.name = ask.name, .message = reason_of(outcome)};
}

Rotate::Begun SecretStore::begin_rotate(const Rotate& ask, State& state) {
  if (newest_kept(state, id_of(ask.environment, ask.name)) == 0) {
    return Rotate::Result(Rotate::NotFound{.name = ask.name, .message = no_secret(ask.environment, ask.name)});
  }
  RotateWork work{.put = next_version(state, ask.environment, ask.name)};
  work.put.value = ask.value;
  return work;
}

Rotate::Performed SecretStore::perform_rotate(const RotateWork& work, Effect& effect) {
  const std::string& name = work.put.name;
  const Kept kept = keep(work.put, effect, !work.put.value);
  if (const auto* version = std::get_if<std::string>(&kept)) return Rotate::Ok{.newVersion = *version};
  if (const auto* unfit = std::get_if<Unfit>(&kept)) return Rotate::Unfit{.name = name, .message = unfit->message};
  if (const auto* lost = std::get_if<Lost>(&kept)) return Rotate::Lost{.name = name, .message = lost->message};
  return Rotate::Closed{.name = name, .message = to_string(std::get<Error>(kept))};
}

Rotate::Outcome SecretStore::finish_rotate(const Rotate& ask, const Rotate::Outcome& outcome, State& state) {
  if (const auto* ok = get_if<Rotate::Ok>(&outcome)) {
    list_version(state, ask.environment, ask.name, std::stoll(ok->newVersion));
    return outcome;
  }
  if (ended_of(outcome) != Rotate::Ended::engine) return outcome;
  return Rotate::Closed{.name = ask.name, .message = reason_of(outcome)};
}

Remove::Begun SecretStore::begin_remove(const Remove& ask, State& state) {
  const SecretStoreId id = id_of(ask.environment, ask.name);
  if (newest_kept(state, id) == 0) {
    return Remove::Result(Remove::NotFound{.name = ask.name, .message = no_secret(ask.environment, ask.name)});
  }
  return RemoveWork{.environment = ask.environment, .name = ask.name, .newest = state.get(id)->newest};
}

Remove::Performed SecretStore::perform_remove(const RemoveWork& work, Effect& effect) {
  auto removed = effect.tool<SealedStore>().remove(work.environment, work.name, work.newest);
  if (!removed) return Remove::Closed{.name = work.name, .message = to_string(removed.error())};
  return Remove::Ok{.name = work.name};
}

Remove::Outcome SecretStore::finish_remove(const Remove& ask, const Remove::Outcome& outcome, State& state) {
  // The row stays, and goes on counting: no two values of a name ever have the same number.
  if (ended_of(outcome) == Remove::Ended::ok) state.versions(id_of(ask.environment, ask.name)).clear();
  if (ended_of(outcome) != Remove::Ended::engine) return outcome;
  return Remove::Closed{.name = ask.name, .message = reason_of(outcome)};
}

Rekey::Begun SecretStore::begin_rekey(const Rekey& ask, State&) {
  if (ask.keyFile && ask.keyCommand) {
    return Rekey::Result(Rekey::Invalid{.environment = ask.environment,
                                        .message = "the master key is in a file or printed by a command, not both"});
  }
  if (ask.keyFile && !ask.keyFile->starts_with('/')) {
    return Rekey::Result(
        Rekey::Invalid{.environment = ask.environment, .message = "the file of a master key has an absolute path"});
  }
  return RekeyWork{
      .environment = ask.environment, .key_file = ask.keyFile.value_or(""), .key_command = ask.keyCommand.value_or("")};
}

Rekey::Performed SecretStore::perform_rekey(const RekeyWork& work, Effect& effect) {
  auto values = effect.tool<SealedStore>().rekey(work.environment, effect.id(),
                                                 {.file = work.key_file, .command = work.key_command});
  if (!values && values.error().code == Code::not_found) {
    return Rekey::Empty{.environment = work.environment, .message = "no secret is kept for " + work.environment};
  }
  if (!values && values.error().code == Code::invalid) {
    return Rekey::Invalid{.environment = work.environment, .message = to_string(values.error())};
  }
  if (!values) return Rekey::Closed{.environment = work.environment, .message = to_string(values.error())};
  return Rekey::Ok{.environment = work.environment, .values = *values};
}

Rekey::Outcome SecretStore::finish_rekey(const Rekey& ask, const Rekey::Outcome& outcome, State&) {
  if (ended_of(outcome) != Rekey::Ended::engine) return outcome;
  return Rekey::Closed{.environment = ask.environment, .message = reason_of(outcome)};
}

}  // namespace sluice::deploy::secret_store
