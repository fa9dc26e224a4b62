// The Door of a command to its home: through the `sluice serve` that has the store, if one runs, else in this process.
// Nothing is opened before it is needed: a view needs only the store, a call the engine.
//
//   HomeDoor door(opening, {.folder = "built-in:deploy", .check = …});
//   auto split = door.view("traffic", {{"environment", "local"}});
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "host/door.h"
#include "host/engine_door.h"
#include "host/home_engine.h"
#include "host/opening.h"
#include "host/remote_door.h"

namespace sluice::host {

// The kit that an engine in this process would run.
struct DoorKit {
  std::string folder;
  // Asked only where the engine is to run here.
  std::function<Result<std::shared_ptr<const lang::CheckedKit>>()> check;
};

class HomeDoor final : public Door {
 public:
  // What the opening refers to must outlive it.
  HomeDoor(Opening opening, DoorKit kit) : opening_(std::move(opening)), kit_(std::move(kit)) {}

  Result<Answer> call(const Call& call, const Waiting& waiting = {}) override;
  Result<Answer> answer_of(const Ulid& flow, WaitFor wait, const Waiting& waiting = {}) override;
  Result<ViewAnswer> view(const std::string& name, const json::object& query = {}) override;
  Result<Decided> decide(engine::Decision decision, const Waiting& waiting = {}) override;
  Result<void> follow(uint64_t from, const std::function<bool(const engine::Step&)>& visit,
                      const std::function<bool()>& stop) override;
  Result<std::string> put(File& file, const std::string& reason) override;
  Result<void> read_logs(const LogAsk& ask, const VisitLine& visit, const std::function<bool()>& stop) override;
  Result<int> exec(const ExecAsk& ask, const ExecEnds& ends) override;

  // Whether the engine runs in this process: what is not done when the command ends waits for the next one.
  bool runs_here() const { return engine_ != nullptr; }
  // The engine in this process, once something needed it; null: there is none, or it runs in a `sluice serve`.
  HomeEngine* engine() { return engine_.get(); }
  // Has the engine go on with what is open, and calls nothing.
  Result<void> start();
  // Why nothing can be committed now.
  std::optional<Error> trouble();

 private:
  // Whether another door may go on with what could not be done: the server has ended, and this may be repeated.
  bool outlives(const Error& error);
  // The server's door, if one answers; null: there is none.
  Result<Door*> served();
  // A door that can do everything.
  Result<Door*> whole();
  // The engine in this process; a `sluice serve` that began meanwhile is a `conflict`.
  Result<void> start_here(std::optional<engine::Decision> decision, uint64_t& position);

  Opening opening_;
  DoorKit kit_;
  RealClock clock_;
  std::unique_ptr<RemoteDoor> remote_;
  std::unique_ptr<HomeStore> store_;  // of a command that has only read so far
  std::unique_ptr<HomeEngine> engine_;
  std::unique_ptr<EngineDoor> door_;
};

}  // namespace sluice::host
