// What Secret's effects work on, as it is journaled between begin and perform.
#pragma once

#include "secret.gen.h"

namespace sluice::deploy::secret {

// All that is needed to gather again, should the sealed object be gone: the handles lead to the providers' effects.
struct CombineWork {
  std::vector<SecretGatheredItem> gathered;
};
BOOST_DESCRIBE_STRUCT(CombineWork, (), (gathered))

}  // namespace sluice::deploy::secret
