// What a person sees of a workflow (up, down, a rollback, an apply) while it runs, from the steps of its flow: what it
// waits for, how much of a revision that drains is under way, and how far an image that is pulled has come.
//
//   WorkflowProgress progress(context, home);
//   auto answer = door.run("Deployment/up", input, [&](const engine::Step& step) { return progress.hear(step); });
#pragma once

#include <map>
#include <memory>
#include <string>

#include "cli/context.h"
#include "cli/drain_watch.h"
#include "cli/pull_watch.h"
#include "engine/journal/step.h"
#include "host/home.h"

namespace sluice::cli {

class WorkflowProgress {
 public:
  // The context must outlive it.
  WorkflowProgress(Context& context, host::Home home) : context_(context), home_(std::move(home)) {}

  // What is waited for after this step; empty if it says nothing of that.
  std::string hear(const engine::Step& step);

  // The flow, once its first step was heard.
  const std::optional<Ulid>& flow() const { return flow_; }
  // The revision that it has staged, and its name, "shop@2"; empty if there is none.
  const std::string& staged() const { return staged_; }
  const std::string& staged_name() const { return staged_name_; }

 private:
  struct Begun {
    std::string action;
    json::object input;
  };
  std::string begin(const Ulid& id, const engine::Planned& planned);
  void end(const Ulid& id, const engine::End& end);

  Context& context_;
  host::Home home_;
  std::optional<Ulid> flow_;
  std::map<Ulid, Begun> open_;
  std::string deployment_;
  std::string staged_, staged_name_;
  std::unique_ptr<DrainWatch> draining_;
  std::unique_ptr<PullWatch> pulling_;
};

}  // namespace sluice::cli
