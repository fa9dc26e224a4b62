// The engine keeps what it knows in a row of its own (engine/engine_time.h).
#include "deploy/views/clock.h"

#include <boost/json.hpp>

#include "base/clock.h"

namespace sluice::deploy::views {

std::optional<ClockTrouble> clock_trouble(const lang::Snapshot& snapshot) {
  auto jump = snapshot.rows_of("engine.clock").get("engine.clock", "jump");
  if (!jump || jump->at("over").as_bool()) return std::nullopt;
  return ClockTrouble{
      std::string(jump->at("what").as_string()) + ", noticed at " + utc_text(jump->at("at_ms").to_number<int64_t>()) +
          "; recorded time approaches it slowly, and nothing is removed for its age meanwhile",
      "set the system's clock right; if it is right, correct the recorded time with audit correct-clock"};
}

}  // namespace sluice::deploy::views
