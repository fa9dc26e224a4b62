// A counter whose handlers can be made to misbehave, for tests of conformance.
#pragma once

#include <cstdint>
#include <string_view>

#include "lang/run/binding.h"

namespace sluice::lang {

// The concept.
extern const std::string_view kCounter;

// How the handlers misbehave.
struct CounterFault {
  int64_t add_too_much = 0;
  bool accept_negative = false;
  bool forget_counter = false;
};

ConceptBinding counter(const CounterFault& fault);

}  // namespace sluice::lang
