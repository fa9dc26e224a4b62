// A result is the deployer's own words, kept until the next look or the next deployer. Nothing here sees a credential:
// the deployer's pack makes it, and the environment's secrets keep it.
#include "base/clock.h"
#include "deploy/concepts/credentials/credentials_work.h"
#include "deploy/rules_pack.h"

namespace sluice::deploy::credentials {
namespace {

// "missing k8s.pods.create, fix with …", one after the other.
std::string missing_in_words(const std::vector<CredentialsCheck>& checks) {
  std::string text;
  for (const CredentialsCheck& each : checks) {
    if (each.status != CredentialsStatus::fail) continue;
    text += (text.empty() ? "" : "; ") + std::string("missing ") + each.capability +
            (each.fix.empty() ? "" : ", fix with " + each.fix);
  }
  return text;
}

// What bootstrap and rotate tell in the end.
template <class Action>
typename Action::Outcome told(const CredentialsId& environment, const typename Action::Outcome& outcome,
                              const State& state) {
  auto record = state.get(environment);
  typename Action::Outcome end = outcome;
  if (auto* ok = get_if<typename Action::Ok>(&end)) {
    ok->environment = environment;
    if (record) {
      ok->rules = record->rules;
      ok->expiresAt = record->expiresAt;
    }
  }
  if (auto* missing = get_if<typename Action::Missing>(&end)) missing->environment = environment;
  if (auto* refused = get_if<typename Action::Refused>(&end)) refused->environment = environment;
  if (auto* failed = get_if<typename Action::Failed>(&end)) failed->environment = environment;
  if (const auto* given_up = get_if<lang::EngineEnd>(&outcome)) {
    return typename Action::Failed{.environment = environment, .message = given_up->message};
  }
  return end;
}

}  // namespace

Requirements::Begun Credentials::begin_requirements(const Requirements&, State&) { return lang::Opened{}; }

Requirements::Outcome Credentials::finish_requirements(const Requirements& ask, const Requirements::Outcome& outcome,
                                                       State& state) {
  if (const auto* failed = get_if<Requirements::Failed>(&outcome)) {
    return Requirements::Failed{.environment = ask.environment, .message = failed->message};
  }
  const auto* ok = get_if<Requirements::Ok>(&outcome);
  if (ok == nullptr) {
    const auto* end = get_if<lang::EngineEnd>(&outcome);
    if (end == nullptr) return outcome;
    return Requirements::Failed{.environment = ask.environment, .message = end->message};
  }
  const std::string missing = missing_in_words(ok->checks);
  CredentialsRecord record = state.get(ask.environment).value_or(CredentialsRecord{});
  record.deployer = ok->deployer;
  record.result = missing.empty() ? CredentialsResult::pass : CredentialsResult::fail;
  record.lastRunAt = state.now();
  state.put(ask.environment, record);
  state.checks(ask.environment).clear();
  for (const CredentialsCheck& each : ok->checks) state.checks(ask.environment).push(each);
  if (missing.empty()) {
    return Requirements::Ok{.environment = ask.environment, .deployer = ok->deployer, .checks = ok->checks};
  }
  return Requirements::Missing{
      .environment = ask.environment, .deployer = ok->deployer, .message = missing, .checks = ok->checks};
}

// --------------------------------------------------------------------------------------------- bootstrap and rotate

Bootstrap::Begun Credentials::begin_bootstrap(const Bootstrap&, State&) { return lang::Opened{}; }

Bootstrap::Outcome Credentials::finish_bootstrap(const Bootstrap& ask, const Bootstrap::Outcome& outcome,
                                                 State& state) {
  if (auto record = state.get(ask.environment); record && get_if<Bootstrap::Refused>(&outcome) == nullptr) {
    record->adminUsedAt = state.now();
    state.put(ask.environment, *record);
  }
  return told<Bootstrap>(ask.environment, outcome, state);
}

Rotate::Begun Credentials::begin_rotate(const Rotate& ask, State& state) {
  auto record = state.get(ask.environment);
  if (!ask.ifNeeded.value_or(false) || !record || !record->rotateAt || state.now().ms >= record->rotateAt->ms) {
    return lang::Opened{};
  }
  return Rotate::Ok{.environment = ask.environment,
                    .deployer = record->deployer,
                    .rules = record->rules,
                    .expiresAt = record->expiresAt,
                    .checks = state.checks(ask.environment).values()};
}

Rotate::Outcome Credentials::finish_rotate(const Rotate& ask, const Rotate::Outcome& outcome, State& state) {
  return told<Rotate>(ask.environment, outcome, state);
}

Issue::Begun Credentials::begin_issue(const Issue&, State&) { return lang::Opened{}; }

Issue::Outcome Credentials::finish_issue(const Issue&, const Issue::Outcome& outcome, State&) {
  if (const auto* end = get_if<lang::EngineEnd>(&outcome)) {
    return Issue::Failed{.message = "the deployer does not do that: " + end->message};
  }
  const auto* ok = get_if<Issue::Ok>(&outcome);
  if (ok != nullptr && ok->issued != ok->credential.has_value()) {
    return Issue::Failed{.message = "the deployer says that it made a credential, and hands over none"};
  }
  return outcome;
}

Publish::Begun Credentials::begin_publish(const Publish& ask, State& state) {
  return PublishWork{.environment = ask.environment.text(),
                     .deployer = ask.deployer,
                     .rules = ask.rules,
                     .at = utc_text(state.now().ms)};
}

Publish::Performed Credentials::perform_publish(const PublishWork& work, Effect& effect) {
  std::vector<RulesFile> files;
  for (const CredentialsRule& each : work.rules) files.push_back({.path = each.path, .text = each.text});
  auto written = effect.tool<RulesPacks>().write(
      {.env_id = work.environment, .deployer_kind = work.deployer, .made_at = work.at}, files);
  if (!written) return Publish::Failed{.message = to_string(written.error())};
  return Publish::Ok{.rules = *written};
}

Publish::Outcome Credentials::finish_publish(const Publish&, const Publish::Outcome& outcome, State&) {
  if (const auto* end = get_if<lang::EngineEnd>(&outcome)) return Publish::Failed{.message = end->message};
  return outcome;
}

Keep::Result Credentials::keep(const Keep& ask, State& state) {
  CredentialsRecord record = state.get(ask.environment).value_or(CredentialsRecord{});
  // Until somebody has looked.
  if (record.deployer.empty()) record.result = CredentialsResult::fail;
  record.deployer = ask.deployer;
  record.mode = "bootstrap";
  if (ask.rules) record.rules = ask.rules;
  if (ask.credential) {
    state.deploys_with(ask.environment).assign({{.name = *ask.credential}});
    record.expiresAt.reset();
    record.rotateAt.reset();
  }
  if (ask.credential && ask.lifetimeSeconds && *ask.lifetimeSeconds >= 0) {
    const int64_t life_ms = *ask.lifetimeSeconds * 1000;
    record.expiresAt = lang::DateTime{state.now().ms + life_ms};
    record.rotateAt = lang::DateTime{state.now().ms + life_ms / 5 * 4};
  }
  if (record.lastRunAt.ms == 0) record.lastRunAt = state.now();
  state.put(ask.environment, record);
  return Keep::Ok{.environment = ask.environment};
}

// ------------------------------------------------------------------------------------------------------------- look

Check::Begun Credentials::begin_check(const Check&, State&) { return lang::Opened{}; }

Check::Outcome Credentials::finish_check(const Check&, const Check::Outcome& outcome, State&) {
  if (const auto* end = get_if<lang::EngineEnd>(&outcome)) return Check::Failed{.message = end->message};
  return outcome;
}

Forget::Result Credentials::forget(const Forget& ask, State& state) {
  state.checks(ask.environment).clear();
  state.deploys_with(ask.environment).clear();
  state.erase(ask.environment);
  return Forget::Ok{.environment = ask.environment};
}

Show::Result Credentials::show(const Show& ask, const State& state) {
  Show::Ok ok{.environment = ask.environment, .result = CredentialsShowOkResult::none};
  auto record = state.get(ask.environment);
  if (!record) return ok;
  ok.deployer = record->deployer;
  ok.result = record->result == CredentialsResult::pass ? CredentialsShowOkResult::pass : CredentialsShowOkResult::fail;
  ok.lastRunAt = record->lastRunAt;
  ok.mode = record->mode.value_or("requirements");
  for (const auto& each : state.deploys_with(ask.environment).values()) ok.credential = each.name;
  ok.expiresAt = record->expiresAt;
  ok.rotateAt = record->rotateAt;
  ok.adminUsedAt = record->adminUsedAt;
  ok.rules = record->rules;
  ok.checks = state.checks(ask.environment).values();
  return ok;
}

}  // namespace sluice::deploy::credentials
