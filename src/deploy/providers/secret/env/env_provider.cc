// The secret hello/api_key is the variable HELLO_API_KEY, with the pack's `prefix` before it, if it has one.
#include "base/terminal.h"
#include "deploy/providers/secret/env/env_provider_work.h"
#include "deploy/secret_names.h"
#include "deploy/value_versions.h"
#include "deploy/views/answers.h"

namespace sluice::deploy::env_provider {
namespace {

struct Found {
  std::string variable;
  std::optional<std::string> value;
  std::string version;
};

Result<Found> look(const std::string& environment, const std::string& name, Effect& effect) {
  auto answers = views::answers_of_slot(effect.read(), effect.tool<Disk>(), environment, "secrets");
  if (!answers) return answers.error();
  Found found{.variable = answers->text("prefix") + variable_of_secret(name)};
  found.value = effect.tool<Variables>()(found.variable);
  if (!found.value) return found;
  auto version = effect.tool<ValueVersions>().of(environment, name, *found.value);
  if (!version) return version.error();
  found.version = *std::move(version);
  return found;
}

}  // namespace

Fetch::Begun EnvProvider::begin_fetch(const Fetch& ask, State&) {
  return FetchWork{.environment = ask.environment, .name = ask.name, .version = ask.version};
}

Fetch::Performed EnvProvider::perform_fetch(const FetchWork& work, Effect& effect) {
  auto found = look(work.environment, work.name, effect);
  if (!found) return lang::Again{.reason = to_string(found.error())};
  if (!found->value) {
    return Fetch::VariableNotSet{
        .name = work.name,
        .variable = found->variable,
        .message = "the variable " + found->variable + ", which has " + work.name + ", is not set"};
  }
  if (work.version && *work.version != found->version) {
    return Fetch::Changed{.name = work.name,
                          .message = "the variable " + found->variable + " has another value than version " +
                                     *work.version + " of " + work.name};
  }
  return Fetch::Ok{.version = found->version, .value = effect.seal(*found->value)};
}

Fetch::Outcome EnvProvider::finish_fetch(const Fetch& ask, const Fetch::Outcome& outcome, State& state) {
  if (const auto* ok = get_if<Fetch::Ok>(&outcome)) {
    state.put(EnvProviderId(ask.environment + "/" + ask.name),
              {.variable = variable_of_secret(ask.name), .version = ok->version});
  }
  return outcome;
}

Head::Begun EnvProvider::begin_head(const Head& ask, State&) {
  return HeadWork{.environment = ask.environment, .name = ask.name};
}

Head::Performed EnvProvider::perform_head(const HeadWork& work, Effect& effect) {
  auto found = look(work.environment, work.name, effect);
  if (!found) return lang::Again{.reason = to_string(found.error())};
  if (!found->value) return Head::Ok{.exists = false};
  return Head::Ok{.exists = true, .version = found->version};
}

Head::Outcome EnvProvider::finish_head(const Head&, const Head::Outcome& outcome, State&) { return outcome; }

}  // namespace sluice::deploy::env_provider
