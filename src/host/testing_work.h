// An engine with one concept in memory, for tests of the ways to it.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "base/ulid.h"
#include "engine/engine.h"
#include "host/engine_door.h"
#include "host/loaded_concepts.h"
#include "lang/run/binding.h"
#include "store/memory_store.h"

namespace sluice::host {

// The concept Work: go(n) is pure (`ok`, and `late` with the code conflict above 100), look() a query, wait(n) an
// effect that ends when `release` is set, ask(n) is answered by wait(n), sign() by people only.
class TestingWork {
 public:
  TestingWork();
  ~TestingWork();

  DoorParts door_parts();

  TestingFolder folder;
  RealDisk disk;
  Home home{disk, folder.path()};
  RealClock clock;
  store::MemoryStore store;
  std::string owner;  // this process's user, unless a test says another
  std::atomic<bool> release = false;
  LoadedConcepts loaded;
  std::shared_ptr<const lang::CheckedKit> kit;
  std::unique_ptr<engine::Engine> engine;

 private:
  RealRandom random_;
  lang::ConceptBinding binding_;
};

}  // namespace sluice::host
