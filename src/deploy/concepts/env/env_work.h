// What Env's one effect works on, as it is journaled between begin and perform.
#pragma once

#include "env.gen.h"

namespace sluice::deploy::env {

struct DoctorWork {
  std::string environment;
};
BOOST_DESCRIBE_STRUCT(DoctorWork, (), (environment))

}  // namespace sluice::deploy::env
