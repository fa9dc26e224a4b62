// GitSource keeps which commit of a branch was tried. Files are applied by Definition, as any others.
#include <algorithm>

#include "base/json.h"
#include "base/yaml.h"
#include "deploy/concepts/git_source/git_source_work.h"
#include "deploy/promotion/release_sources.h"
#include "git_source.gen.h"
#include "http/outgoing.h"
#include "render/promote/kinds.h"

namespace sluice::deploy::git_source {
namespace {

std::string no_source(const GitSourceId& id) { return "there is no Git source " + id.text(); }

// What stands in the files, by kind and key; nothing if they cannot be read, which Definition/apply says with places.
std::vector<GitSourceObject> objects_in(const GitFolder& folder) {
  std::vector<Document> documents;
  for (const auto& [path, text] : folder.files) {
    auto parsed = parse_yaml_stream(text, path);
    if (!parsed) return {};
    for (auto& each : *parsed) documents.push_back(std::move(each));
  }
  const auto read = promote::read_objects(std::move(documents));
  std::vector<GitSourceObject> all;
  const auto note = [&](const char* kind, const auto& objects) {
    for (const auto& each : objects) all.push_back({kind, each.first, ""});
  };
  note("ComponentTypeDefinition", read.kinds.types);
  note("Addon", read.kinds.addons);
  note("Component", read.kinds.components);
  note("Workload", read.kinds.workloads);
  note("DeploymentPipeline", read.pipelines);
  note("EnvSettings", read.kinds.settings);
  note("Release", read.releases);
  for (const auto& [key, each] : read.pins) all.push_back({"ReleasePin", key, each.value.spec.releaseName});
  return all;
}

// What was applied before and is not there any more, sorted by who forgets it.
void note_gone(Look::Ok& ok, const std::vector<GitSourceObject>& before, const std::vector<GitSourceObject>& now) {
  for (const auto& each : before) {
    const bool there =
        std::ranges::any_of(now, [&](const auto& other) { return other.kind == each.kind && other.name == each.name; });
    if (there) continue;
    const size_t slash = each.name.rfind('/');
    const std::string component = each.name.substr(0, slash);
    const std::string environment = slash == std::string::npos ? "" : each.name.substr(slash + 1);
    if (each.kind == "Release") {
      ok.releases.push_back({.release = each.name});
    } else if (each.kind == "DeploymentPipeline") {
      ok.pipelines.push_back({.pipeline = each.name});
    } else if (each.kind == "EnvSettings") {
      ok.settings.push_back({.component = component, .environment = environment});
    } else if (each.kind == "ReleasePin") {
      ok.pins.push_back({.component = component,
                         .environment = environment,
                         .release = each.release,
                         .state = "Undeploy",
                         .drift = std::nullopt});
    } else {
      ok.definitions.push_back({.kind = each.kind, .name = each.name});
    }
  }
}

}  // namespace

// ------------------------------------------------------------------------------------------------ watch and unwatch

Watch::Result GitSource::watch(const Watch& ask, State& state) {
  const auto url = http::parse_url(ask.url);
  if (!url || !ask.url.starts_with("https://")) {
    return Watch::Invalid{.message = "a repository is an https:// URL, not " + ask.url};
  }
  if (ask.name.empty() || ask.branch.empty()) return Watch::Invalid{.message = "a source has a name and a branch"};
  const GitSourceId id(ask.name);
  if (state.has(id)) return Watch::Exists{.source = id, .message = "there is a Git source " + ask.name + " already"};
  state.put(id, {.url = ask.url,
                 .branch = ask.branch,
                 .path = ask.path.value_or(""),
                 .prune = ask.prune.value_or(false),
                 .by = ask.caller.value_or(""),
                 .since = state.now(),
                 .status = GitSourceStatus::waiting});
  return Watch::Ok{.source = id};
}

Unwatch::Result GitSource::unwatch(const Unwatch& ask, State& state) {
  if (!state.has(ask.source)) return Unwatch::NotFound{.source = ask.source, .message = no_source(ask.source)};
  state.objects(ask.source).clear();
  state.fetched(ask.source).clear();
  state.erase(ask.source);
  return Unwatch::Ok{.source = ask.source};
}

// ------------------------------------------------------------------------------------------------------------- look

Look::Begun GitSource::begin_look(const Look& ask, State& state) {
  auto record = state.get(ask.source);
  if (!record) return Look::Result(Look::NotFound{.source = ask.source, .message = no_source(ask.source)});
  if (record->looking) return Look::Result(Look::Busy{.source = ask.source});
  record->looking = state.request();
  state.put(ask.source, *record);
  return lang::Opened{};
}

Look::Outcome GitSource::finish_look(const Look& ask, const Look::Outcome& outcome, State& state) {
  Look::Outcome told = outcome;
  if (const auto* end = get_if<lang::EngineEnd>(&outcome)) {
    told = Look::Failed{.source = ask.source, .message = end->message};
  }
  auto record = state.get(ask.source);
  if (!record) return told;
  record->looking.reset();
  record->lookedAt = state.now();
  if (auto* ok = get_if<Look::Ok>(&told)) {
    ok->commit = record->commit;
    std::vector<GitSourceObject> now;
    for (const auto& each : state.fetched(ask.source)) {
      now.push_back({each.value.kind, each.value.name, each.value.release});
    }
    if (record->prune) note_gone(*ok, state.objects(ask.source).values(), now);
    state.objects(ask.source).assign(now);
    record->applied = record->commit;
    record->status = GitSourceStatus::synced;
    record->message.clear();
  } else if (const auto* refused = get_if<Look::Refused>(&told)) {
    record->status = GitSourceStatus::refused;
    record->message = refused->message;
  } else if (const auto* needed = get_if<Look::ApprovalNeeded>(&told)) {
    record->status = GitSourceStatus::waiting;
    record->message = needed->message;
  } else if (const auto* failed = get_if<Look::Failed>(&told)) {
    record->status = GitSourceStatus::failed;
    record->message = failed->message;
  } else if (get_if<Look::Same>(&told) != nullptr && record->status == GitSourceStatus::failed) {
    // The server was away; what was applied before is what it still says.
    record->status = record->applied == record->commit ? GitSourceStatus::synced : GitSourceStatus::refused;
    if (record->applied == record->commit) record->message.clear();
  }
  state.put(ask.source, *record);
  return told;
}

Leave::Result GitSource::leave(const Leave& ask, State& state) {
  state.edit(ask.source,
             [&](GitSourceRecord& record) { record.message += (record.message.empty() ? "" : "; ") + ask.message; });
  return Leave::Ok{.source = ask.source};
}

// ------------------------------------------------------------------------------------------------------------ fetch

Fetch::Begun GitSource::begin_fetch(const Fetch& ask, State& state) {
  const auto record = state.get(ask.source);
  if (!record) return Fetch::Result(Fetch::Failed{.source = ask.source, .message = no_source(ask.source)});
  return FetchWork{.source = ask.source.text(),
                   .url = record->url,
                   .branch = record->branch,
                   .path = record->path,
                   .seen = record->commit,
                   .again = ask.commit.value_or("")};
}

Fetch::Performed GitSource::perform_fetch(const FetchWork& work, Effect& effect) {
  const GitSourceId source(work.source);
  const auto* sources = effect.tools().find<ReleaseSources>();
  if (sources == nullptr || !sources->read_folder) {
    return Fetch::Failed{.source = source, .message = "there is no Git to read from"};
  }
  auto folder = sources->read_folder(work.url, work.branch, work.path);
  if (!folder) return Fetch::Failed{.source = source, .message = to_string(folder.error())};
  if (folder->commit == work.seen && folder->commit != work.again) {
    return Fetch::Same{.source = source, .commit = folder->commit};
  }
  Fetch::Changed changed{.source = source, .commit = folder->commit, .documents = {}, .objects = {}};
  for (const auto& each : objects_in(*folder)) changed.objects.push_back({each.kind, each.name, each.release});
  for (auto& [path, text] : folder->files) changed.documents.push_back({.file = path, .text = std::move(text)});
  return changed;
}

Fetch::Outcome GitSource::finish_fetch(const Fetch& ask, const Fetch::Outcome& outcome, State& state) {
  if (const auto* end = get_if<lang::EngineEnd>(&outcome)) {
    return Fetch::Failed{.source = ask.source, .message = end->message};
  }
  const auto* changed = get_if<Fetch::Changed>(&outcome);
  auto record = state.get(ask.source);
  if (changed == nullptr || !record) return outcome;
  record->commit = changed->commit;
  record->whole = write(json::object{{"source", ask.source.text()}, {"commit", changed->commit}});
  state.put(ask.source, *record);
  std::vector<GitSourceFetchedItem> now;
  for (const auto& each : changed->objects) now.push_back({each.kind, each.name, each.release});
  state.fetched(ask.source).assign(now);
  return outcome;
}

}  // namespace sluice::deploy::git_source
