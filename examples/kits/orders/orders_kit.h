// The kit's concepts with their handlers, for a program that runs it. Courier needs a Mailbox among the tools.
#pragma once

#include <vector>

#include "lang/run/binding.h"

namespace sluice::orders {

// In the order of suite.yaml, from which the build makes it.
std::vector<const lang::ConceptBinding*> concepts();

}  // namespace sluice::orders
