// What Env's effects work on, as it is journaled between begin and perform.
#pragma once

#include "env.gen.h"

namespace sluice::deploy::env {

struct DoctorWork {
  std::string environment;
};
BOOST_DESCRIBE_STRUCT(DoctorWork, (), (environment))

struct PlanWork {
  std::string apply;
  std::string environment;
  std::string document;
  bool prune = false;
};
BOOST_DESCRIBE_STRUCT(PlanWork, (), (apply, environment, document, prune))

}  // namespace sluice::deploy::env
