// What EnvProvider's effects work on, as it is journaled between begin and perform.
#pragma once

#include "env_provider.gen.h"

namespace sluice::deploy::env_provider {

struct FetchWork {
  std::string environment;
  std::string name;
  std::optional<std::string> version;
};
BOOST_DESCRIBE_STRUCT(FetchWork, (), (environment, name, version))

struct HeadWork {
  std::string environment;
  std::string name;
};
BOOST_DESCRIBE_STRUCT(HeadWork, (), (environment, name))

}  // namespace sluice::deploy::env_provider
