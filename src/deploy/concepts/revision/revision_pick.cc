// Which revision an up leads to: one that is ready, or one that is still to be staged. It is chosen outside the
// transaction, of committed state: what is done with it is protected by its own state and by guards.
#include <algorithm>

#include "base/json.h"
#include "deploy/bundle_shelf.h"
#include "deploy/concepts/revision/revision_rows.h"
#include "deploy/concepts/revision/revision_work.h"
#include "deploy/pack_config.h"
#include "deploy/run_settings.h"
#include "deploy/views/bundle_settings.h"
#include "deploy/views/leading.h"

namespace sluice::deploy::revision {

Pick::Begun Revision::begin_pick(const Pick& ask, State&) {
  return PickWork{.deployment = ask.deployment.text(),
                  .environment = ask.environment,
                  .manifest = ask.manifest,
                  .tree = ask.tree,
                  .settings = ask.settings,
                  .runtime_refs = ask.runtimeRefs,
                  .unset = ask.unset,
                  .overrides = ask.overrides,
                  .drain_s = ask.drainSeconds,
                  .running = ask.running};
}

Pick::Performed Revision::perform_pick(const PickWork& work, Effect& effect) {
  auto manifest = bundle::parse_manifest(work.manifest);
  if (!manifest) return Pick::Invalid{.message = to_string(manifest.error())};
  lang::ReadOnlyRows rows(effect.read().rows_of("Revision"));
  const State state(rows);
  const std::string leading = views::leading_revision(effect.read(), work.deployment);
  auto before = leading.empty() ? std::nullopt : state.get(RevisionId(leading));
  auto text_or_none = [](const std::string& text) { return text.empty() ? std::string("{}") : text; };
  const std::string asked = R"({"non_secret":)" + text_or_none(work.settings) + R"(,"runtime_refs":)" +
                            text_or_none(work.runtime_refs) +
                            (work.running ? R"(,"running":)" + text_or_none(*work.running) : "") + "}";
  if (auto sound = check_unset(*manifest, before ? before->config : "", work.unset); !sound) {
    return Pick::Invalid{.message = to_string(sound.error())};
  }
  const std::string config = carried_config(*manifest, before ? before->config : "", asked, work.unset);
  auto resolved =
      resolve_config(*manifest, {work.environment, config, work.overrides,
                                 views::environment_answers(effect.read(), work.environment, manifest->name.text)});
  if (!resolved) return Pick::Invalid{.message = to_string(resolved.error())};
  const std::string digest = config_digest(*resolved);
  const auto replicas = work.running ? run_settings_of(config).replicas : std::nullopt;
  std::optional<RevisionFound> known;
  for (const RevisionFound& each : state.find_by_deployment(work.deployment)) {
    if (each.record.lifecycle != RevisionLifecycle::ready || each.record.treeDigest != work.tree) continue;
    if (each.record.configDigest != digest || (work.drain_s && each.record.drainSeconds != *work.drain_s)) continue;
    // Somebody has scaled it since.
    if (replicas && views::replicas_of_revision(effect.read(), each.id.text()) != int64_t{*replicas}) continue;
    if (!known || each.record.sequence > known->record.sequence) known = each;
  }
  if (known) return Pick::Known{.revision = known->id, .sequence = known->record.sequence};
  return Pick::Fresh{.config = config};
}

// --------------------------------------------------------------------------------------- the same bundle, set up anew

Refresh::Begun Revision::begin_refresh(const Refresh&, State&) { return lang::Opened{}; }

Refresh::Outcome Revision::finish_refresh(const Refresh& ask, const Refresh::Outcome& outcome, State&) {
  Refresh::Outcome told = outcome;
  if (auto* ok = get_if<Refresh::Ok>(&told)) ok->deployment = ask.deployment;
  if (auto* same = get_if<Refresh::Unchanged>(&told)) same->deployment = ask.deployment;
  if (auto* bad = get_if<Refresh::Failed>(&told)) bad->deployment = ask.deployment;
  if (auto* none = get_if<Refresh::NotFound>(&told)) none->deployment = ask.deployment;
  if (ended_of(outcome) != Refresh::Ended::engine) return told;
  return Refresh::Failed{.deployment = ask.deployment, .message = reason_of(outcome)};
}

Compare::Begun Revision::begin_compare(const Compare& ask, State&) {
  return CompareWork{.deployment = ask.deployment.text()};
}

Compare::Performed Revision::perform_compare(const CompareWork& work, Effect& effect) {
  const auto held = views::settings_of(effect.read(), work.deployment);
  if (!held) return Compare::Nothing{.message = "nothing of " + work.deployment + " was ever staged"};
  const RevisionId base(held->revision);
  if (!held->problem.empty()) return Compare::Unfit{.message = held->problem};
  if (held->wanted == held->revision) return Compare::Same{.revision = base, .sequence = held->sequence};
  if (!held->wanted.empty()) {
    return Compare::Known{.revision = RevisionId(held->wanted), .sequence = held->wanted_sequence};
  }
  lang::ReadOnlyRows rows(effect.read().rows_of("Revision"));
  auto record = State(rows).get(base);
  if (!record) return Compare::Nothing{.message = "the revision " + held->revision + " is gone"};
  // What was put into the home is there with its signatures as long as a revision of it is kept; else the revision's
  // own copy is.
  const bool put = is_blob_digest(record->source.substr(0, record->source.find(',')));
  return Compare::Fresh{.environment = record->environment,
                        .bundle = record->bundle,
                        .source = put ? record->source : record->bundleDigest,
                        .config = record->config,
                        .drainSeconds = record->drainSeconds};
}

Compare::Outcome Revision::finish_compare(const Compare&, const Compare::Outcome& outcome, State&) {
  if (ended_of(outcome) != Compare::Ended::engine) return outcome;
  return Compare::Unfit{.message = reason_of(outcome)};
}

Pick::Outcome Revision::finish_pick(const Pick&, const Pick::Outcome& outcome, State&) {
  if (ended_of(outcome) != Pick::Ended::engine) return outcome;
  return Pick::Invalid{.message = reason_of(outcome)};
}

}  // namespace sluice::deploy::revision
