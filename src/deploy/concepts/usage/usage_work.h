// What Usage's one effect works on: nothing but the routers that there are.
#pragma once

#include "usage.gen.h"

namespace sluice::deploy::usage {

struct CollectWork {};
BOOST_DESCRIBE_STRUCT(CollectWork, (), ())

}  // namespace sluice::deploy::usage
