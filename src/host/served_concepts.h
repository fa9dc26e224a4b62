// The concepts that the components of apps serve (deploy/app_kit.h), as the engine calls any other: what an action asks
// goes to a replica of the component over HTTP, `POST /.well-known/sluice-concept`, with the messages of packs
// (docs/internals/packs.md). The component keeps the concept's state: it is sent none, and writes none.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "deploy/app_kit_shelf.h"
#include "host/pack_binding.h"
#include "lang/run/observer.h"
#include "lang/syntax/kit.h"

namespace sluice::host {

// Whether a component of an app serves it.
bool is_served(const lang::KitConcept& each);

// Adds the syncs that the shelf has to a kit, and makes effects of what its served concepts say of no other kind.
void add_app_rules(const std::vector<deploy::KeptRule>& rules, const std::string& home, lang::Kit& kit);
std::vector<lang::OutsideConcept> served_concepts(const std::vector<deploy::KeptRule>& rules, const std::string& home);

class ServedConcepts final : public lang::Observer {
 public:
  // Both must outlive it.
  ServedConcepts(deploy::AppKitShelf& shelf, const Clock& clock);
  ~ServedConcepts() override;

  // Handlers of the kit's concepts that components serve; they live as long as this.
  std::vector<const lang::ConceptBinding*> bind(const std::shared_ptr<const lang::CheckedKit>& kit);
  deploy::AppKitShelf& shelf() { return shelf_; }

  // Sees where components answer.
  std::string_view concept_name() const override { return "DeployPlan"; }
  void look(const Tell&) override {}
  void compare(const lang::Snapshot& snapshot, const Tell&) override;

 private:
  class Server;

  deploy::AppKitShelf& shelf_;
  const Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Server>> servers_;  // by the concept's name
  std::map<std::string, lang::ConceptBinding> bindings_;
};

}  // namespace sluice::host
