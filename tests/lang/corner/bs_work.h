// What the effects of bs.concept work on.
#pragma once

#include "bs.gen.h"

namespace sluice::seed::bs {

struct GeneratedWork {
  std::string what;
};
BOOST_DESCRIBE_STRUCT(GeneratedWork, (), (what))

struct ShipWork {
  std::string what;
};
BOOST_DESCRIBE_STRUCT(ShipWork, (), (what))

struct WrapActionWork {
  std::string what;
};
BOOST_DESCRIBE_STRUCT(WrapActionWork, (), (what))

}  // namespace sluice::seed::bs
