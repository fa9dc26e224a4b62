// The concepts of the packs that a home keeps, for the kit that runs: which there are, and their handlers. Each pack
// has one process for as long as this lives. A pack that is removed is ended; its concept stays loaded until Sluice is
// started again, and its actions are unavailable.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/terminal.h"
#include "deploy/pack_health.h"
#include "host/pack_binding.h"
#include "lang/check/check.h"
#include "pack/pack_shelf.h"

namespace sluice::host {

// As a kit takes them.
std::vector<lang::OutsideConcept> outside_concepts(const std::vector<pack::Pack>& packs);

// Whether the built-in kit can be loaded with this pack: what is wrong with its concept otherwise.
Result<void> fits_the_kit(const pack::Pack& pack);

class ServedConcepts;

class PackConcepts final : public deploy::PackHealth {
 public:
  // All must outlive it.
  PackConcepts(pack::PackShelf& shelf, Disk& disk, Clock& clock, Variables variables);
  ~PackConcepts() override;

  // What apps' components serve is among the concepts from outside, too. It must outlive this.
  void with(ServedConcepts& served) { served_ = &served; }
  ServedConcepts* served() const { return served_; }

  // Handlers of the kit's concepts from outside; they live as long as this.
  std::vector<const lang::ConceptBinding*> bind(const std::shared_ptr<const lang::CheckedKit>& kit);

  std::string health(const std::string& kind) const override;
  Result<json::object> query(const std::string& kind, const std::string& action, const json::object& input,
                             int64_t timeout_ms) const override;
  ToolProbe probe(const ToolQuestion& question) const override { return probe_tool(question, variables_); }

 private:
  class Server;
  Server& server_of(const std::string& name) const;
  Result<pack::PackProcess*> process_of(const std::string& kind) const;

  pack::PackShelf& shelf_;
  Disk& disk_;
  Clock& clock_;
  Variables variables_;
  ServedConcepts* served_ = nullptr;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::unique_ptr<Server>> servers_;  // by the concept's name
  std::map<std::string, lang::ConceptBinding> bindings_;
};

}  // namespace sluice::host
