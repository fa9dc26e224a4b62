// A table of what people wait for: an action that is not in it takes no time that anybody would notice.
#include "cli/workflow_progress.h"

#include <boost/json.hpp>

#include "base/json.h"

namespace sluice::cli {
namespace {

struct Words {
  std::string_view action;
  std::string_view waits_for;
};
constexpr Words kWords[] = {{"Deployment/awaitTurn", "another change of the deployment"},
                            {"Env/awaitTurn", "another file that is being applied"},
                            {"Env/plan", "the file to be checked"},
                            {"Revision/stage", "the archive to be checked"},
                            {"Revision/warm", "the revision to become healthy"},
                            {"Revision/drain", "a revision to finish its requests"},
                            {"Revision/archive", "a revision to finish its requests"},
                            {"Router/publish", "the routers"},
                            {"Runtime/healthCheck", "the programs to be healthy"}};

std::string text_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

bool drains(const std::string& action) { return action == "Revision/drain" || action == "Revision/archive"; }

}  // namespace

std::string WorkflowProgress::hear(const engine::Step& step) {
  flow_ = step.flow;
  std::string waits_for;
  if (step.end) end(step.invocation, *step.end);
  for (const engine::Fired& fired : step.fired) {
    for (const engine::Planned& planned : fired.then) {
      if (planned.kind != engine::Planned::Kind::invoke) continue;
      if (std::string words = begin(planned.id, planned); !words.empty()) waits_for = words;
    }
  }
  return waits_for;
}

std::string WorkflowProgress::begin(const Ulid& id, const engine::Planned& planned) {
  open_[id] = {planned.action, planned.fields};
  if (std::string deployment = text_in(planned.fields, "deployment"); !deployment.empty()) deployment_ = deployment;
  if (drains(planned.action)) {
    draining_.reset();
    draining_ = std::make_unique<DrainWatch>(context_, home_, deployment_, text_in(planned.fields, "revision"));
  }
  if (planned.action == "Revision/warm") {
    pulling_.reset();
    pulling_ = std::make_unique<PullWatch>(context_, home_, text_in(planned.fields, "revision"));
  }
  for (const Words& each : kWords) {
    if (each.action != planned.action) continue;
    const bool own = planned.action == "Revision/warm" && !staged_name_.empty();
    return own ? staged_name_ + " to become healthy" : std::string(each.waits_for);
  }
  return "";
}

void WorkflowProgress::end(const Ulid& id, const engine::End& end) {
  auto found = open_.find(id);
  if (found == open_.end()) return;
  if (drains(found->second.action)) {
    draining_.reset();
    tell_cut(context_, "a revision", end.fields);
  }
  if (found->second.action == "Revision/warm") pulling_.reset();
  if (found->second.action == "Revision/stage" && end.fields.contains("revision")) {
    staged_ = text_in(end.fields, "revision");
    if (const json::value* sequence = end.fields.if_contains("sequence")) {
      staged_name_ = text_in(found->second.input, "bundle") + "@" + write(*sequence);
    }
  }
  open_.erase(found);
}

}  // namespace sluice::cli
