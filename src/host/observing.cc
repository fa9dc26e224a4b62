// One thread for all observers.
#include "host/observing.h"

#include <algorithm>
#include <chrono>

#include "base/thread_name.h"

namespace sluice::host {
namespace {

constexpr auto kEvery = std::chrono::seconds(1);

}  // namespace

std::vector<lang::Observer*> observers_of(const lang::CheckedKit& kit, const LoadedConcepts& loaded) {
  std::vector<lang::Observer*> found;
  for (lang::Observer* each : loaded.observers) {
    bool has = std::ranges::any_of(kit.kit().concepts,
                                   [&](const lang::KitConcept& its) { return its.tree.name == each->concept_name(); });
    if (has) found.push_back(each);
  }
  return found;
}

Observing::Observing(engine::Engine& engine, std::vector<lang::Observer*> observers, Read read)
    : engine_(engine), observers_(std::move(observers)), read_(std::move(read)) {
  look();
  thread_ = std::thread([this] {
    name_this_thread("observers");
    std::unique_lock lock(mutex_);
    while (!ends_.wait_for(lock, kEvery, [this] { return ending_; })) {
      lock.unlock();
      look();
      lock.lock();
    }
  });
}

Observing::~Observing() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ends_.notify_all();
  thread_.join();
}

void Observing::look() {
  const auto tell = [this](const std::string& action, const json::object& input) {
    // What cannot be committed now is seen again at the next look.
    (void)engine_.start(
        {.action = action, .input = input, .caller = {.name = std::string(kObserverName)}, .of_kit = true});
  };
  for (lang::Observer* each : observers_) each->look(tell);
  if (engine_.position() == compared_) return;
  auto moment = read_();
  if (!moment) return;
  const bool done = if_readable([&] {
    for (lang::Observer* each : observers_) each->compare((*moment)->reading().rows, tell);
  });
  if (done) compared_ = (*moment)->position();
}

}  // namespace sluice::host
