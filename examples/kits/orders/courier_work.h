// What Courier's effect works on, as it is journaled between begin and perform.
#pragma once

#include "courier.gen.h"

namespace sluice::orders::courier {

struct DeliverWork {
  std::string parcel;
  std::string address;
};
BOOST_DESCRIBE_STRUCT(DeliverWork, (), (parcel, address))

}  // namespace sluice::orders::courier
