// Secret knows of secrets and of who reads them. Values pass through it sealed: only combine opens any, to put them
// together for one reader.
#include <algorithm>
#include <boost/json.hpp>
#include <stdexcept>

#include "base/json.h"
#include "deploy/concepts/secret/secret_work.h"
#include "deploy/next_in_words.h"
#include "deploy/secret_names.h"

namespace sluice::deploy::secret {
namespace {

constexpr size_t kReadersKept = 100;
constexpr size_t kVersionsListed = 100;

SecretId id_of(const std::string& environment, const std::string& name) { return SecretId(environment + "/" + name); }

template <class Outcome>
std::string reason_of(const Outcome& outcome) {
  const auto* end = get_if<lang::EngineEnd>(&outcome);
  return end ? end->message : "";
}

// The row of a secret; made when it is first heard of.
SecretRecord row_of(const State& state, const SecretId& id, const std::string& environment, const std::string& name) {
  return state.get(id).value_or(SecretRecord{.environment = environment, .name = name});
}

void keep_version(State& state, const std::string& environment, const std::string& name, const std::string& provider,
                  const std::string& version) {
  const SecretId id = id_of(environment, name);
  SecretRecord record = row_of(state, id, environment, name);
  record.provider = provider;
  record.version = version;
  record.cachedAt = state.now();
  record.expiresAt.reset();
  state.put(id, record);
  auto versions = state.known(id).values();
  if (std::ranges::find(versions, version, &SecretKnownItem::version) != versions.end()) return;
  versions.push_back({.version = version, .at = state.now()});
  if (versions.size() > kVersionsListed) versions.erase(versions.begin());
  state.known(id).assign(versions);
}

// What was found to be the newest version is, unless somebody has put another one since that was looked up.
void keep_newest(State& state, const std::string& environment, const SecretGatheredItem& item,
                 const std::string& version) {
  const auto row = state.get(id_of(environment, item.name));
  if (row && row->version == item.before && row->version != version) {
    keep_version(state, environment, item.name, row->provider, version);
  }
}

template <class Action>
typename Action::Failed failed(const Action& ask, const std::string& message) {
  return {.name = ask.name, .provider = ask.provider, .message = message};
}

// What a provider says of a secret is told under the secret's own name.
template <class Action, class Outcome>
Outcome told(const Action& ask, const Outcome& outcome) {
  if (ended_of(outcome) == Action::Ended::engine) return failed(ask, reason_of(outcome));
  return outcome;
}

std::vector<SecretVersion> versions_of(const std::vector<SecretGatheredItem>& gathered) {
  std::vector<SecretVersion> versions;
  for (const SecretGatheredItem& each : gathered) {
    if (each.variable == kRegistryLogin) continue;  // of no interest to what runs
    versions.push_back({.variable = each.variable, .name = each.name, .version = each.version});
  }
  return versions;
}

}  // namespace

// -------------------------------------------------------------------------------------------------------- resolve

Resolve::Begun Secret::begin_resolve(const Resolve& ask, State& state) {
  const SecretId id = id_of(ask.environment, ask.name);
  SecretRecord record = row_of(state, id, ask.environment, ask.name);
  record.provider = ask.provider;
  state.put(id, record);
  return lang::Opened{};
}

Resolve::Outcome Secret::finish_resolve(const Resolve& ask, const Resolve::Outcome& outcome, State& state) {
  const auto* resolved = get_if<Resolve::Ok>(&outcome);
  if (resolved == nullptr) return told(ask, outcome);
  auto ok = *resolved;
  ok.secret = id_of(ask.environment, ask.name);
  ok.reader = ask.reader;  // for the audit: the record says who was given what, and why
  ok.purpose = ask.purpose;
  // A version that was asked for need not be the newest; whoever gathers knows.
  const auto row = state.get(ok.secret);
  if (!ask.version || !row || !row->version) {
    keep_version(state, ask.environment, ask.name, ask.provider, ok.version);
  }
  auto readers = state.audit(ok.secret).values();
  readers.push_back(
      {.accessedAt = state.now(), .accessedBy = ask.reader, .version = ok.version, .purpose = ask.purpose});
  if (readers.size() > kReadersKept) readers.erase(readers.begin());
  state.audit(ok.secret).assign(readers);
  return ok;
}

Exists::Begun Secret::begin_exists(const Exists&, State&) { return lang::Opened{}; }

Exists::Outcome Secret::finish_exists(const Exists& ask, const Exists::Outcome& outcome, State&) {
  if (const auto* found = get_if<Exists::Ok>(&outcome)) {
    auto ok = *found;
    ok.name = ask.name;
    return ok;
  }
  return told(ask, outcome);
}

Expect::Begun Secret::begin_expect(const Expect&, State&) { return lang::Opened{}; }

Expect::Outcome Secret::finish_expect(const Expect& ask, const Expect::Outcome& outcome, State&) {
  if (get_if<Expect::Ok>(&outcome) != nullptr) return Expect::Ok{.name = ask.name};
  if (const auto* end = get_if<lang::EngineEnd>(&outcome)) {
    return Expect::Missing{.name = ask.name, .message = end->message};
  }
  Expect::Missing missing = get<Expect::Missing>(outcome);
  missing.name = ask.name;
  return missing;
}

// ------------------------------------------------------------------------------------------- put, rotate, remove

Put::Begun Secret::begin_put(const Put& ask, State&) {
  if (std::string fault = fault_of_secret_name(ask.name); !fault.empty()) {
    return Put::Invalid{.name = ask.name, .message = fault};
  }
  return lang::Opened{};
}

Put::Outcome Secret::finish_put(const Put& ask, const Put::Outcome& outcome, State& state) {
  const auto* kept = get_if<Put::Ok>(&outcome);
  if (kept == nullptr) return told(ask, outcome);
  auto ok = *kept;
  ok.secret = id_of(ask.environment, ask.name);
  keep_version(state, ask.environment, ask.name, ask.provider, ok.version);
  return ok;
}

Rotate::Begun Secret::begin_rotate(const Rotate&, State&) { return lang::Opened{}; }

Rotate::Outcome Secret::finish_rotate(const Rotate& ask, const Rotate::Outcome& outcome, State& state) {
  const auto* rotated = get_if<Rotate::Ok>(&outcome);
  if (rotated == nullptr) return told(ask, outcome);
  auto ok = *rotated;
  ok.secret = id_of(ask.environment, ask.name);
  keep_version(state, ask.environment, ask.name, ask.provider, ok.newVersion);
  return ok;
}

Remove::Begun Secret::begin_remove(const Remove&, State&) { return lang::Opened{}; }

Remove::Outcome Secret::finish_remove(const Remove& ask, const Remove::Outcome& outcome, State& state) {
  if (ended_of(outcome) != Remove::Ended::ok) return told(ask, outcome);
  const SecretId id = id_of(ask.environment, ask.name);
  state.audit(id).clear();
  state.known(id).clear();
  if (state.has(id)) state.erase(id);
  return Remove::Ok{.name = ask.name};
}

Rekey::Begun Secret::begin_rekey(const Rekey&, State&) { return lang::Opened{}; }

Rekey::Outcome Secret::finish_rekey(const Rekey& ask, const Rekey::Outcome& outcome, State&) {
  if (ended_of(outcome) != Rekey::Ended::engine) return outcome;
  return Rekey::Failed{.provider = ask.provider, .message = reason_of(outcome)};
}

InvalidateCache::Result Secret::invalidate_cache(const InvalidateCache& ask, State& state) {
  const SecretId id = id_of(ask.environment, ask.name);
  if (state.has(id)) {
    state.edit(id, [](SecretRecord& record) {
      record.version.reset();
      record.cachedAt.reset();
      record.expiresAt.reset();
    });
  }
  return InvalidateCache::Ok{.secret = id};
}

// ---------------------------------------------------------------------------------------------------------- renew

Renew::Begun Secret::begin_renew(const Renew& ask, State& state) {
  SecretNRecord record = state.get(ask.revision).value_or(SecretNRecord{});
  if (record.renewing) return Renew::Busy{.revision = ask.revision};
  record.renewing = state.request();
  state.put(ask.revision, record);
  return lang::Opened{};
}

Renew::Outcome Secret::finish_renew(const Renew& ask, const Renew::Outcome& outcome, State& state) {
  Renew::Outcome told = outcome;
  if (ended_of(outcome) == Renew::Ended::engine) {
    told = Renew::Failed{.revision = ask.revision, .message = reason_of(outcome)};
  }
  auto record = state.get(ask.revision);
  if (!record || record->renewing != state.request()) return told;
  state.erase(ask.revision);
  return told;
}

Stalled::Result Secret::stalled(const Stalled& ask, State& state) {
  SecretNRecord record = state.get(ask.revision).value_or(SecretNRecord{});
  record.renewProblem = ask.message;
  state.put(ask.revision, record);
  return Stalled::Ok{.revision = ask.revision};
}

Noticed::Result Secret::noticed(const Noticed& ask, State& state) {
  const SecretId id = id_of(ask.environment, ask.name);
  keep_version(state, ask.environment, ask.name, ask.provider, ask.version);
  return Noticed::Ok{.secret = id, .version = ask.version};
}

// --------------------------------------------------------------------------------------------------------- gather

Gather::Begun Secret::begin_gather(const Gather& ask, State& state) {
  if (ask.wanted.empty() && !ask.login) return Gather::Ok{};
  if (!ask.provider || ask.provider->empty()) {
    std::string names;
    for (const SecretWantedItem& each : ask.wanted) names += (names.empty() ? "" : ", ") + each.name;
    if (ask.login) names += (names.empty() ? "" : ", ") + *ask.login;
    return Gather::Missing{.message = "nothing serves the slot secrets of " + ask.environment + ", and " + ask.reader +
                                      " needs " + names};
  }
  SecretGRecord record{.gathering = state.request(), .reader = ask.reader, .forEnvironment = ask.environment};
  const SecretGId id = state.add(record);
  auto wanted = [&](const std::string& variable, const std::string& name, bool newest) {
    const auto row = state.get(id_of(ask.environment, name));
    return SecretGatheredItem{
        .variable = variable, .name = name, .newest = newest, .before = row ? row->version : std::nullopt};
  };
  std::vector<std::string> names;
  for (const SecretWantedItem& each : ask.wanted) {
    state.gathered(id).push(wanted(each.variable, each.name, each.version.empty()));
    if (std::ranges::find(names, each.name) == names.end()) names.push_back(each.name);
  }
  if (ask.login) {
    state.gathered(id).push(wanted(std::string(kRegistryLogin), *ask.login, true));
    if (std::ranges::find(names, *ask.login) == names.end()) names.push_back(*ask.login);
  }
  state.edit(id, [&](SecretGRecord& row) { row.open = static_cast<int64_t>(names.size()); });
  return lang::Opened{};
}

Gather::Outcome Secret::finish_gather(const Gather& ask, const Gather::Outcome& outcome, State& state) {
  for (const SecretGFound& each : state.find_by_gathering(state.request())) {
    state.gathered(each.id).clear();
    state.erase(each.id);
  }
  if (ended_of(outcome) != Gather::Ended::engine) return outcome;
  return Gather::Missing{.message = "the secrets of " + ask.reader + " could not be gathered: " + reason_of(outcome)};
}

Collect::Result Secret::collect(const Collect& ask, State& state) {
  auto record = state.get(ask.gather);
  // One that has ended meanwhile waits for nothing.
  if (!record || record->open == 0) return Collect::Ok{.gather = ask.gather};
  auto all = state.gathered(ask.gather).values();
  // A login may be one of the bundle's own secrets, too: it is looked for twice then, and counts once.
  auto is_open = [&](const SecretGatheredItem& each) {
    return each.name == ask.name && !each.value && each.problem.empty();
  };
  if (std::ranges::none_of(all, is_open)) return Collect::Ok{.gather = ask.gather};
  for (SecretGatheredItem& each : all) {
    if (each.name != ask.name) continue;
    if (ask.version && each.newest.value_or(false))
      keep_newest(state, record->forEnvironment.value_or(""), each, *ask.version);
    each.version = ask.version.value_or("");
    each.problem = ask.problem.value_or("");
    each.value = ask.value;
  }
  state.gathered(ask.gather).assign(all);
  record->open--;
  if (ask.problem) record->missing = both_said(record->missing, *ask.problem);
  state.put(ask.gather, *record);
  return Collect::Ok{.gather = ask.gather};
}

Combine::Begun Secret::begin_combine(const Combine& ask, State& state) {
  return CombineWork{.gathered = state.gathered(ask.gather).values()};
}

Combine::Performed Secret::perform_combine(const CombineWork& work, Effect& effect) {
  json::object values;
  for (const SecretGatheredItem& each : work.gathered) {
    try {
      if (each.value) values[each.variable] = effect.open(*each.value);
    } catch (const std::exception& error) {
      return Combine::Lost{.message = each.name + " could not be read again: " + error.what()};
    }
  }
  return Combine::Ok{.values = effect.seal(write(values)), .versions = versions_of(work.gathered)};
}

Combine::Outcome Secret::finish_combine(const Combine&, const Combine::Outcome& outcome, State&) {
  if (ended_of(outcome) != Combine::Ended::engine) return outcome;
  return Combine::Lost{.message = reason_of(outcome)};
}

}  // namespace sluice::deploy::secret
