// What runs, found by the names that people use for it: those of a deployment (its bundle, its id or a beginning of
// it) and of a revision (BUNDLE@SEQUENCE, its id or a part of it), the name of a component that was provisioned by
// itself, an instance's id or a part of it, a replica's name, or the name of what it is of with its number
// ("hello@2.0").
//
//   auto objects = Objects::to_look(context);
//   Running running = running_in(objects->get());       // the home is open as long as `objects` is there
//   auto replicas = running.find_replicas("hello");
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/context.h"
#include "cli/objects.h"
#include "deploy/views/states.h"
#include "process/replicas.h"

namespace sluice::cli {

struct RunningReplica {
  std::string name;   // "01J….2.0"
  std::string label;  // "hello@2.0"
  std::string endpoint;
  std::string log;  // a folder
  std::string instance;
};

struct RunningInstance {
  std::string id;
  std::string component;  // a revision's id, or the name that it was provisioned with
  std::string name;       // "hello@2" of a revision, else the component
  std::string deployment;
  bool ready = false;  // as a revision
  std::string type;
  std::string version;
  std::string status;
  std::string endpoint;
  std::vector<RunningReplica> replicas;  // of the local runtime; in their order
};

class Running {
 public:
  // Without states nothing runs. They must outlive it.
  explicit Running(const deploy::views::States* states);

  // By name.
  const std::vector<RunningInstance>& all() const { return all_; }
  // The one that is meant; `not_found` if there is none, `conflict` if there are several.
  Result<RunningInstance> find_instance(const std::string& name) const;
  // The replicas that are meant: one, all of an instance, or all of a deployment.
  Result<std::vector<RunningReplica>> find_replicas(const std::string& name) const;

 private:
  struct Meant;
  std::vector<Meant> meanings(const std::string& name) const;
  Result<std::vector<RunningInstance>> find(const std::string& name) const;

  const deploy::views::States* states_;
  std::vector<RunningInstance> all_;
};

Running running_in(const Objects* objects);

}  // namespace sluice::cli
