// Runtime knows the instances, LocalRuntime their replicas.
#include "cli/running_instances.h"

#include <algorithm>
#include <boost/json.hpp>

#include "cli/loaded_concepts.h"
#include "deploy/providers/runtime/local/local_host.h"

namespace sluice::cli {
namespace {

constexpr size_t kLeastPart = 4;  // of an id, to stand for it

bool is_part(const std::string& id, const std::string& name) {
  return name.size() >= kLeastPart && (id.starts_with(name) || id.ends_with(name));
}

Error no_such(const std::string& name) {
  return {.code = Code::not_found, .message = "nothing that runs is called " + name, .next = "sluice runtime list"};
}

}  // namespace

Result<std::vector<RunningInstance>> running_instances(DeployHome& home) {
  auto listed = home.ask("Runtime/list", {});
  if (!listed) return listed.error();
  std::vector<RunningInstance> all;
  for (const json::value& each : listed->fields.at("instances").as_array()) {
    auto text = [&](const char* field) { return std::string(each.at(field).as_string()); };
    RunningInstance instance{.id = text("instance"),
                             .component = text("concept"),
                             .type = text("runtimeType"),
                             .version = text("version"),
                             .status = text("status"),
                             .endpoint = text("endpoint")};
    auto shown = home.ask("LocalRuntime/show", {{"instance", instance.id}});
    if (!shown) return shown.error();
    if (shown->code == Code::ok) {
      for (const json::value& program : shown->fields.at("programs").as_array()) {
        auto of = [&](const char* field) { return std::string(program.at(field).as_string()); };
        instance.replicas.push_back({.name = of("name"),
                                     .label = instance.component + "." + std::to_string(instance.replicas.size()),
                                     .endpoint = of("endpoint"),
                                     .log = of("log"),
                                     .instance = instance.id});
      }
    }
    all.push_back(std::move(instance));
  }
  std::ranges::sort(all, [](const RunningInstance& a, const RunningInstance& b) {
    return std::tie(a.component, a.id) < std::tie(b.component, b.id);
  });
  return all;
}

Result<RunningInstance> find_instance(const std::vector<RunningInstance>& all, const std::string& name) {
  std::vector<const RunningInstance*> found;
  for (const RunningInstance& each : all) {
    if (each.id == name) return each;
    if (each.component == name || is_part(each.id, name)) found.push_back(&each);
  }
  if (found.size() == 1) return *found.front();
  if (found.empty()) return no_such(name);
  std::string ids;
  for (const RunningInstance* each : found) ids += (ids.empty() ? "" : ", ") + each->id;
  return Error{.code = Code::conflict, .message = "several are called " + name + ": " + ids};
}

Result<std::vector<RunningReplica>> find_replicas(const std::vector<RunningInstance>& all, const std::string& name) {
  for (const RunningInstance& instance : all) {
    for (const RunningReplica& each : instance.replicas) {
      if (each.name == name || each.label == name) return std::vector{each};
    }
  }
  auto instance = find_instance(all, name);
  if (!instance) return instance.error();
  if (instance->replicas.empty()) {
    return Error{.code = Code::not_found,
                 .message = "nothing of " + name + " runs on this machine",
                 .next = "sluice runtime show " + name};
  }
  return std::move(instance->replicas);
}

Result<std::vector<RunningInstance>> read_running_instances(Context& context) {
  auto home = open_deploy_home_to_read(context);
  if (!home) return home.error();
  if (!*home) return std::vector<RunningInstance>();
  return running_instances(**home);
}

Result<process::Replicas*> local_replicas(const Context& context) {
  if (context.concepts == nullptr || context.concepts->find("LocalRuntime") == nullptr) {
    return Error{.code = Code::unavailable, .message = "this program has no local runtime"};
  }
  return &context.concepts->tools.get<deploy::local_runtime::LocalHost>().replicas();
}

}  // namespace sluice::cli
