// Loads a kit's syncs and guards anew when their files change, while the kit runs. A kit with errors is not loaded: the
// rules that run go on, and what is wrong is said once. Flows that began keep their syncs; guards bind them all.
//
//   KitReload reload(context, place, loaded);   // watches from here on, so that no change is lost
//   auto kit = reload.first();                  // what the engine begins with
//   while (…) reload.look(engine);              // never waits
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cli/context.h"
#include "cli/kit_place.h"
#include "cli/kit_watch.h"
#include "cli/loaded_concepts.h"
#include "engine/engine.h"

namespace sluice::cli {

class KitReload {
 public:
  // All must outlive it.
  KitReload(const Context& context, const KitPlace& place, const LoadedConcepts& loaded);

  // The kit as it is now.
  Result<std::shared_ptr<const lang::CheckedKit>> first();

  // Loads the kit into the engine if its files have changed, and says what came of it. False: they have not.
  bool look(engine::Engine& engine);

 private:
  // False: what runs is the same already.
  Result<bool> load(engine::Engine& engine);

  const Context& context_;
  const KitPlace& place_;
  const LoadedConcepts& loaded_;
  std::optional<KitWatch> watch_;
  std::map<std::string, std::string> running_;  // the text of what runs, by file
  std::string said_;                            // the last thing that was wrong
};

}  // namespace sluice::cli
