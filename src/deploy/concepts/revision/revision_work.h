// What Revision's one effect works on, as it is journaled between begin and perform.
#pragma once

#include "revision.gen.h"

namespace sluice::deploy::revision {

struct FetchWork {
  std::string revision;
  std::string environment;
  std::string source;
  std::string bundle;
  std::string config;
  std::string overrides;
  std::string revocation_list;
};
BOOST_DESCRIBE_STRUCT(FetchWork, (), (revision, environment, source, bundle, config, overrides, revocation_list))

}  // namespace sluice::deploy::revision
