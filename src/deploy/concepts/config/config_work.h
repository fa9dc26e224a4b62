// What Config's effects work on, as it is journaled between begin and perform.
#pragma once

#include "config.gen.h"

namespace sluice::deploy::config {

struct SetUpWork {
  std::string environment;
  std::string bundle;
  std::vector<ConfigValue> values;
};
BOOST_DESCRIBE_STRUCT(SetUpWork, (), (environment, bundle, values))

}  // namespace sluice::deploy::config
