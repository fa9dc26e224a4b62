// What LocalCredentials' effects work on, as it is journaled between begin and perform.
#pragma once

#include "local_credentials.gen.h"

namespace sluice::deploy::local_credentials {

struct InspectWork {
  std::string environment;
};
BOOST_DESCRIBE_STRUCT(InspectWork, (), (environment))

struct AdviseWork {
  std::string environment;
};
BOOST_DESCRIBE_STRUCT(AdviseWork, (), (environment))

}  // namespace sluice::deploy::local_credentials
