// What VaultClient was told, as variants. What only a later attempt can mend is tried again by the engine.
#include <stdexcept>

#include "deploy/providers/secret/vault/vault_client.h"
#include "deploy/providers/secret/vault/vault_provider_work.h"
#include "deploy/views/answers.h"

namespace sluice::deploy::vault_provider {
namespace {

Result<VaultSettings> settings_for(const std::string& environment, Effect& effect) {
  auto answers = views::answers_of_slot(effect.read(), effect.tool<Disk>(), environment, "secrets");
  if (!answers) return answers.error();
  return vault_settings(environment, [&](std::string_view name) { return answers->text(name); });
}

// Where an action has a sealed value, its variant of that name is called a little differently.
template <class Action>
auto sealed_of(int) -> typename Action::Sealed_;
template <class Action>
auto sealed_of(long) -> typename Action::Sealed;

// What every action may meet.
template <class Action>
typename Action::Performed trouble(const std::string& name, const Result<VaultSettings>& settings, const Error& error) {
  const std::string address = settings ? settings->address : "";
  switch (error.code) {
    case Code::gate_rejected:
      return decltype(sealed_of<Action>(0)){.name = name, .address = address, .message = error.message};
    case Code::unauthenticated:
      return typename Action::TokenExpired{.name = name, .address = address, .message = error.message};
    case Code::denied:
      return typename Action::AccessDenied{.name = name, .message = error.message};
    case Code::unavailable:
    case Code::timeout:
      return lang::Again{.reason = error.message};
    default:
      return typename Action::Unusable{.name = name, .message = to_string(error)};
  }
}

// Which Vault an environment's secrets come from, and how it was when it was last asked.
void note(State& state, const std::string& environment, const std::string& address, bool sealed) {
  const VaultProviderId id(environment);
  VaultProviderRecord record = state.get(id).value_or(VaultProviderRecord{});
  record.address = address;
  record.sealed = sealed;
  record.lastCheckedAt = state.now();
  state.put(id, record);
}

}  // namespace

Fetch::Begun VaultProvider::begin_fetch(const Fetch& ask, State&) {
  return FetchWork{.environment = ask.environment, .name = ask.name, .version = ask.version};
}

Fetch::Performed VaultProvider::perform_fetch(const FetchWork& work, Effect& effect) {
  auto settings = settings_for(work.environment, effect);
  if (!settings) return trouble<Fetch>(work.name, settings, settings.error());
  auto secret = effect.tool<VaultClient>().read(*settings, work.name, work.version);
  if (secret) {
    return Fetch::Ok{.version = secret->version, .value = effect.seal(secret->value), .address = settings->address};
  }
  const Error& error = secret.error();
  if (error.code == Code::not_found) return Fetch::PathNotFound{.name = work.name, .message = error.message};
  if (error.code == Code::conflict) {
    // Vault says it to the nanosecond.
    auto at = lang::parse_date_time(error.path.substr(0, error.path.find('.')) + "Z");
    return Fetch::Expired{.name = work.name, .expiresAt = at ? *at : lang::DateTime{}, .message = error.message};
  }
  return trouble<Fetch>(work.name, settings, error);
}

Fetch::Outcome VaultProvider::finish_fetch(const Fetch& ask, const Fetch::Outcome& outcome, State& state) {
  if (const auto* ok = get_if<Fetch::Ok>(&outcome)) note(state, ask.environment, ok->address, false);
  if (const auto* shut = get_if<Fetch::Sealed_>(&outcome)) note(state, ask.environment, shut->address, true);
  return outcome;
}

Head::Begun VaultProvider::begin_head(const Head& ask, State&) {
  return HeadWork{.environment = ask.environment, .name = ask.name};
}

Head::Performed VaultProvider::perform_head(const HeadWork& work, Effect& effect) {
  auto settings = settings_for(work.environment, effect);
  if (!settings) return trouble<Head>(work.name, settings, settings.error());
  auto newest = effect.tool<VaultClient>().newest(*settings, work.name);
  if (!newest) return trouble<Head>(work.name, settings, newest.error());
  return Head::Ok{.exists = newest->has_value(), .version = *newest};
}

Head::Outcome VaultProvider::finish_head(const Head&, const Head::Outcome& outcome, State&) { return outcome; }

Put::Begun VaultProvider::begin_put(const Put& ask, State&) {
  return PutWork{.environment = ask.environment, .name = ask.name, .value = ask.value};
}

Put::Performed VaultProvider::perform_put(const PutWork& work, Effect& effect) {
  auto settings = settings_for(work.environment, effect);
  if (!settings) return trouble<Put>(work.name, settings, settings.error());
  auto& vault = effect.tool<VaultClient>();
  // An attempt before this one may have written it.
  auto before = vault.read(*settings, work.name, std::nullopt);
  if (before && before->written_by == effect.id()) return Put::Ok{.version = before->version};
  if (!before && before.error().code != Code::not_found && before.error().code != Code::conflict &&
      before.error().code != Code::invalid) {
    return trouble<Put>(work.name, settings, before.error());
  }
  std::string value;
  try {
    value = work.value ? effect.open(*work.value) : vault.make_up();
  } catch (const std::exception&) {
    return Put::Lost{.name = work.name,
                     .message = "Sluice ended before the value of " + work.name + " was written; put it again"};
  }
  auto version = vault.write(*settings, work.name, value, effect.id());
  if (!version) return trouble<Put>(work.name, settings, version.error());
  return Put::Ok{.version = *version};
}

Put::Outcome VaultProvider::finish_put(const Put&, const Put::Outcome& outcome, State&) { return outcome; }

Remove::Begun VaultProvider::begin_remove(const Remove& ask, State&) {
  return RemoveWork{.environment = ask.environment, .name = ask.name};
}

Remove::Performed VaultProvider::perform_remove(const RemoveWork& work, Effect& effect) {
  auto settings = settings_for(work.environment, effect);
  if (!settings) return trouble<Remove>(work.name, settings, settings.error());
  auto removed = effect.tool<VaultClient>().remove(*settings, work.name);
  if (!removed) return trouble<Remove>(work.name, settings, removed.error());
  return Remove::Ok{.name = work.name};
}

Remove::Outcome VaultProvider::finish_remove(const Remove&, const Remove::Outcome& outcome, State&) { return outcome; }

}  // namespace sluice::deploy::vault_provider
