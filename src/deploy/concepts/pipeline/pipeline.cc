// Pipeline keeps what a DeploymentPipeline says, taken apart as guards read it.
#include <map>
#include <set>

#include "base/json.h"
#include "crypto/sha256.h"
#include "pipeline.gen.h"
#include "render/promote/kinds.h"

namespace sluice::deploy::pipeline {
namespace {

std::string no_pipeline(const PipelineId& id) { return "there is no pipeline " + id.text(); }

}  // namespace

Put::Result Pipeline::put(const Put& ask, State& state) {
  Put::Ok ok;
  for (const auto& each : ask.pipelines) {
    auto parsed = parse_json(each.document, each.name);
    if (!parsed) return Put::Invalid{.message = to_string(parsed.error())};
    std::vector<Document> documents;
    documents.push_back(*std::move(parsed));
    auto objects = promote::read_objects(std::move(documents));
    if (!objects.faults.empty()) return Put::Invalid{.message = to_string(objects.faults.front())};
    const PipelineId id(each.name);
    const std::string digest = crypto::to_string(crypto::sha256(each.document));
    auto record = state.get(id).value_or(PipelineRecord{});
    if (record.digest == digest) continue;
    record.document = each.document;
    record.digest = digest;
    record.since = state.now();
    state.put(id, record);
    std::vector<PipelinePath> paths;
    std::map<std::string, bool> stages;  // whether nothing leads there
    for (const auto& [name, defined] : objects.pipelines) {
      for (const auto& path : defined.value.spec.promotionPaths) {
        const std::string& from = path.sourceEnvironmentRef.name;
        stages.emplace(from, true);
        for (const auto& target : path.targetEnvironmentRefs) {
          paths.push_back(
              {.from = from, .to = target.name, .soakSeconds = target.soakSeconds, .approvals = target.approvals});
        }
      }
    }
    for (const auto& path : paths) stages[path.to] = false;
    state.paths(id).assign(paths);
    std::vector<PipelineStage> all;
    for (const auto& [environment, root] : stages) all.push_back({.environment = environment, .root = root});
    state.stages(id).assign(all);
    ok.changed.push_back(each.name);
  }
  return ok;
}

Stop::Result Pipeline::stop(const Stop& ask, State& state) {
  const bool there = state.edit(ask.pipeline, [&](PipelineRecord& record) {
    record.stopped = true;
    record.stoppedBy = ask.caller.value_or("");
    record.reason = ask.reason;
  });
  if (!there) return Stop::NotFound{.pipeline = ask.pipeline, .message = no_pipeline(ask.pipeline)};
  return Stop::Ok{.pipeline = ask.pipeline};
}

Resume::Result Pipeline::resume(const Resume& ask, State& state) {
  const bool there = state.edit(ask.pipeline, [](PipelineRecord& record) {
    record.stopped = false;
    record.stoppedBy.clear();
    record.reason.clear();
  });
  if (!there) return Resume::NotFound{.pipeline = ask.pipeline, .message = no_pipeline(ask.pipeline)};
  return Resume::Ok{.pipeline = ask.pipeline};
}

Remove::Result Pipeline::remove(const Remove& ask, State& state) {
  if (!state.has(ask.pipeline)) {
    return Remove::NotFound{.pipeline = ask.pipeline, .message = no_pipeline(ask.pipeline)};
  }
  state.paths(ask.pipeline).clear();
  state.stages(ask.pipeline).clear();
  state.erase(ask.pipeline);
  return Remove::Ok{.pipeline = ask.pipeline};
}

}  // namespace sluice::deploy::pipeline
