// What is known of secrets: those that were put or read, and those that a revision wants and nobody has put yet.
#include "deploy/views/secrets.h"

#include <algorithm>
#include <map>

#include "deploy/secret_names.h"
#include "deploy/views/documents.h"
#include "deploy/views/names.h"
#include "env.gen.h"
#include "revision.gen.h"
#include "secret.gen.h"

namespace sluice::deploy::views {
namespace {

std::vector<std::string> names_wanted_by(const revision::RevisionRecord& record) {
  std::vector<std::string> names;
  for (const std::string& each : record.needs.secretRefs) {
    if (auto reference = parse_secret_reference(each)) names.push_back(reference->name);
  }
  return names;
}

// Why it could not be given newer versions.
std::string problem_of(const States& states, const std::string& revision) {
  const auto renewal = states.secret().get(secret::SecretNId(revision));
  return renewal ? renewal->renewProblem.value_or("") : "";
}

Result<std::vector<ListedSecret>> read_secrets(const lang::Reading& reading, const SecretsQuery& query) {
  const States states(reading.rows);
  auto environment = find_environment(states, query.environment);
  if (!environment) return environment.error();
  const std::string& where = environment->id.text();
  std::map<std::string, ListedSecret> all;
  auto listed = [&](const std::string& name) -> ListedSecret& {
    ListedSecret& one = all[name];
    one.name = name;
    if (one.provider.empty()) one.provider = environment->record.secretsType.value_or("");
    return one;
  };
  for (const secret::SecretFound& each : states.secret().find_by_environment(where)) {
    ListedSecret& one = listed(each.record.name);
    one.provider = each.record.provider;
    if (each.record.version) one.version = *each.record.version;
  }
  for (const auto& each : live_revisions_in(states, where)) {
    for (const std::string& name : names_wanted_by(each.record)) listed(name).wanted.push_back(name_of(each));
  }
  std::vector<ListedSecret> list;
  for (auto& each : all) list.push_back(std::move(each.second));
  return list;
}

Result<SecretView> read_secret(const lang::Reading& reading, const SecretQuery& query) {
  const States states(reading.rows);
  auto environment = find_environment(states, query.environment);
  if (!environment) return environment.error();
  const std::string& where = environment->id.text();
  const secret::SecretId id(where + "/" + query.name);
  const auto record = states.secret().get(id);
  SecretView view{.environment = where,
                  .name = query.name,
                  .provider = record ? record->provider : environment->record.secretsType.value_or("")};
  if (record && record->version) view.version = *record->version;
  for (const auto& each : states.secret().known(id).values()) {
    view.versions.push_back({.version = each.version, .kept_at = each.at});
  }
  std::ranges::reverse(view.versions);
  bool wanted = false;
  for (const auto& each : live_revisions_in(states, where)) {
    const auto names = names_wanted_by(each.record);
    wanted |= std::ranges::find(names, query.name) != names.end();
    for (const auto& has : states.revision().secret_versions(each.id).values()) {
      if (has.name != query.name) continue;
      view.used_by.push_back({.revision_id = each.id.text(),
                              .revision = name_of(each),
                              .version = has.version,
                              .pinned = each.record.needs.pinSecrets.value_or(false),
                              .problem = problem_of(states, each.id.text())});
    }
  }
  for (const auto& each : states.secret().audit(id).values()) {
    view.readers.push_back(
        {.read_at = each.accessedAt, .reader = each.accessedBy, .version = each.version, .purpose = each.purpose});
  }
  std::ranges::reverse(view.readers);
  if (!record && !wanted && view.versions.empty()) {
    return Error{.code = Code::not_found,
                 .message = "there is no secret " + query.name + " in " + where,
                 .next = "view secrets environment=" + where};
  }
  return view;
}

}  // namespace

std::vector<lang::View> secret_views() {
  return {lang::make_view("secrets", "The secrets of an environment, without their values", read_secrets),
          lang::make_view("secret", "A secret's versions, and who has read them", read_secret)};
}

std::vector<SecretInUse> secrets_in_use(const lang::Snapshot& snapshot) {
  const States states(snapshot);
  std::vector<SecretInUse> all;
  for (const revision::RevisionFound& each : states.revision().find_by_lifecycle(revision::RevisionLifecycle::ready)) {
    if (each.record.needs.pinSecrets.value_or(false) || each.record.needs.secretRefs.empty()) continue;
    const auto environment = states.env().get(env::EnvId(each.record.environment));
    if (!environment || !environment->secretsType) continue;
    // Versions of a pack that was bound before say nothing of those of this one.
    if (each.record.secretsFrom && each.record.secretsFrom != environment->secretsType) continue;
    const auto held = states.revision().held_secrets(revision::RevisionDId(each.record.deployment)).values();
    for (const auto& has : states.revision().secret_versions(each.id).values()) {
      // One that went back keeps the versions of that time.
      if (std::ranges::any_of(held, [&](const auto& one) { return one.name == has.name; })) continue;
      all.push_back({each.record.environment, *environment->secretsType, has.name, has.version});
    }
  }
  return all;
}

std::vector<OldBinding> old_secrets_bindings(const lang::Snapshot& snapshot) {
  const States states(snapshot);
  std::vector<OldBinding> all;
  for (const env::EnvFound& each : states.env().all()) {
    if (each.record.secretsType) continue;
    for (const env::EnvPack& pack : states.env().packs(each.id).values()) {
      if (pack.slot == "secrets") all.push_back({each.id.text(), pack.kind});
    }
  }
  return all;
}

}  // namespace sluice::deploy::views
