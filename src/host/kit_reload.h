// Loads a kit's syncs and guards anew when their files change, while the kit runs. A kit with errors is not loaded: the
// rules that run go on, and what is wrong is said once. Flows that began keep their syncs; guards bind them all.
//
//   KitReload reload(disk, narrator, place, loaded);   // watches from here on, so that no change is lost
//   auto kit = reload.first();                  // what the engine begins with
//   while (…) reload.look(engine);              // never waits
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "host/kit_place.h"
#include "host/kit_watch.h"
#include "host/loaded_concepts.h"

namespace sluice::host {

class ServedConcepts;

class KitReload {
 public:
  // All must outlive it.
  KitReload(Disk& disk, Narrator& narrator, const KitPlace& place, const LoadedConcepts& loaded);

  ~KitReload();

  // The kit as it is now.
  Result<std::shared_ptr<const lang::CheckedKit>> first();

  // Loads the kit into the engine if its files have changed, and says what came of it. False: they have not.
  // From the first look on, what plans register of apps' kits is loaded into the engine, which must be the same each
  // time, on their threads.
  bool look(engine::Engine& engine);

 private:
  // False: what runs is the same already.
  Result<bool> load(engine::Engine& engine);

  Disk& disk_;
  Narrator& narrator_;
  const KitPlace& place_;
  const LoadedConcepts& loaded_;
  std::optional<KitWatch> watch_;
  std::mutex loading_;
  ServedConcepts* serves_ = nullptr;  // that have their syncs loaded here
  std::string said_;                  // the last thing that was wrong
};

}  // namespace sluice::host
