// Runtime knows the instances, LocalRuntime their replicas, Revision and Deployment what people call them.
#include "cli/running_instances.h"

#include <algorithm>
#include <boost/describe/enum_to_string.hpp>
#include <tuple>

#include "deploy/providers/runtime/local/local_host.h"
#include "deploy/views/names.h"
#include "env.gen.h"
#include "host/loaded_concepts.h"
#include "local_runtime.gen.h"
#include "revision.gen.h"
#include "runtime.gen.h"

namespace sluice::cli {
namespace {

namespace views = deploy::views;

constexpr size_t kLeastPart = 4;  // of an id, to stand for it

bool is_part(const std::string& id, const std::string& name) {
  return name.size() >= kLeastPart && (id.starts_with(name) || id.ends_with(name));
}

Error several(const std::string& name, const std::vector<std::string>& titles, const std::string& next) {
  std::string text;
  for (const std::string& each : titles) text += (text.empty() ? "" : ", ") + each;
  return {.code = Code::conflict, .message = "several are called " + name + ": " + text, .next = next};
}

}  // namespace

// One thing that a name can mean.
struct Running::Meant {
  std::string title;
  std::vector<RunningInstance> instances;
};

Running::Running(const views::States* states) : states_(states) {
  if (states_ == nullptr) return;
  struct Placed {
    std::string bundle;
    int64_t sequence = 0;
    RunningInstance instance;
  };
  std::vector<Placed> all;
  for (const auto& found : states_->runtime().all()) {
    const auto& record = found.record;
    Placed placed{.bundle = record.concept_,
                  .instance = {.id = found.id.text(),
                               .component = record.concept_,
                               .name = record.concept_,
                               .type = record.runtimeType,
                               .version = record.version,
                               .status = boost::describe::enum_to_string(record.status, ""),
                               .endpoint = record.endpoint}};
    RunningInstance& instance = placed.instance;
    const deploy::revision::RevisionId revision(record.concept_);
    if (auto of = states_->revision().get(revision)) {
      placed.bundle = of->bundle;
      placed.sequence = of->sequence;
      instance.deployment = of->deployment;
      instance.ready = of->lifecycle == deploy::revision::RevisionLifecycle::ready;
      instance.name = views::name_of(deploy::revision::RevisionFound{revision, *of});
    }
    for (const auto& service : states_->local_runtime().find_by_instance(instance.id)) {
      for (const auto& program : states_->local_runtime().programs(service.id).values()) {
        instance.replicas.push_back({.name = program.name,
                                     .label = instance.name + "." + std::to_string(instance.replicas.size()),
                                     .endpoint = program.endpoint,
                                     .log = program.log,
                                     .instance = instance.id});
      }
    }
    all.push_back(std::move(placed));
  }
  std::ranges::sort(all, [](const Placed& a, const Placed& b) {
    return std::tie(a.bundle, a.sequence, a.instance.id) < std::tie(b.bundle, b.sequence, b.instance.id);
  });
  for (Placed& each : all) all_.push_back(std::move(each.instance));
}

// Two meanings of one and the same thing count once.
std::vector<Running::Meant> Running::meanings(const std::string& name) const {
  std::vector<Meant> meant;
  auto add = [&](const std::string& title, auto&& is_of) {
    Meant one{.title = title};
    std::ranges::copy_if(all_, std::back_inserter(one.instances), is_of);
    auto same = [&](const Meant& other) {
      return std::ranges::equal(one.instances, other.instances, {}, &RunningInstance::id, &RunningInstance::id);
    };
    if (std::ranges::none_of(meant, same)) meant.push_back(std::move(one));
  };
  for (const RunningInstance& each : all_) {
    auto is_it = [&](const RunningInstance& other) { return other.id == each.id; };
    if (each.id == name) {
      meant.clear();
      add(each.id, is_it);
      return meant;
    }
    if (each.component == name || is_part(each.id, name) || is_part(each.component, name)) {
      add(each.id + " (" + each.name + ")", is_it);
    }
  }
  if (states_ == nullptr || name.empty()) return meant;
  for (const auto& environment : states_->env().all()) {
    const std::string& where = environment.id.text();
    for (const auto& found : views::revisions_named(*states_, where, name)) {
      add(views::title_of(found), [&](const RunningInstance& each) { return each.component == found.id.text(); });
    }
    for (const auto& wanted : {views::DeploymentName{.deployment = name}, views::DeploymentName{.bundle = name}}) {
      for (const auto& found : views::deployments_named(*states_, where, wanted)) {
        add(views::title_of(found) + " in " + where,
            [&](const RunningInstance& each) { return each.deployment == found.id.text(); });
      }
    }
  }
  return meant;
}

Result<std::vector<RunningInstance>> Running::find(const std::string& name) const {
  std::vector<Meant> meant = meanings(name);
  // What does not run stands back for what does.
  if (std::ranges::any_of(meant, [](const Meant& each) { return !each.instances.empty(); })) {
    std::erase_if(meant, [](const Meant& each) { return each.instances.empty(); });
  }
  if (meant.empty()) {
    return Error{
        .code = Code::not_found, .message = "nothing that runs is called " + name, .next = "sluice runtime list"};
  }
  if (meant.size() > 1) {
    std::vector<std::string> titles;
    for (const Meant& each : meant) titles.push_back(each.title);
    return several(name, titles, "name one by its id");
  }
  return std::move(meant.front().instances);
}

Result<RunningInstance> Running::find_instance(const std::string& name) const {
  auto found = find(name);
  if (!found) return found.error();
  if (found->size() == 1) return std::move(found->front());
  if (found->empty()) {
    return Error{.code = Code::not_found, .message = "nothing of " + name + " runs", .next = "sluice status"};
  }
  std::vector<std::string> titles;
  for (const RunningInstance& each : *found) titles.push_back(each.name);
  return several(name, titles, "name one of them");
}

Result<std::vector<RunningReplica>> Running::find_replicas(const std::string& name) const {
  std::vector<RunningReplica> found;
  std::vector<std::string> titles;
  for (const RunningInstance& instance : all_) {
    for (const RunningReplica& each : instance.replicas) {
      if (each.name == name) return std::vector{each};
      if (each.label != name) continue;
      found.push_back(each);
      titles.push_back(each.name);
    }
  }
  if (found.size() == 1) return found;
  if (found.size() > 1) return several(name, titles, "name one of them");
  auto instances = find(name);
  if (!instances) return instances.error();
  for (RunningInstance& each : *instances) std::ranges::move(each.replicas, std::back_inserter(found));
  if (found.empty()) {
    return Error{.code = Code::not_found,
                 .message = "nothing of " + name + " runs on this machine",
                 .next = "sluice runtime list"};
  }
  return found;
}

Running running_in(const Objects* objects) { return Running(objects != nullptr ? &objects->states() : nullptr); }

}  // namespace sluice::cli
