// What Pin's effects work on, as it is journaled between begin and perform.
#pragma once

#include "pin.gen.h"

namespace sluice::deploy::pin {

struct AssessWork {
  std::string change;
  std::vector<PinMove> moves;
};
BOOST_DESCRIBE_STRUCT(AssessWork, (), (change, moves))

struct RenderWork {
  std::string pin;
  std::string component;
  std::string environment;
  std::string release;
  bool active = true;
  std::string deployment;
  std::string target;                     // from the history; empty: it is rendered
  std::string before;                     // the target that runs
  std::string identity, settings, facts;  // of the history
  bool correct = false;                   // take back what others have changed
  static constexpr std::string_view kDefaulted[] = {"correct"};
};
BOOST_DESCRIBE_STRUCT(RenderWork, (),
                      (pin, component, environment, release, active, deployment, target, before, identity, settings,
                       facts, correct))

struct WitnessWork {
  std::string pin;
  std::string revision;
};
BOOST_DESCRIBE_STRUCT(WitnessWork, (), (pin, revision))

}  // namespace sluice::deploy::pin
