// Which revision an up leads to: one that is ready, or one that is still to be staged. It is chosen outside the
// transaction, of committed state: what is done with it is protected by its own state and by guards.
#include <algorithm>

#include "base/json.h"
#include "deploy/concepts/revision/revision_rows.h"
#include "deploy/concepts/revision/revision_work.h"
#include "deploy/pack_config.h"
#include "deploy/views/leading.h"

namespace sluice::deploy::revision {
namespace {

constexpr const char* kPlain = "non_secret";
constexpr const char* kRefs = "runtime_refs";

json::object object_of(const std::string& text) {
  auto document = parse_json(text.empty() ? "{}" : text, "settings");
  return document && document->root.is_object() ? document->root.get_object() : json::object();
}

json::object object_at(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_object() ? value->get_object() : json::object();
}

// What is carried over of one kind of setting, and what is set besides.
json::object merged(json::object before, const json::object& set, const json::object& set_otherwise,
                    const std::vector<std::string>& unset, const bundle::Manifest& manifest) {
  json::object all;
  for (const auto& each : before) {
    const std::string name(each.key());
    const bool asked =
        std::ranges::any_of(manifest.config, [&](const bundle::Question& one) { return one.name.text == name; });
    if (!asked || set_otherwise.contains(name) || std::ranges::find(unset, name) != unset.end()) continue;
    all[name] = each.value();
  }
  for (const auto& each : set) all[each.key()] = each.value();
  return all;
}

}  // namespace

Pick::Begun Revision::begin_pick(const Pick& ask, State&) {
  return PickWork{.deployment = ask.deployment.text(),
                  .environment = ask.environment,
                  .manifest = ask.manifest,
                  .tree = ask.tree,
                  .settings = ask.settings,
                  .runtime_refs = ask.runtimeRefs,
                  .unset = ask.unset,
                  .overrides = ask.overrides,
                  .drain_s = ask.drainSeconds};
}

Pick::Performed Revision::perform_pick(const PickWork& work, Effect& effect) {
  auto manifest = bundle::parse_manifest(work.manifest);
  if (!manifest) return Pick::Invalid{.message = to_string(manifest.error())};
  lang::ReadOnlyRows rows(effect.read().rows_of("Revision"));
  const State state(rows);
  const std::string leading = views::leading_revision(effect.read(), work.deployment);
  auto before = leading.empty() ? std::nullopt : state.get(RevisionId(leading));
  const json::object carried = object_of(before ? before->config : "");
  const json::object plain = object_of(work.settings), refs = object_of(work.runtime_refs);
  const std::string config =
      write(json::object{{kPlain, merged(object_at(carried, kPlain), plain, refs, work.unset, *manifest)},
                         {kRefs, merged(object_at(carried, kRefs), refs, plain, work.unset, *manifest)}});
  auto resolved = resolve_config(*manifest, {work.environment, config, work.overrides});
  if (!resolved) return Pick::Invalid{.message = to_string(resolved.error())};
  const std::string digest = config_digest(*resolved);
  std::optional<RevisionFound> known;
  for (const RevisionFound& each : state.find_by_deployment(work.deployment)) {
    if (each.record.lifecycle != RevisionLifecycle::ready || each.record.treeDigest != work.tree) continue;
    if (each.record.configDigest != digest || (work.drain_s && each.record.drainSeconds != *work.drain_s)) continue;
    if (!known || each.record.sequence > known->record.sequence) known = each;
  }
  if (known) return Pick::Known{.revision = known->id, .sequence = known->record.sequence};
  return Pick::Fresh{.config = config};
}

Pick::Outcome Revision::finish_pick(const Pick&, const Pick::Outcome& outcome, State&) {
  if (ended_of(outcome) != Pick::Ended::engine) return outcome;
  return Pick::Invalid{.message = reason_of(outcome)};
}

}  // namespace sluice::deploy::revision
