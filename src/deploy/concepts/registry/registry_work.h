// What Registry's effects work on, as it is journaled between begin and perform.
#pragma once

#include "registry.gen.h"

namespace sluice::deploy::registry {

struct ProveWork {
  std::string host;
  lang::Sealed credentials;
};
BOOST_DESCRIBE_STRUCT(ProveWork, (), (host, credentials))

struct FetchWork {
  std::string reference;
  std::optional<lang::Sealed> credentials;
};
BOOST_DESCRIBE_STRUCT(FetchWork, (), (reference, credentials))

}  // namespace sluice::deploy::registry
