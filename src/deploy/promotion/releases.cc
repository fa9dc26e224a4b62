// Rows of Definition, Release, Pin, Settings and Pipeline as people read them.
#include "deploy/views/releases.h"

#include <algorithm>

#include "base/json.h"
#include "definition.gen.h"
#include "deploy/promotion/promotion.h"
#include "deploy/views/states.h"
#include "pin.gen.h"
#include "pipeline.gen.h"
#include "release.gen.h"
#include "render/promote/difference.h"
#include "render/promote/gzip.h"
#include "settings.gen.h"

namespace sluice::deploy::views {
namespace {

json::value json_in(const std::string& kept) {
  const auto text = promote::unpacked(kept);
  auto parsed = text ? parse_json_value(*text) : Result<json::value>(text.error());
  return parsed ? *std::move(parsed) : json::value();
}

PinDocument pin_document(const States& states, const pin::PinFound& found) {
  const pin::PinRecord& record = found.record;
  PinDocument document{.pin = found.id.text(),
                       .component = record.component,
                       .environment = record.environment,
                       .pipeline = record.pipeline,
                       .release = record.release,
                       .state = record.wanted == pin::PinWanted::Undeploy_ ? "Undeploy" : "Active",
                       .applied_release = record.applied,
                       .generation = record.generation,
                       .observed_generation = record.observed,
                       .ready = record.ready,
                       .reason = record.reason,
                       .message = record.message,
                       .deployment = record.deployment,
                       .revision = record.revision};
  if (record.readyAt) document.ready_at = *record.readyAt;
  if (record.held) document.held = *record.held;
  for (const auto& each : states.pin().rejected(found.id)) document.rejected.push_back(each.value.release);
  document.on_drift = record.onDrift == pin::PinOnDrift::correct ? "correct" : "report";
  for (const auto& each : states.pin().drift(found.id)) document.drift.push_back(each.value);
  return document;
}

ReleaseDocument release_document(const States& states, const release::ReleaseFound& found) {
  const release::ReleaseRecord& record = found.record;
  ReleaseDocument document{.release = found.id.text(),
                           .component = record.component,
                           .identity = record.identity,
                           .image = record.image,
                           .ready = record.ready,
                           .message = record.message,
                           .rejected = record.rejected ? record.rejected->reason : "",
                           .by = record.by,
                           .created_at = record.createdAt};
  for (const auto& each : states.release().parts(found.id)) {
    document.parts.push_back({each.value.role, each.value.name, each.value.digest});
  }
  for (const auto& each : states.pin().all()) {
    if (each.record.release != document.release && each.record.applied != document.release) continue;
    document.pinned.push_back({each.record.environment, each.record.applied == document.release, each.record.ready});
  }
  return document;
}

// A ReleasePin as the seed has it, with its status.
json::value pin_object(const PinDocument& pin) {
  json::object condition{
      {"type", "Ready"}, {"status", pin.ready ? "True" : "False"}, {"reason", pin.reason}, {"message", pin.message}};
  if (pin.ready_at) condition["lastTransitionTime"] = lang::to_text(*pin.ready_at);
  json::object spec{{"component", pin.component}, {"environment", pin.environment}, {"releaseName", pin.release}};
  if (pin.state != "Active") spec["state"] = pin.state;
  if (pin.on_drift != "report") spec["drift"] = pin.on_drift;
  return {{"apiVersion", component::kKindsVersion},
          {"kind", "ReleasePin"},
          {"metadata", {{"name", pin.component + "-" + pin.environment}}},
          {"spec", std::move(spec)},
          {"status",
           {{"appliedRelease", pin.applied_release},
            {"observedGeneration", pin.observed_generation},
            {"drift", to_json(pin.drift)},
            {"conditions", json::array{std::move(condition)}}}}};
}

json::value release_object(const States& states, const release::ReleaseFound& found) {
  json::value document = promote::with_content(
      json_in(found.record.document), [&](const std::string& digest) -> std::optional<std::string> {
        const auto kept = states.release().get(release::ReleaseTId(digest.empty() ? "-" : digest));
        auto text = kept ? promote::unpacked(kept->text) : Result<std::string>(Error{});
        return kept && text ? std::optional(*std::move(text)) : std::nullopt;
      });
  if (!document.is_object()) return document;
  auto& metadata = document.as_object()["metadata"];
  if (!metadata.is_object()) metadata = json::object{};
  metadata.as_object()["name"] = found.id.text();
  json::object condition{{"type", "Ready"},
                         {"status", found.record.ready ? "True" : "False"},
                         {"reason", found.record.ready ? "Resolved" : "NotResolved"},
                         {"message", found.record.message}};
  document.as_object()["status"] = {{"identity", found.record.identity},
                                    {"conditions", json::array{std::move(condition)}}};
  return document;
}

void note_differences(const std::string& part, const json::value& left, const json::value& right,
                      std::vector<ReleaseDifference>& all) {
  for (auto& each : promote::differences_of(left, right)) {
    all.push_back({part, std::move(each.pointer), std::move(each.left), std::move(each.right)});
  }
}

}  // namespace

Result<std::vector<DefinedObject>> read_definitions(const lang::Reading& reading, const DefinitionsQuery& query) {
  const States states(reading.rows);
  std::vector<DefinedObject> all;
  const auto wanted = [&](const std::string& kind, const std::string& name) {
    return (query.kind.empty() || query.kind == kind) && (query.name.empty() || query.name == name);
  };
  for (const auto& each : states.definition().all()) {
    const std::string kind = each.id.text().substr(0, each.id.text().find('/'));
    if (wanted(kind, each.record.name)) {
      all.push_back({kind, each.record.name, each.record.since, json_in(each.record.document)});
    }
  }
  for (const auto& each : states.settings().all()) {
    const std::string name = each.record.component + "-" + each.record.environment;
    if (wanted("EnvSettings", name)) {
      all.push_back({"EnvSettings", name, each.record.since, json_in(each.record.document)});
    }
  }
  for (const auto& each : states.pipeline().all()) {
    if (wanted("DeploymentPipeline", each.id.text())) {
      all.push_back({"DeploymentPipeline", each.id.text(), each.record.since, json_in(each.record.document)});
    }
  }
  for (const auto& each : states.release().all()) {
    if (wanted("Release", each.id.text())) {
      all.push_back({"Release", each.id.text(), each.record.createdAt, release_object(states, each)});
    }
  }
  for (const auto& each : states.pin().all()) {
    const std::string name = each.record.component + "-" + each.record.environment;
    if (wanted("ReleasePin", name)) {
      all.push_back({"ReleasePin", name, each.record.since, pin_object(pin_document(states, each))});
    }
  }
  if (all.empty() && !query.name.empty()) {
    return Error{.code = Code::not_found, .message = "there is no " + query.kind + " '" + query.name + "'"};
  }
  return all;
}

Result<std::vector<ReleaseDocument>> read_releases(const lang::Reading& reading, const ReleasesQuery& query) {
  const States states(reading.rows);
  std::vector<ReleaseDocument> all;
  for (const auto& each : states.release().all()) {
    if (!query.component.empty() && each.record.component != query.component) continue;
    if (!query.release.empty() && each.id.text() != query.release) continue;
    all.push_back(release_document(states, each));
  }
  std::ranges::sort(all, [](const ReleaseDocument& left, const ReleaseDocument& right) {
    return std::pair(left.created_at.ms, left.release) > std::pair(right.created_at.ms, right.release);
  });
  return all;
}

Result<std::vector<ReleaseDifference>> read_release_diff(const lang::Reading& reading, const ReleaseDiffQuery& query) {
  const States states(reading.rows);
  const auto left = content_of_release(states, query.left);
  if (!left) return left.error();
  const auto right = content_of_release(states, query.right);
  if (!right) return right.error();
  std::vector<ReleaseDifference> differences;
  const auto named = [](const promote::Part& part) {
    return std::string(boost::describe::enum_to_string(part.role, "")) + " " + part.name;
  };
  const auto find = [&](const promote::Content& content, const std::string& name) {
    const auto found = std::ranges::find_if(content.parts, [&](const auto& each) { return named(each) == name; });
    return found == content.parts.end() ? json::value() : json_in(found->text);
  };
  for (const auto& each : left->parts) {
    note_differences(named(each), json_in(each.text), find(*right, named(each)), differences);
  }
  for (const auto& each : right->parts) {
    if (find(*left, named(each)).is_null())
      note_differences(named(each), json::value(), json_in(each.text), differences);
  }
  return differences;
}

Result<std::vector<PinDocument>> read_pins(const lang::Reading& reading, const PinsQuery& query) {
  const States states(reading.rows);
  std::vector<PinDocument> all;
  for (const auto& each : states.pin().all()) {
    if (!query.component.empty() && each.record.component != query.component) continue;
    if (!query.environment.empty() && each.record.environment != query.environment) continue;
    all.push_back(pin_document(states, each));
  }
  return all;
}

Result<std::vector<LockDocument>> read_pin_history(const lang::Reading& reading, const PinHistoryQuery& query) {
  const States states(reading.rows);
  const pin::PinId id(query.pin.empty() ? "-" : query.pin);
  if (!states.pin().has(id)) return Error{.code = Code::not_found, .message = "there is no pin " + query.pin};
  std::vector<LockDocument> all;
  for (const auto& each : states.pin().locks(id)) {
    const pin::PinLock& lock = each.value;
    const LockFacts facts = read_facts(lock.facts);
    all.push_back({.schema = "sluice.release-lock.v1",
                   .number = lock.number,
                   .release = lock.release,
                   .identity = lock.identity,
                   .artifact_digest = facts.artifact,
                   .settings_digest = lock.settings,
                   .config_digest = facts.config_digest,
                   .secrets = {},
                   .schema_of_storage = {},
                   .rendered_digest = lock.hash,
                   .objects = json_in(lock.target),
                   .deployment = lock.deployment,
                   .revision = lock.revision,
                   .by = lock.by,
                   .at = lock.at});
    for (const auto& secret : facts.secrets)
      all.back().secrets.push_back({secret.variable, secret.name, secret.version});
    if (facts.schema) {
      all.back().schema_of_storage = LockSchemaSeen{facts.schema->database, facts.schema->version, facts.schema->phase};
    }
  }
  std::ranges::reverse(all);
  return all;
}

Result<std::vector<ReleaseEvent>> read_release_history(const lang::Reading& reading, const ReleaseHistoryQuery& query) {
  const States states(reading.rows);
  std::vector<ReleaseEvent> all;
  for (const auto& each : states.pin().all()) {
    const pin::PinRecord& record = each.record;
    if (!query.component.empty() && record.component != query.component) continue;
    if (!query.environment.empty() && record.environment != query.environment) continue;
    for (const auto& lock : states.pin().locks(each.id)) {
      all.push_back({lock.value.at, record.component, record.environment, "ran", lock.value.release, lock.value.number,
                     lock.value.by, ""});
    }
    for (const auto& rejected : states.pin().rejected(each.id)) {
      all.push_back({rejected.value.at, record.component, record.environment, "rejected", rejected.value.release, 0, "",
                     rejected.value.reason});
    }
  }
  std::ranges::stable_sort(all, [](const ReleaseEvent& left, const ReleaseEvent& right) {
    return std::pair(left.at.ms, left.entry) > std::pair(right.at.ms, right.entry);
  });
  return all;
}

Result<std::vector<PipelineDocument>> read_pipelines(const lang::Reading& reading, const PipelinesQuery&) {
  const States states(reading.rows);
  std::vector<PipelineDocument> all;
  for (const auto& each : states.pipeline().all()) {
    PipelineDocument document{.pipeline = each.id.text(), .stopped = each.record.stopped, .reason = each.record.reason};
    for (const auto& path : states.pipeline().paths(each.id)) {
      document.paths.push_back(path.value.from + " -> " + path.value.to);
      document.targets.push_back({path.value.from, path.value.to, path.value.soakSeconds, path.value.approvals});
    }
    for (const auto& stage : states.pipeline().stages(each.id)) {
      document.stages.push_back({stage.value.environment, stage.value.root});
    }
    all.push_back(std::move(document));
  }
  return all;
}

}  // namespace sluice::deploy::views
