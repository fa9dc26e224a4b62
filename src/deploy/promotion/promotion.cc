// Reads the five concepts of promotion; nothing here is written.
#include "deploy/promotion/promotion.h"

#include <algorithm>
#include <map>
#include <set>

#include "approval.gen.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "crypto/sha256.h"
#include "definition.gen.h"
#include "deploy/rollout_criteria.h"
#include "deploy/rollout_steps.h"
#include "env.gen.h"
#include "git_source.gen.h"
#include "migration.gen.h"
#include "oci/reference.h"
#include "pin.gen.h"
#include "pipeline.gen.h"
#include "registry.gen.h"
#include "release.gen.h"
#include "render/promote/freeze.h"
#include "render/promote/gzip.h"
#include "revision.gen.h"
#include "settings.gen.h"

namespace sluice::deploy::views {
namespace {

constexpr size_t kSpareReleases = 5;

Document document_of(const std::string& text, const std::string& file) {
  auto parsed = parse_json(text, file);
  return parsed ? *std::move(parsed) : Document{};
}

// The components that a workload connects to.
std::vector<std::string> providers_in(const component::WorkloadSpec& workload) {
  std::vector<std::string> names;
  const auto* all = workload.connections.if_array();
  for (size_t index = 0; all && index < all->size(); ++index) {
    boost::system::error_code failed;
    const auto* name = (*all)[index].find_pointer("/params/componentName", failed);
    if (name && !failed && name->is_string()) names.emplace_back(name->as_string());
  }
  return names;
}

std::vector<std::string> providers_of(const States& states, const std::string& release) {
  const auto content = content_of_release(states, release);
  if (!content) return {};
  const auto kinds = promote::kinds_of(*content);
  if (kinds.workloads.empty()) return {};
  return providers_in(kinds.workloads.begin()->second.value.spec);
}

std::optional<pin::PinRecord> pin_in(const States& states, const std::string& component,
                                     const std::string& environment) {
  return states.pin().get(pin::PinId(component + "/" + environment));
}

// What would be refused only once it is brought up.
std::optional<std::string> fault_of_bundle(const promote::BundleSpec& spec) {
  if (!spec.bundle.starts_with("sha256:")) {
    return "its bundle is '" + spec.bundle + "', which is no digest of a bundle";
  }
  if (!spec.rollout) return std::nullopt;
  const promote::BundleRollout& rollout = *spec.rollout;
  if (auto steps = parse_steps(rollout.steps, rollout.strategy); !steps) return "rollout: " + steps.error().message;
  auto criteria = parse_criteria(rollout.analysis.is_null() ? "" : write(rollout.analysis));
  return criteria ? std::nullopt : std::optional("rollout: " + to_string(criteria.error()));
}

// Whether a component needs another one in an environment, perhaps through others.
bool leads_to(const States& states, const std::string& from, const std::string& to, const std::string& environment,
              std::set<std::string>& seen) {
  if (!seen.insert(from).second) return false;
  const auto record = pin_in(states, from, environment);
  if (!record) return false;
  for (const std::string& each : providers_of(states, record->release)) {
    if (each == to || leads_to(states, each, to, environment, seen)) return true;
  }
  return false;
}

// Whether a call that names it waits for people to agree.
bool awaits_approval(const States& states, const std::string& release) {
  for (const auto& each : states.approval().all()) {
    const auto& record = each.record;
    if (record.status == "waiting" && record.action.starts_with("Pin/") &&
        record.input.find('"' + release + '"') != std::string::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string kept_text(const Document& document) {
  json::value plain = document.root;
  if (auto* members = plain.if_object()) members->erase("status");
  return write(plain);
}

std::vector<AppliedSign> signs_of(const States& states, const promote::Objects& objects) {
  std::vector<AppliedSign> signs;
  const auto note = [&](const std::optional<bool>& same, const std::string& kind, const std::string& name) {
    signs.push_back({!same ? "+" : *same ? "=" : "~", kind, name});
  };
  const auto compared = [](const auto& before, const Document& document) {
    return before ? std::optional(before->document == kept_text(document)) : std::nullopt;
  };
  // As `get` lists them, whatever their files call them.
  const auto name_of = [](const std::string& component, const std::string& environment) {
    return component + "-" + environment;
  };
  const auto definitions = [&](const std::string& kind, const auto& all) {
    for (const auto& [name, each] : all) {
      note(compared(states.definition().get(definition::DefinitionId(kind + "/" + name)), each.document), kind, name);
    }
  };
  definitions("ComponentTypeDefinition", objects.kinds.types);
  definitions("Addon", objects.kinds.addons);
  definitions("Component", objects.kinds.components);
  definitions("Workload", objects.kinds.workloads);
  for (const auto& [name, each] : objects.pipelines) {
    note(compared(states.pipeline().get(pipeline::PipelineId(name)), each.document), "DeploymentPipeline", name);
  }
  for (const auto& [name, each] : objects.kinds.settings) {
    note(compared(states.settings().get(settings::SettingsId(name)), each.document), "EnvSettings",
         name_of(each.value.spec.owner.componentName, each.value.spec.environment));
  }
  for (const auto& [name, each] : objects.releases) {
    const auto before = states.release().get(release::ReleaseId(name));
    const auto digest = crypto::to_string(crypto::sha256(kept_text(each.document)));
    const auto same = [&] {
      if (before->documentDigest == digest) return true;
      const auto content = promote::resolve(each.value.spec, {});
      return before->ready && content && promote::identity_of(*content) == before->identity;
    };
    note(before ? std::optional(same()) : std::nullopt, "Release", name);
  }
  for (const auto& [name, each] : objects.pins) {
    const auto before = states.pin().get(pin::PinId(name));
    const auto& spec = each.value.spec;
    const auto same = [&] {
      return before->release == spec.releaseName &&
             (before->wanted == pin::PinWanted::Active_) == (spec.state == promote::PinState::Active) &&
             (before->onDrift == pin::PinOnDrift::correct) == (spec.drift == promote::PinDrift::correct);
    };
    note(before ? std::optional(same()) : std::nullopt, "ReleasePin",
         name_of(each.value.spec.component, each.value.spec.environment));
  }
  return signs;
}

std::vector<KeptObject> kept_now(const States& states, const promote::Objects& objects) {
  std::vector<KeptObject> all;
  const auto note = [&](const char* kind, const auto& objects_of_kind, const auto& find) {
    for (const auto& [name, each] : objects_of_kind) {
      const auto before = find(name);
      if (before && before->document == kept_text(each.document)) continue;
      all.push_back({kind, name, before ? before->document : ""});
    }
  };
  const auto definitions = [&](const char* kind, const auto& objects_of_kind) {
    note(kind, objects_of_kind, [&](const std::string& name) {
      return states.definition().get(definition::DefinitionId(std::string(kind) + "/" + name));
    });
  };
  definitions("ComponentTypeDefinition", objects.kinds.types);
  definitions("Addon", objects.kinds.addons);
  definitions("Component", objects.kinds.components);
  definitions("Workload", objects.kinds.workloads);
  note("DeploymentPipeline", objects.pipelines,
       [&](const std::string& name) { return states.pipeline().get(pipeline::PipelineId(name)); });
  note("EnvSettings", objects.kinds.settings,
       [&](const std::string& name) { return states.settings().get(settings::SettingsId(name)); });
  for (const auto& [name, unused] : objects.releases) {
    if (!states.release().has(release::ReleaseId(name))) all.push_back({"Release", name, ""});
  }
  return all;
}

component::Kinds defined_kinds(const States& states) {
  std::vector<Document> documents;
  for (const auto& each : states.definition().all()) {
    documents.push_back(document_of(each.record.document, each.id.text()));
  }
  return component::read_kinds(std::move(documents));
}

Result<promote::Content> content_of_release(const States& states, const std::string& release) {
  const auto record = states.release().get(release::ReleaseId(release));
  if (!record) return Error{.code = Code::not_found, .message = "there is no release " + release};
  if (!record->ready) {
    return Error{.code = Code::unavailable, .message = "the release " + release + " is not ready: " + record->message};
  }
  promote::Content content;
  for (const auto& each : states.release().parts(release::ReleaseId(release))) {
    const auto& part = each.value;
    promote::Role role{};
    boost::describe::enum_from_string(part.role.c_str(), role);
    const auto kept = states.release().get(release::ReleaseTId(part.digest));
    auto text = promote::unpacked(kept ? kept->text : "");
    if (!text) return text.error();
    content.parts.push_back({.role = role, .name = part.name, .text = *std::move(text), .digest = part.digest});
  }
  return content;
}

Result<std::string> pipeline_of(const States& states, const promote::Content& content) {
  const auto kinds = promote::kinds_of(content);
  if (!kinds.components.empty()) {
    const auto& annotations = kinds.components.begin()->second.value.metadata.annotations;
    const auto named = annotations.find("sluice.dev/pipeline");
    if (named != annotations.end()) {
      if (states.pipeline().has(pipeline::PipelineId(named->second))) return named->second;
      return Error{.code = Code::not_found,
                   .message = "there is no DeploymentPipeline '" + named->second + "', which " +
                              kinds.components.begin()->first + " names",
                   .next = "apply it"};
    }
  }
  std::vector<std::string> all;
  for (const auto& each : states.pipeline().all()) all.push_back(each.id.text());
  if (all.size() == 1) return all.front();
  return Error{.code = Code::invalid,
               .message = all.empty() ? "there is no DeploymentPipeline"
                                      : "the Component names no pipeline, and there are " + std::to_string(all.size()),
               .next = all.empty() ? "apply one" : "annotate the Component with sluice.dev/pipeline"};
}

Result<RenderedRelease> render_release(const States& states, const std::string& component,
                                       const std::string& environment, const std::string& release,
                                       const TimeZones& zones) {
  auto content = content_of_release(states, release);
  if (!content) return content.error();
  RenderedRelease told;
  told.identity = promote::identity_of(*content);
  auto kinds = promote::kinds_of(*content);
  if (!kinds.workloads.empty()) told.needs = providers_in(kinds.workloads.begin()->second.value.spec);
  std::vector<Document> more;
  const settings::SettingsId own(component + "/" + environment);
  if (const auto record = states.settings().get(own)) {
    told.settings = record->digest;
    more.push_back(document_of(record->document, "EnvSettings " + own.text()));
  }
  auto read_settings = component::read_kinds(std::move(more));
  kinds.settings = std::move(read_settings.settings);
  for (const std::string& provider : told.needs) {
    const auto record = pin_in(states, provider, environment);
    if (!record || provider == component) continue;
    const auto theirs = content_of_release(states, record->release);
    if (!theirs) continue;
    auto other = promote::kinds_of(*theirs);
    for (auto& [name, defined] : other.workloads) kinds.workloads.emplace(name, std::move(defined));
  }
  told.made = component::render_component(kinds, {.component = component, .environment = environment, .zones = &zones});
  if (!told.made.faults.empty()) {
    Error all{.code = Code::invalid, .message = ""};
    for (const Error& fault : told.made.faults) all.message += (all.message.empty() ? "" : "\n") + to_string(fault);
    return all;
  }
  std::vector<json::value> objects;
  for (const auto& each : told.made.objects) objects.push_back(each.object);
  auto target = promote::target_of(objects);
  if (!target) return target.error();
  told.target = *std::move(target);
  return told;
}

std::optional<KeptLogin> login_for(const States& states, const promote::Content& content, const std::string& image) {
  const auto reference = oci::parse_reference(image);
  const auto pipeline = pipeline_of(states, content);
  if (!reference || !pipeline) return std::nullopt;
  std::optional<KeptLogin> found;
  for (const auto& stage : states.pipeline().stages(pipeline::PipelineId(*pipeline))) {
    const std::string& environment = stage.value.environment;
    if (found && !stage.value.root) continue;
    const auto login = states.registry().get(registry::RegistryId(environment + "/" + reference->host));
    const auto place = states.env().get(env::EnvId(environment));
    if (!login || !place || !place->secretsType) continue;
    found = KeptLogin{.environment = environment, .provider = *place->secretsType, .secret = login->secret};
    if (stage.value.root) return found;
  }
  return found;
}

std::optional<std::string> fault_of_rendering(const States& states, const std::string& component,
                                              const std::string& environment, const std::string& release,
                                              const TimeZones& zones) {
  const auto record = states.release().get(release::ReleaseId(release));
  if (record && environment != "local" && record->image.find("sha256:") == std::string::npos) {
    return "the image " + record->image + " has no digest, and outside local only what is pinned by one runs";
  }
  // What it connects to may come later: then it waits.
  if (waits_for(states, component, environment, release)) return std::nullopt;
  const auto made = render_release(states, component, environment, release, zones);
  if (!made) return to_string(made.error());
  return made->target.bundle ? fault_of_bundle(*made->target.bundle) : std::nullopt;
}

std::optional<Awaited> waits_for(const States& states, const std::string& component, const std::string& environment,
                                 const std::string& release) {
  for (const std::string& provider : providers_of(states, release)) {
    if (provider == component) continue;
    const auto record = pin_in(states, provider, environment);
    if (!record || record->wanted == pin::PinWanted::Undeploy_) {
      return Awaited{provider, provider + " is not deployed in " + environment};
    }
    if (record->ready) continue;
    std::set<std::string> seen;
    if (leads_to(states, provider, component, environment, seen)) continue;  // they start together
    return Awaited{provider, provider + " is not ready in " + environment};
  }
  return std::nullopt;
}

std::vector<std::string> starts_together(const States& states, const std::string& component,
                                         const std::string& environment, const std::string& release) {
  std::vector<std::string> all;
  for (const std::string& provider : providers_of(states, release)) {
    std::set<std::string> seen;
    if (provider != component && leads_to(states, provider, component, environment, seen)) all.push_back(provider);
  }
  return all;
}

LockFacts facts_of(const States& states, const std::string& revision) {
  LockFacts facts;
  const revision::RevisionId id(revision.empty() ? "-" : revision);
  const auto record = states.revision().get(id);
  if (!record) return facts;
  facts.artifact = record->bundleDigest;
  facts.config_digest = record->configDigest;
  for (const auto& each : states.revision().secret_versions(id)) {
    facts.secrets.push_back({each.value.variable, each.value.name, each.value.version});
  }
  const auto migration = states.migration().get(migration::MigrationId(id.text()));
  if (migration && migration->database) {
    facts.schema = LockedSchema{migration->database->text(), migration->toVersion, migration->phase};
  }
  return facts;
}

std::string write_facts(const LockFacts& facts) { return write(to_json(facts)); }

LockFacts read_facts(const std::string& text) {
  if (text.empty()) return {};
  auto facts = read<LockFacts>(document_of(text, "facts"));
  return facts ? *std::move(facts) : LockFacts{};
}

std::optional<std::string> contracted_since(const States& states, const LockFacts& facts) {
  if (!facts.schema) return std::nullopt;
  const auto database = states.migration().get(migration::MigrationBId(facts.schema->database));
  if (!database || facts.schema->version >= database->floor) return std::nullopt;
  return "it ran on the schema of migration " + std::to_string(facts.schema->version) + ", and migration " +
         std::to_string(database->floor) +
         " has removed what was there before; go back to an entry of the history that is newer, or deploy a release "
         "that needs migration " +
         std::to_string(database->floor);
}

Result<Timing> timing_of(const States& states, const std::string& pipeline, const std::string& component,
                         const std::string& release, const std::string& to, int64_t now_ms, const TimeZones& zones) {
  Timing timing;
  const pipeline::PipelineId id(pipeline);
  const auto record = states.pipeline().get(id);
  if (!record) return timing;
  std::optional<int64_t> least;  // of the sources that run it, the one that has soaked longest counts
  for (const auto& each : states.pipeline().paths(id)) {
    if (each.value.to != to) continue;
    timing.approvals = std::max(timing.approvals, each.value.approvals);
    const auto source = pin_in(states, component, each.value.from);
    if (!source || source->release != release || !source->ready || !source->readyAt) continue;
    const int64_t left = each.value.soakSeconds - (now_ms - source->readyAt->ms) / 1000;
    least = std::min(least.value_or(left), left);
  }
  timing.soak_left_s = std::max<int64_t>(0, least.value_or(0));
  const auto parsed = read<promote::PipelineKind>(document_of(record->document, pipeline));
  if (!parsed) return parsed.error();
  auto frozen = promote::frozen_at(parsed->spec.freezes, to, now_ms / 1000, zones);
  if (!frozen) return frozen.error();
  timing.freeze = frozen->value_or("");
  return timing;
}

std::vector<std::string> needless_releases(const States& states, int64_t now_ms) {
  std::set<std::string> needed;
  std::map<std::string, std::set<std::string>> pipelines;  // of a component
  for (const auto& each : states.pin().all()) {
    needed.insert(each.record.release);
    needed.insert(each.record.applied);
    for (const auto& lock : states.pin().locks(each.id)) needed.insert(lock.value.release);
    if (!each.record.pipeline.empty()) pipelines[each.record.component].insert(each.record.pipeline);
  }
  struct Kept {
    size_t releases = 0;
    int64_t younger_than_ms = 0;
  };
  std::map<std::string, Kept> kept_by;  // a pipeline
  for (const auto& each : states.pipeline().all()) {
    const auto parsed = read<promote::PipelineKind>(document_of(each.record.document, each.id.text()));
    kept_by[each.id.text()] = {states.pipeline().stages(each.id).size(),
                               parsed ? parsed->spec.retentionSeconds * 1000 : 0};
  }
  std::map<std::string, std::vector<std::pair<int64_t, std::string>>> all;
  for (const auto& each : states.release().all()) {
    all[each.record.component].push_back({each.record.createdAt.ms, each.id.text()});
  }
  std::vector<std::string> needless;
  for (auto& [component, releases] : all) {
    std::sort(releases.rbegin(), releases.rend());
    Kept kept;
    for (const std::string& pipeline : pipelines[component]) {
      kept.releases = std::max(kept.releases, kept_by[pipeline].releases);
      kept.younger_than_ms = std::max(kept.younger_than_ms, kept_by[pipeline].younger_than_ms);
    }
    // One that was never pinned would take the only pipeline.
    if (pipelines[component].empty() && kept_by.size() == 1) kept = kept_by.begin()->second;
    for (size_t index = kept.releases + kSpareReleases; index < releases.size(); ++index) {
      const auto& [created_ms, name] = releases[index];
      const bool young = now_ms - created_ms < kept.younger_than_ms;
      if (!young && !needed.contains(name) && !awaits_approval(states, name)) needless.push_back(name);
    }
  }
  std::sort(needless.begin(), needless.end());
  return needless;
}

std::set<std::string> releases_in_git(const States& states) {
  std::set<std::string> names;
  for (const auto& each : states.git_source().all()) {
    const auto note = [&](const auto& objects) {
      for (const auto& object : objects) {
        if (object.value.kind == "Release") names.insert(object.value.name);
      }
    };
    note(states.git_source().objects(each.id));
    note(states.git_source().fetched(each.id));  // a commit that is being applied
  }
  return names;
}

}  // namespace sluice::deploy::views
