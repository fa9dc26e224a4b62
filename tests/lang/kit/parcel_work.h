// What Parcel's effects work on, as it is journaled between begin and perform.
#pragma once

#include "parcel.gen.h"

namespace sluice::kit::parcel {

struct ShipWork {
  std::string carrier;
  lang::Sealed token;
};
BOOST_DESCRIBE_STRUCT(ShipWork, (), (carrier, token))

struct RecallWork {
  std::optional<std::string> tracking;
};
BOOST_DESCRIBE_STRUCT(RecallWork, (), (tracking))

}  // namespace sluice::kit::parcel
