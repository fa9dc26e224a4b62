// What is done with a revision's archive: it is taken into the home, looked at again before anything is started of it,
// and given back once the revision is archived. All three are effects on the shelf of bundles.
#include <algorithm>
#include <chrono>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "bundle/manifest/paused_page.h"
#include "deploy/bundle_shelf.h"
#include "deploy/concepts/revision/revision_rows.h"
#include "deploy/concepts/revision/revision_work.h"
#include "deploy/local_means.h"
#include "deploy/pack_config.h"
#include "deploy/run_settings.h"
#include "deploy/views/bundle_settings.h"
#include "deploy/views/leading.h"
#include "deploy/views/storage_name.h"
#include "deploy/views/wished_for.h"
#include "deploy/views/workload_address.h"

namespace sluice::deploy::revision {
namespace {

constexpr std::chrono::hours kUploadStays(7 * 24);

// Why a bundle must not be used; empty if nothing is known against it. A list that cannot be read is against all.
std::string revocation(Disk& disk, const std::string& list, const std::string& archive, const std::string& tree) {
  auto reason = revoked_by(disk, list, archive, tree);
  if (!reason) return "the revocation list cannot be read: " + reason.error().message;
  return *reason ? "the bundle is revoked: " + **reason : "";
}

int64_t seconds_of(const bundle::Duration& duration) {
  return std::chrono::duration_cast<std::chrono::seconds>(duration.length).count();
}

// What the router is told of a revision besides where it runs.
RevisionServing serving_of(const bundle::Manifest& manifest) {
  RevisionServing serving{
      .stickiness = {.mode = std::string(boost::describe::enum_to_string(manifest.stickiness.mode, "")),
                     .ttlSeconds = seconds_of(manifest.stickiness.ttl)},
      .timeouts = {.connectMs = manifest.timeouts.connect.length.count(),
                   .firstByteMs = manifest.timeouts.first_byte.length.count(),
                   .idleMs = manifest.timeouts.idle.length.count(),
                   .streamIdleMs = manifest.timeouts.stream_idle.length.count()},
      .retryAfterSeconds = seconds_of(manifest.paused.retry_after)};
  if (const auto& key = manifest.stickiness.key) {
    if (key->header) serving.stickiness.keyHeader = key->header->text;
    if (key->cookie) serving.stickiness.keyCookie = key->cookie->text;
  }
  if (manifest.transport != bundle::Transport::http) {
    serving.transport = std::string(boost::describe::enum_to_string(manifest.transport, ""));
  }
  for (const bundle::Route& each : manifest.routes) {
    if (!each.strip) continue;
    if (!serving.stripPrefixes) serving.stripPrefixes.emplace();
    // As deployments know it.
    const std::string& path = each.path.text;
    serving.stripPrefixes->push_back(path.ends_with('/') ? path.substr(0, path.size() - 1) : path);
  }
  return serving;
}

// Bytes that somebody put into the home, or that the last revision of which was archived, a week ago or earlier.
Result<void> drop_unwanted(BundleShelf& shelf, const State& state, Effect& effect) {
  auto old = shelf.old_uploads(kUploadStays);
  if (!old) return old.error();
  if (old->empty()) return {};
  std::vector<RevisionFound> revisions;
  for (const RevisionFound& each : state.all()) revisions.push_back(each);
  for (const std::string& digest : *old) {
    const bool kept = std::ranges::any_of(revisions, [&](const RevisionFound& each) {
      return each.record.lifecycle != RevisionLifecycle::archived &&
             each.record.source.find(digest) != std::string::npos;
    });
    if (kept || views::is_wished_for(effect.read(), digest)) continue;
    if (auto removed = shelf.drop(digest); !removed) return removed;
  }
  return {};
}

// What the revision with most traffic was asked for with; empty if there is none.
std::string config_that_leads(Effect& effect, const std::string& deployment) {
  lang::ReadOnlyRows rows(effect.read().rows_of("Revision"));
  const std::string leading = views::leading_revision(effect.read(), deployment);
  auto record = leading.empty() ? std::nullopt : State(rows).get(RevisionId(leading));
  return record ? record->config : "";
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------- fetch

Fetch::Begun Revision::begin_fetch(const Fetch& ask, State& state) {
  auto record = state.get(ask.revision);
  if (!record) {
    return Fetch::Result(Fetch::BadBundle{
        .revision = ask.revision, .check = "bundle", .message = "there is no revision " + ask.revision.text()});
  }
  if (!record->artifact.empty()) {
    return Fetch::Result(
        Fetch::BadBundle{.revision = ask.revision, .check = "bundle", .message = "its archive was taken in before"});
  }
  return FetchWork{.revision = ask.revision.text(),
                   .deployment = record->deployment,
                   .environment = ask.environment,
                   .source = ask.source,
                   .bundle = ask.bundle,
                   .config = ask.config,
                   .overrides = ask.overrides,
                   .revocation_list = ask.revocationList,
                   .unset = ask.unset};
}

Fetch::Performed Revision::perform_fetch(const FetchWork& work, Effect& effect) {
  const RevisionId id(work.revision);
  auto bad = [&](const std::string& check, const std::string& message) {
    return Fetch::BadBundle{.revision = id, .check = check, .message = message};
  };
  auto shelved = effect.tool<BundleShelf>().take(work.source, work.revision);
  if (!shelved) return bad("bundle", to_string(shelved.error()));
  const bundle::Manifest& manifest = shelved->manifest;
  if (manifest.name.text != work.bundle) {
    return bad("bundle", work.source + " is the bundle " + manifest.name.text + ", not " + work.bundle);
  }
  std::optional<std::string> carried;
  if (work.unset) {
    const std::string before = config_that_leads(effect, work.deployment);
    if (auto sound = check_unset(manifest, before, *work.unset); !sound) {
      return bad("runtime-config", to_string(sound.error()));
    }
    carried = carried_config(manifest, before, work.config, *work.unset);
  }
  auto config =
      resolve_config(manifest, {work.environment, carried.value_or(work.config), work.overrides,
                                views::environment_answers(effect.read(), work.environment, manifest.name.text)});
  if (!config) return bad("runtime-config", to_string(config.error()));
  if (!work.revocation_list.empty()) {
    auto revoked = revocation(effect.tool<Disk>(), work.revocation_list, shelved->archive, shelved->tree);
    if (!revoked.empty()) return Fetch::Revoked{.revision = id, .message = revoked};
  }
  // Who it is, for what it logs and measures.
  const RunSettings running = read_run_settings(config->running).value();
  json::object runtime{{"replicas", running.replicas.value_or(manifest.replicas)},
                       {"config", program_config(*config)},
                       {"variables", json::object{{"SLUICE_REVISION", work.revision},
                                                  {"SLUICE_VERSION", manifest.version.text},
                                                  {"SLUICE_DEPLOYMENT", work.deployment},
                                                  {"SLUICE_ENVIRONMENT", work.environment}}}};
  if (running.health) runtime["health"] = *running.health;
  const auto* means = effect.tools().find<LocalMeans>();
  if (auto range =
          means != nullptr && means->port_range ? means->port_range(effect.read(), work.environment) : std::nullopt) {
    runtime["variables"].as_object()["SLUICE_PORT_RANGE"] =
        std::to_string(range->first) + "-" + std::to_string(range->last);
  }
  if (const std::string address = views::workload_address(effect.read(), work.environment); !address.empty()) {
    runtime["variables"].as_object()[views::kWorkloadAddressVariable] = address;
  }
  // What is stored outlives a revision: those of one deployment share it.
  if (!manifest.storage.empty()) runtime["storage"] = views::storage_name(effect.read(), work.deployment);
  Fetch::Ok ok{.revision = id,
               .tree = shelved->tree,
               .archive = shelved->archive,
               .sidecar = shelved->sidecar,
               .version = manifest.version.text,
               .artifact = shelved->path,
               .packConfig = write(pack_config_document(*config, manifest.name.text, work.revision)),
               .configDigest = config_digest(*config),
               .runtimeConfig = write(runtime),
               .drainSeconds = seconds_of(manifest.drain),
               .serving = serving_of(manifest),
               .asks = write_asks(asks_of(manifest)),
               .config = carried};
  const std::string reload(boost::describe::enum_to_string(manifest.reload, ""));
  ok.readsFound.emplace();
  if (shelved->paused_page) {
    const std::string type(bundle::page_type(manifest.paused.page->text));
    ok.pausedPages.push_back({.type = type, .text = *shelved->paused_page});
  }
  for (const auto& each : config->runtime_refs) {
    ok.needs.runtimeRefs.push_back(each.second);
    ok.readsFound->push_back({.reference = each.second, .reload = reload});
  }
  for (const auto& each : config->secret_refs) ok.needs.secretRefs.push_back(each.second);
  if (manifest.pin_secrets) ok.needs.pinSecrets = true;
  if (manifest.image && !bundle::is_layout(*manifest.image)) ok.needs.image = *manifest.image;
  if (manifest.migrations) {
    ok.needs.migrations = json::serialize(to_json(migrations_over(*manifest.migrations, running.migrations)));
  }
  for (const bundle::Storage& each : manifest.storage) {
    ok.needs.storage.push_back(each.name.text);
    ok.needs.storageBytes += static_cast<int64_t>(each.size.bytes);
  }
  return ok;
}

Fetch::Outcome Revision::finish_fetch(const Fetch& ask, const Fetch::Outcome& outcome, State& state) {
  const auto* ok = get_if<Fetch::Ok>(&outcome);
  auto record = state.get(ask.revision);
  if (ok != nullptr && record) {
    record->treeDigest = ok->tree;
    record->bundleDigest = ok->archive;
    record->sidecar = ok->sidecar;
    record->version = ok->version;
    record->artifact = ok->artifact;
    record->packConfig = ok->packConfig;
    record->configDigest = ok->configDigest;
    if (ok->config) record->config = *ok->config;
    record->needs = ok->needs;
    record->runtimeConfig = ok->runtimeConfig;
    if (record->drainSeconds < 0) record->drainSeconds = ok->drainSeconds;
    record->serving = ok->serving;
    record->asks = ok->asks;
    state.paused_pages(ask.revision).assign(ok->pausedPages);
    if (ok->readsFound) state.reads_found(ask.revision).assign(*ok->readsFound);
    keep(state, ask.revision, *record);
  }
  if (ended_of(outcome) != Fetch::Ended::engine) return outcome;
  return Fetch::BadBundle{.revision = ask.revision, .check = std::string(kEngineCheck), .message = reason_of(outcome)};
}

// -------------------------------------------------------------------------------------------------------- examine

Examine::Begun Revision::begin_examine(const Examine& ask, State& state) {
  auto record = state.get(ask.revision);
  if (!record) {
    return Examine::Result(Examine::Unfit{.revision = ask.revision,
                                          .check = std::string(kSignatureCheck),
                                          .message = "there is no revision " + ask.revision.text()});
  }
  return ExamineWork{.revision = ask.revision.text(),
                     .artifact = record->artifact,
                     .archive = record->bundleDigest,
                     .tree = record->treeDigest,
                     .needs = record->needs,
                     .revocation_list = ask.revocationList};
}

Examine::Performed Revision::perform_examine(const ExamineWork& work, Effect& effect) {
  const RevisionId id(work.revision);
  auto unfit = [&](std::string_view check, const std::string& message) {
    return Examine::Unfit{.revision = id, .check = std::string(check), .message = message};
  };
  auto& shelf = effect.tool<BundleShelf>();
  if (auto same = shelf.check(work.artifact, work.archive); !same) {
    return unfit(kSignatureCheck, to_string(same.error()));
  }
  if (!work.revocation_list.empty()) {
    auto revoked = revocation(effect.tool<Disk>(), work.revocation_list, work.archive, work.tree);
    if (!revoked.empty()) return unfit(kSignatureCheck, revoked);
  }
  if (work.needs.storageBytes > 0) {
    auto free = shelf.free_bytes();
    if (!free) return unfit("provider-health", free.error().message);
    if (static_cast<uint64_t>(work.needs.storageBytes) > *free) {
      std::string all;
      for (const std::string& each : work.needs.storage) all += (all.empty() ? "" : ", ") + each;
      return unfit("provider-health", "it stores " + all + " in " + std::to_string(work.needs.storageBytes) +
                                          " bytes, and the disk has " + std::to_string(*free) + " left");
    }
  }
  return Examine::Ok{.revision = id};
}

Examine::Outcome Revision::finish_examine(const Examine& ask, const Examine::Outcome& outcome, State&) {
  if (ended_of(outcome) != Examine::Ended::engine) return outcome;
  return Examine::Unfit{.revision = ask.revision, .check = std::string(kEngineCheck), .message = reason_of(outcome)};
}

// ----------------------------------------------------------------------------------------------------------- free

Free::Begun Revision::begin_free(const Free&, State& state) { return FreeWork{.asked_at = utc_text(state.now().ms)}; }

// What the shelf has is listed before the rows are read: a revision is in the store before its folder is made, so a
// folder without a row is of one that is gone.
Free::Performed Revision::perform_free(const FreeWork&, Effect& effect) {
  auto& shelf = effect.tool<BundleShelf>();
  auto shelved = shelf.revisions();
  if (!shelved) return Free::Stuck{.message = to_string(shelved.error())};
  lang::ReadOnlyRows rows(effect.read().rows_of("Revision"));
  const State state(rows);
  Free::Ok ok;
  for (const RevisionFound& each : state.find_by_discarded(true)) {
    // What was exported before can be applied again for a while.
    if (auto removed = shelf.give_back(each.id.text()); !removed) {
      return Free::Stuck{.message = to_string(removed.error())};
    }
    ok.freed.push_back(each.id);
    shelf.renew(each.record.source);
  }
  for (const std::string& each : *shelved) {
    if (state.has(RevisionId(each))) continue;
    if (auto removed = shelf.give_back(each); !removed) return Free::Stuck{.message = to_string(removed.error())};
  }
  if (auto dropped = drop_unwanted(shelf, state, effect); !dropped) {
    return Free::Stuck{.message = to_string(dropped.error())};
  }
  return ok;
}

Free::Outcome Revision::finish_free(const Free&, const Free::Outcome& outcome, State& state) {
  if (const auto* ok = get_if<Free::Ok>(&outcome)) {
    for (const RevisionId& id : ok->freed) {
      auto record = state.get(id);
      if (!record || record->lifecycle != RevisionLifecycle::archived) continue;
      record->discarded = false;
      record->artifact.clear();
      state.paused_pages(id).clear();
      keep(state, id, *record);
    }
  }
  if (ended_of(outcome) != Free::Ended::engine) return outcome;
  return Free::Stuck{.message = reason_of(outcome)};
}

}  // namespace sluice::deploy::revision
