// Loads a kit's syncs and guards anew when their files change, while the kit runs. A kit with errors is not loaded: the
// rules that run go on, and what is wrong is said once. Flows that began keep their syncs; guards bind them all.
//
//   KitReload reload(context, place, loaded, engine);   // before the kit is read, so that no change is lost
//   while (…) reload.look();                             // never waits
#pragma once

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

  // Loads the kit into the engine if its files have changed, and says what came of it. False: they have not.
  bool look(engine::Engine& engine);

 private:
  Result<void> load(engine::Engine& engine);

  const Context& context_;
  const KitPlace& place_;
  const LoadedConcepts& loaded_;
  std::optional<KitWatch> watch_;
  std::string said_;  // the last thing that was wrong
};

}  // namespace sluice::cli
