// What is kept on the disk follows the rows: a pack is unpacked before its row is there, and its row is gone before its
// folder is.
#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_writer.h"
#include "deploy/concepts/env_pack/env_pack_work.h"
#include "deploy/pack_keeper.h"

namespace sluice::deploy::env_pack {

Install::Begun EnvPack::begin_install(const Install& ask, State&) { return InstallWork{.source = ask.source}; }

Install::Performed EnvPack::perform_install(const InstallWork& work, Effect& effect) {
  auto kept = effect.tool<PackKeeper>().keep(work.source);
  if (!kept && kept.error().code == Code::not_found) return Install::NotFound{.message = to_string(kept.error())};
  if (!kept && kept.error().code == Code::conflict) {
    return Install::Exists{.pack = EnvPackId(kept.error().path), .message = to_string(kept.error())};
  }
  if (!kept) return Install::Invalid{.message = to_string(kept.error())};
  const sluice::pack::PackManifest& manifest = kept->pack.manifest;
  json::value capabilities =
      kept->pack.credentials ? to_json(kept->pack.credentials->requirements) : json::value(json::array());
  return Install::Ok{.pack = EnvPackId(to_string(manifest.kind)),
                     .slot = manifest.slot,
                     .digest = kept->pack.digest,
                     .summary = manifest.summary,
                     .scope = "packs/" + manifest.kind.path,
                     .sidecar = kept->sidecar,
                     .questions = write(to_json(manifest.questions)),
                     .tools = write(to_json(manifest.tools)),
                     .capabilities = write(capabilities)};
}

Install::Outcome EnvPack::finish_install(const Install&, const Install::Outcome& outcome, State& state) {
  const auto* ok = get_if<Install::Ok>(&outcome);
  if (ok == nullptr) return outcome;
  auto before = state.get(ok->pack);
  if (before && before->digest != ok->digest) {
    return Install::Exists{
        .pack = ok->pack, .digest = before->digest, .message = ok->pack.text() + " is installed with other contents"};
  }
  state.put(ok->pack, {.slot = ok->slot,
                       .digest = ok->digest,
                       .summary = ok->summary,
                       .scope = ok->scope,
                       .sidecar = ok->sidecar,
                       .questions = ok->questions,
                       .tools = ok->tools,
                       .capabilities = ok->capabilities,
                       .installedAt = before ? before->installedAt : state.now()});
  state.admitted(ok->pack).insert("local");
  return outcome;
}

Uninstall::Begun EnvPack::begin_uninstall(const Uninstall& ask, State& state) {
  auto record = state.get(ask.pack);
  if (!record) return Uninstall::NotFound{.pack = ask.pack, .message = "there is no pack " + ask.pack.text()};
  state.admitted(ask.pack).clear();
  state.erase(ask.pack);
  return UninstallWork{.pack = ask.pack.text(), .digest = record->digest};
}

Uninstall::Performed EnvPack::perform_uninstall(const UninstallWork& work, Effect& effect) {
  auto removed = effect.tool<PackKeeper>().drop(work.digest);
  if (!removed) return Uninstall::Failed{.pack = EnvPackId(work.pack), .message = to_string(removed.error())};
  return Uninstall::Ok{.pack = EnvPackId(work.pack), .digest = work.digest};
}

Uninstall::Outcome EnvPack::finish_uninstall(const Uninstall&, const Uninstall::Outcome& outcome, State&) {
  return outcome;
}

Admit::Begun EnvPack::begin_admit(const Admit& ask, State& state) {
  if (!state.has(ask.pack)) {
    return Admit::NotFound{.pack = ask.pack, .message = "the pack " + ask.pack.text() + " is not installed"};
  }
  if (state.admitted(ask.pack).contains(ask.environment))
    return Admit::Ok{.pack = ask.pack, .environment = ask.environment};
  return lang::Opened{};
}

Admit::Outcome EnvPack::finish_admit(const Admit& ask, const Admit::Outcome& outcome, State& state) {
  if (get_if<Admit::Ok>(&outcome) != nullptr) {
    if (!state.has(ask.pack)) {
      return Admit::NotFound{.pack = ask.pack,
                             .message = "the pack " + ask.pack.text() + " was removed in the meantime"};
    }
    state.admitted(ask.pack).insert(ask.environment);
    return Admit::Ok{.pack = ask.pack, .environment = ask.environment};
  }
  if (const auto* refused = get_if<Admit::Untrusted>(&outcome)) {
    return Admit::Untrusted{.pack = ask.pack, .environment = ask.environment, .message = refused->message};
  }
  return outcome;
}

List::Result EnvPack::list(const List&, const State& state) {
  List::Ok ok;
  for (const auto& [id, record] : state.all()) {
    EnvPackPack pack{.pack = id,
                     .slot = record.slot,
                     .digest = record.digest,
                     .summary = record.summary,
                     .installedAt = record.installedAt,
                     .signed_ = record.sidecar.has_value()};
    for (const auto& each : state.admitted(id).values()) pack.admitted.push_back(each);
    ok.packs.push_back(std::move(pack));
  }
  return ok;
}

Describe::Result EnvPack::describe(const Describe& ask, const State& state) {
  auto record = state.get(ask.pack);
  if (!record) {
    return Describe::NotFound{.pack = ask.pack, .message = "the pack " + ask.pack.text() + " is not installed"};
  }
  return Describe::Ok{.pack = ask.pack,
                      .slot = record->slot,
                      .questions = record->questions,
                      .tools = record->tools,
                      .capabilities = record->capabilities};
}

}  // namespace sluice::deploy::env_pack
