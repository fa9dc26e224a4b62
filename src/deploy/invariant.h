// What must hold whatever people and programs ask for. A handler that breaks it has a defect: its action ends in a
// fault, and nothing that it wrote is kept. Unlike an assertion it does not end the control plane, which would meet the
// same call again when it is started.
#pragma once

#include <stdexcept>
#include <string>

namespace sluice::deploy {

inline void must_hold(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error("this does not hold, though it must: " + what);
}

}  // namespace sluice::deploy
