// Files are read whole before anything is kept. What is not Definition's own goes on to its owner by releases.sync.
#include <algorithm>

#include "base/json_writer.h"
#include "base/yaml.h"
#include "crypto/sha256.h"
#include "deploy/concepts/definition/definition_work.h"
#include "deploy/promotion/promotion.h"
#include "render/promote/kinds.h"

namespace sluice::deploy::definition {
namespace {

constexpr size_t kMostFaults = 20;

DefinitionId definition_id(const std::string& kind, const std::string& name) { return DefinitionId(kind + "/" + name); }

template <class All>
void gather(const std::string& kind, const All& all, std::vector<DefinitionItem>& items) {
  for (const auto& [name, each] : all) items.push_back({kind, name, views::kept_text(each.document)});
}

// Sorted by owner; the definitions among them become `items`.
Read::Ok gathered(const DefinitionAId& apply, const promote::Objects& objects) {
  Read::Ok ok{.apply = apply};
  gather("ComponentTypeDefinition", objects.kinds.types, ok.items);
  gather("Addon", objects.kinds.addons, ok.items);
  gather("Component", objects.kinds.components, ok.items);
  gather("Workload", objects.kinds.workloads, ok.items);
  for (const auto& [name, each] : objects.pipelines) {
    ok.pipelines.push_back({.name = name, .document = views::kept_text(each.document)});
  }
  for (const auto& [name, each] : objects.kinds.settings) {
    ok.settings.push_back({.component = each.value.spec.owner.componentName,
                           .environment = each.value.spec.environment,
                           .document = views::kept_text(each.document)});
  }
  for (const auto& [name, each] : objects.releases) {
    ok.releases.push_back({.name = name, .document = views::kept_text(each.document)});
  }
  for (const auto& [name, each] : objects.pins) {
    const auto& spec = each.value.spec;
    ok.pins.push_back({.component = spec.component,
                       .environment = spec.environment,
                       .release = spec.releaseName,
                       .state = spec.state == promote::PinState::Active ? "Active" : "Undeploy",
                       .drift = spec.drift == promote::PinDrift::correct ? "correct" : "report"});
  }
  return ok;
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------ apply

Apply::Begun Definition::begin_apply(const Apply& ask, State& state) {
  if (ask.documents.empty()) return Apply::Result(Apply::Invalid{.message = "there is nothing to apply"});
  // What is run once people have agreed to the pins in it.
  const bool whole = !ask.part.value_or(false) && !ask.planOnly.value_or(false);
  state.add(DefinitionARecord{
      .ask = state.request(),
      .by = ask.caller.value_or(""),
      .plan = ask.planOnly.value_or(false),
      .whole = whole ? std::optional(write(json::object{{"documents", to_json(ask.documents)}})) : std::nullopt});
  return lang::Opened{};
}

Apply::Outcome Definition::finish_apply(const Apply&, const Apply::Outcome& outcome, State& state) {
  std::vector<DefinitionChange> changes;
  for (const auto& each : state.find_by_ask(state.request())) {
    changes = state.changes(each.id).values();
    state.items(each.id).clear();
    state.before(each.id).clear();
    state.changes(each.id).clear();
    state.erase(each.id);
  }
  Apply::Outcome told = outcome;
  if (auto* ok = get_if<Apply::Ok>(&told)) ok->changes = changes;
  if (const auto* end = get_if<lang::EngineEnd>(&outcome)) return Apply::Refused{.message = end->message};
  return told;
}

// ------------------------------------------------------------------------------------------------------------- read

Read::Begun Definition::begin_read(const Read& ask, State&) {
  return ReadWork{.apply = ask.apply.text(), .documents = ask.documents};
}

Read::Performed Definition::perform_read(const ReadWork& work, Effect& effect) {
  const DefinitionAId apply(work.apply);
  std::vector<Document> documents;
  for (const auto& each : work.documents) {
    auto parsed = parse_yaml_stream(each.text, each.file);
    if (!parsed) return Read::Invalid{.apply = apply, .message = to_string(parsed.error())};
    for (auto& one : *parsed) documents.push_back(std::move(one));
  }
  const auto objects = promote::read_objects(std::move(documents));
  if (!objects.faults.empty()) {
    std::string all;
    for (size_t index = 0; index < std::min(objects.faults.size(), kMostFaults); ++index) {
      all += (index == 0 ? "" : "\n") + to_string(objects.faults[index]);
    }
    return Read::Invalid{.apply = apply, .message = all};
  }
  const views::States states(effect.read());
  Read::Ok ok = gathered(apply, objects);
  for (const auto& each : views::signs_of(states, objects)) {
    ok.changes.push_back({.sign = each.sign, .kind = each.kind, .name = each.name});
  }
  for (auto& each : views::kept_now(states, objects)) {
    ok.before.push_back({.kind = each.kind, .name = each.name, .document = std::move(each.document)});
  }
  return ok;
}

Read::Outcome Definition::finish_read(const Read& ask, const Read::Outcome& outcome, State& state) {
  const auto* ok = get_if<Read::Ok>(&outcome);
  if (ok == nullptr) {
    const auto* end = get_if<lang::EngineEnd>(&outcome);
    if (end == nullptr) return outcome;
    return Read::Invalid{.apply = ask.apply, .message = end->message};
  }
  state.items(ask.apply).assign(ok->items);
  state.before(ask.apply).assign(ok->before);
  state.changes(ask.apply).assign(ok->changes);
  const auto record = state.get(ask.apply);
  if (record && record->plan) return Read::Planned{.apply = ask.apply};
  return outcome;
}

// ---------------------------------------------------------------------------------------------- keep, undo and remove

namespace {

// Whether it is another one than before.
bool put_definition(State& state, const std::string& kind, const std::string& name, const std::string& document) {
  const DefinitionId id = definition_id(kind, name);
  const std::string digest = crypto::to_string(crypto::sha256(document));
  const auto before = state.get(id);
  if (before && before->digest == digest) return false;
  DefinitionRecord record{.name = name, .document = document, .digest = digest, .since = state.now()};
  boost::describe::enum_from_string((kind + "_").c_str(), record.kind);
  state.put(id, record);
  return true;
}

// The halves of "shop/prod".
std::pair<std::string, std::string> place_of(const std::string& key) {
  const size_t slash = key.rfind('/');
  return {key.substr(0, slash), slash == std::string::npos ? "" : key.substr(slash + 1)};
}

}  // namespace

Keep::Result Definition::keep(const Keep& ask, State& state) {
  Keep::Ok ok{.apply = ask.apply};
  for (const auto& each : state.items(ask.apply).values()) {
    if (put_definition(state, each.kind, each.name, each.document)) {
      ok.changed.push_back(definition_id(each.kind, each.name).text());
    }
  }
  return ok;
}

Undo::Result Definition::undo(const Undo& ask, State& state) {
  Undo::Ok ok{.apply = ask.apply};
  for (const auto& each : state.before(ask.apply).values()) {
    const bool fresh = each.document.empty();
    if (each.kind == "DeploymentPipeline") {
      if (fresh) {
        ok.newPipelines.push_back({.pipeline = each.name});
      } else {
        ok.pipelines.push_back({.name = each.name, .document = each.document});
      }
    } else if (each.kind == "EnvSettings") {
      const auto [component, environment] = place_of(each.name);
      if (fresh) {
        ok.newSettings.push_back({.component = component, .environment = environment});
      } else {
        ok.settings.push_back({.component = component, .environment = environment, .document = each.document});
      }
    } else if (each.kind == "Release") {
      ok.newReleases.push_back({.release = each.name});
    } else if (fresh) {
      state.erase(definition_id(each.kind, each.name));
    } else {
      put_definition(state, each.kind, each.name, each.document);
    }
  }
  state.edit(ask.apply, [&](DefinitionARecord& record) {
    record.undone = true;
    if (ask.asked) ok.whole = record.whole;
  });
  return ok;
}

Remove::Result Definition::remove(const Remove& ask, State& state) {
  const DefinitionId id = definition_id(ask.kind, ask.name);
  if (!state.erase(id)) {
    return Remove::NotFound{.definition = id, .message = "there is no " + ask.kind + " '" + ask.name + "'"};
  }
  return Remove::Ok{.definition = id};
}

}  // namespace sluice::deploy::definition
