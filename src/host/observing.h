// Has the observers (lang/observer.h) of a kit look at the world for as long as its engine runs: once before anything
// else is asked for, so that even a short command repairs what it finds, and then every second.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/engine.h"
#include "host/loaded_concepts.h"
#include "host/moment.h"
#include "lang/check/check.h"

namespace sluice::host {

// As whom observers call. No person can have this name: those begin with how they were known.
inline constexpr std::string_view kObserverName = "sluice:observer";

// Those whose concept the kit has.
std::vector<lang::Observer*> observers_of(const lang::CheckedKit& kit, const LoadedConcepts& loaded);

class Observing {
 public:
  using Read = std::function<Result<std::unique_ptr<Moment>>()>;

  // Looks once before it returns. The engine and the observers must outlive it.
  Observing(engine::Engine& engine, std::vector<lang::Observer*> observers, Read read);
  ~Observing();
  Observing(const Observing&) = delete;
  Observing& operator=(const Observing&) = delete;

 private:
  void look();

  engine::Engine& engine_;
  std::vector<lang::Observer*> observers_;
  Read read_;
  uint64_t compared_ = 0;  // the position up to which observers have compared
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace sluice::host
