// A pack's concept as the engine calls any other: its handlers ask the pack's process (pack/pack_process.h), and what
// the process answers is held against the `.concept` before it counts. docs/internals/packs.md has the messages.
//
// Whatever does not fit, a variant that is not declared, a field of another type, a row of a relation that the concept
// does not have, is a fault of the action; nothing of it is kept. A process that ends while it works may have done its
// work: under `retry: safe` and `probe` the engine asks again, else the action ends in engine.fault, maybe done.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lang/check/check.h"
#include "lang/run/binding.h"
#include "pack/pack_process.h"
#include "pack/pack_shelf.h"

namespace sluice::host {

// Who serves a concept from outside.
class ConceptServer {
 public:
  virtual ~ConceptServer() = default;

  // Asks it, once it has said that it serves this concept. What it cannot serve is a fault: it throws.
  virtual pack::PackAnswer ask(const lang::Concept& spec, const std::string& kind, std::string_view what,
                               const json::object& message, int64_t deadline_ms,
                               const std::function<bool()>& cancelled) = 0;
  // The settings with which an environment has bound the pack; empty if it has not.
  virtual json::object settings(const lang::Snapshot& state, const std::string& environment) = 0;
};

// The process that serves a pack, found when it is needed.
class PackServer : public ConceptServer {
 public:
  virtual Result<pack::PackProcess*> process() = 0;
  pack::PackAnswer ask(const lang::Concept& spec, const std::string& kind, std::string_view what,
                       const json::object& message, int64_t deadline_ms,
                       const std::function<bool()>& cancelled) override;

 private:
  std::mutex greeting_;
  int greeted_ = 0;
};

// A pack whose process is given.
class OnePackServer final : public PackServer {
 public:
  OnePackServer(Clock& clock, process::SpawnRequest program, json::object settings = {})
      : process_(clock, std::move(program)), settings_(std::move(settings)) {}

  Result<pack::PackProcess*> process() override { return &process_; }
  json::object settings(const lang::Snapshot&, const std::string&) override { return settings_; }

 private:
  pack::PackProcess process_;
  json::object settings_;
};

// What the `.concept` of a pack may not have: actions that are neither effects nor queries. Empty: it may be served.
std::string fault_of_pack_concept(const lang::Concept& spec);

// The concept of this name in the kit, served by `server`. `own_name` is what its own file calls it, which is how the
// process calls its relations. Both must outlive it.
lang::ConceptBinding pack_binding(std::shared_ptr<const lang::CheckedKit> kit, const std::string& name,
                                  const std::string& own_name, const std::string& kind, ConceptServer& server);

// Asks the process who it is, once after each start; an error if it is another or does not speak this protocol.
Result<void> greet(pack::PackProcess& process, const lang::Concept& spec, const std::string& kind, int& greeted);

}  // namespace sluice::host
