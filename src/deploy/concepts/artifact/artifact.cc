// Artifact keeps what was built by the hash of its inputs. Only perform touches the disk; builds and a collection keep
// out of each other's way by what their begins have written: a collection does not begin while a build is open, and a
// build that began after it waits until it is done.
#include <algorithm>

#include "deploy/concepts/artifact/artifact_builder.h"
#include "deploy/concepts/artifact/artifact_work.h"
#include "deploy/views/states.h"
#include "lang/run/view.h"

namespace sluice::deploy::artifact {
namespace {

std::optional<BuildCommand> command_of(const std::optional<ArtifactCommand>& command) {
  if (!command) return std::nullopt;
  return BuildCommand{.argv = command->argv, .tools = command->tools, .output = command->output};
}

std::vector<ArtifactInput> inputs_of(const Workplace& workplace) {
  std::vector<ArtifactInput> inputs;
  for (const HashedInput& each : workplace.inputs) inputs.push_back({.name = each.name, .hash = each.hash});
  return inputs;
}

// Of all concepts that have built it.
std::set<std::string> names_of(const State& state, const ArtifactFound& found) {
  std::set<std::string> names = {found.record.conceptName};
  for (const std::string& each : state.other_names(found.id).values()) names.insert(each);
  return names;
}

// What a collection would remove.
std::vector<ArtifactFound> collectable(const State& state, const Gc& ask) {
  std::vector<ArtifactFound> all;
  for (const ArtifactFound& each : state.all()) all.push_back(each);
  std::map<std::string, std::vector<const ArtifactFound*>> by_name;
  for (const ArtifactFound& each : all) {
    for (const std::string& name : names_of(state, each)) by_name[name].push_back(&each);
  }
  std::set<const ArtifactFound*> newest;
  for (auto& [name, found] : by_name) {
    std::ranges::sort(found, std::greater(), [](const ArtifactFound* a) { return std::pair(a->record.usedAt, a->id); });
    found.resize(std::min(found.size(), static_cast<size_t>(ask.keepVersions)));
    newest.insert(found.begin(), found.end());
  }
  std::vector<ArtifactFound> goes;
  for (const ArtifactFound& each : all) {
    const bool is_old = each.record.usedAt < ask.olderThan && !newest.contains(&each);
    if (is_old && state.references(each.id).empty()) goes.push_back(each);
  }
  return goes;
}

struct CollectableQuery {
  lang::DateTime olderThan;
  int64_t keepVersions = 0;
};
BOOST_DESCRIBE_STRUCT(CollectableQuery, (), (olderThan, keepVersions))

struct CollectableArtifact {
  std::string artifact;
  std::string hash;
  std::vector<std::string> names;
  lang::DateTime usedAt;
  int64_t sizeBytes = 0;
};
BOOST_DESCRIBE_STRUCT(CollectableArtifact, (), (artifact, hash, names, usedAt, sizeBytes))

Result<std::vector<CollectableArtifact>> read_collectable(const lang::Reading& reading, const CollectableQuery& query) {
  const views::States states(reading.rows);
  const auto state = states.artifact();
  std::vector<CollectableArtifact> all;
  for (const ArtifactFound& each :
       collectable(state, {.olderThan = query.olderThan, .keepVersions = std::max<int64_t>(query.keepVersions, 0)})) {
    const std::set<std::string> names = names_of(state, each);
    all.push_back({.artifact = each.id.text(),
                   .hash = each.record.hash,
                   .names = {names.begin(), names.end()},
                   .usedAt = each.record.usedAt,
                   .sizeBytes = each.record.sizeBytes});
  }
  return all;
}

}  // namespace

Build::Begun Artifact::begin_build(const Build& ask, State& state) {
  ArtifactWhole whole = state.whole();
  whole.openBuilds++;
  state.put_whole(whole);
  return BuildWork{.concept_ = ask.concept_,
                   .spec = ask.spec,
                   .implementation = ask.implementation,
                   .deps = ask.deps,
                   .command = ask.command};
}

Build::Performed Artifact::perform_build(const BuildWork& work, Effect& effect) {
  lang::ReadOnlyRows rows(effect.read().rows_of("Artifact"));
  const State committed(rows);
  if (committed.whole().collecting) return lang::Again{.reason = "old artifacts are being removed"};
  auto fails = [&](const std::string& reason, std::vector<std::string> lines) {
    if (lines.empty()) lines = {reason};
    return Build::CompilationError{.concept_ = work.concept_, .reason = reason, .errors = std::move(lines)};
  };
  auto& builder = effect.tool<ArtifactBuilder>();
  auto command = command_of(work.command);
  auto workplace = builder.prepare(
      effect.id(), {.spec = work.spec, .implementation = work.implementation, .deps = work.deps}, command);
  if (!workplace && workplace.error().code == Code::failed) return lang::Again{.reason = workplace.error().message};
  if (!workplace) return fails(workplace.error().message, {});
  for (const ArtifactFound& found : committed.find_by_hash(workplace->hash)) {
    auto there = builder.has(found.record.blob);
    if (!there || !*there) continue;  // somebody removed or damaged the file: it is built again
    return Build::Ok{.hash = workplace->hash,
                     .sizeBytes = found.record.sizeBytes,
                     .built = false,
                     .blob = found.record.blob,
                     .inputs = inputs_of(*workplace)};
  }
  auto built = builder.build(*workplace, command, [&] { return effect.cancelled(); });
  if (!built) return lang::Again{.reason = built.error().message};
  if (auto* failure = std::get_if<BuildFailure>(&*built)) return fails(failure->reason, std::move(failure->lines));
  const auto& blob = std::get<BuiltBlob>(*built);
  return Build::Ok{.hash = workplace->hash,
                   .sizeBytes = blob.size_bytes,
                   .built = !blob.shared,
                   .blob = blob.digest,
                   .inputs = inputs_of(*workplace)};
}

Build::Outcome Artifact::finish_build(const Build& ask, const Build::Outcome& outcome, State& state) {
  ArtifactWhole whole = state.whole();
  whole.openBuilds--;
  state.put_whole(whole);
  if (ended_of(outcome) != Build::Ended::ok) return outcome;
  Build::Ok ok = get<Build::Ok>(outcome);
  auto found = state.find_by_hash(ok.hash);
  if (!found.empty()) {
    ok.artifact = found.front().id;
    if (found.front().record.conceptName != ask.concept_) state.other_names(ok.artifact).insert(ask.concept_);
    state.edit(ok.artifact, [&](ArtifactRecord& record) {
      record.usedAt = state.now();
      record.blob = ok.blob;
      record.location = location_of(ok.blob);
      record.sizeBytes = ok.sizeBytes;
    });
    return ok;
  }
  ok.artifact = state.add({.hash = ok.hash,
                           .conceptName = ask.concept_,
                           .builtAt = state.now(),
                           .usedAt = state.now(),
                           .blob = ok.blob,
                           .location = location_of(ok.blob),
                           .sizeBytes = ok.sizeBytes});
  state.inputs(ok.artifact).assign(ok.inputs);
  return ok;
}

Resolve::Result Artifact::resolve(const Resolve& ask, const State& state) {
  auto found = state.find_by_hash(ask.hash);
  if (found.empty()) return Resolve::Notfound{.hash = ask.hash};
  return Resolve::Ok{.artifact = found.front().id, .location = found.front().record.location};
}

Hold::Result Artifact::hold(const Hold& ask, State& state) {
  auto found = state.find_by_hash(ask.hash);
  if (found.empty()) return Hold::Notfound{.hash = ask.hash};
  state.references(found.front().id).insert(ask.by);
  return Hold::Ok{.artifact = found.front().id, .hash = ask.hash, .by = ask.by};
}

Release::Result Artifact::release(const Release& ask, State& state) {
  for (const ArtifactFound& found : state.find_by_hash(ask.hash)) state.references(found.id).erase(ask.by);
  return Release::Ok{.hash = ask.hash, .by = ask.by};
}

Gc::Begun Artifact::begin_gc(const Gc& ask, State& state) {
  if (ask.keepVersions < 0) return Gc::Result(Gc::Invalid{.message = "the number of versions to keep is 0 or more"});
  ArtifactWhole whole = state.whole();
  if (whole.openBuilds > 0 || whole.collecting) return Gc::Result(Gc::Busy{.builds = whole.openBuilds});
  GcWork work;
  std::map<std::string, int64_t> blobs;  // of what goes, with their sizes
  for (const ArtifactFound& each : collectable(state, ask)) {
    state.inputs(each.id).clear();
    state.other_names(each.id).clear();
    state.erase(each.id);
    blobs[each.record.blob] = each.record.sizeBytes;
    work.removed++;
  }
  for (const auto& [blob, size_bytes] : blobs) {
    if (state.find_by_blob(blob).empty()) work.freedBytes += size_bytes;
  }
  whole.collecting = true;
  state.put_whole(whole);
  return work;
}

Gc::Performed Artifact::perform_gc(const GcWork& work, Effect& effect) {
  lang::ReadOnlyRows rows(effect.read().rows_of("Artifact"));
  const State committed(rows);
  std::set<std::string> kept;
  for (const ArtifactFound& each : committed.all()) kept.insert(each.record.blob);
  if (auto swept = effect.tool<ArtifactBuilder>().keep_only(kept); !swept) {
    return lang::Again{.reason = swept.error().message};
  }
  return Gc::Ok{.removed = work.removed, .freedBytes = work.freedBytes};
}

Gc::Outcome Artifact::finish_gc(const Gc&, const Gc::Outcome& outcome, State& state) {
  ArtifactWhole whole = state.whole();
  whole.collecting = false;
  state.put_whole(whole);
  return outcome;
}

List::Result Artifact::list(const List&, const State& state) {
  List::Ok listed;
  for (const ArtifactFound& each : state.all()) {
    const std::set<std::string> names = names_of(state, each);
    listed.artifacts.push_back({.artifact = each.id,
                                .hash = each.record.hash,
                                .conceptName = each.record.conceptName,
                                .names = {names.begin(), names.end()},
                                .builtAt = each.record.builtAt,
                                .usedAt = each.record.usedAt,
                                .sizeBytes = each.record.sizeBytes,
                                .location = each.record.location,
                                .heldBy = state.references(each.id).values()});
  }
  return listed;
}

std::vector<lang::View> artifact_views() {
  return {lang::make_view("collectable-artifacts", "What a collection of artifacts would remove", read_collectable)};
}

}  // namespace sluice::deploy::artifact
