// What Credentials' effects work on, as it is journaled between begin and perform.
#pragma once

#include "credentials.gen.h"

namespace sluice::deploy::credentials {

struct PublishWork {
  std::string environment;
  std::string deployer;
  std::vector<CredentialsRule> rules;
  std::string at;
};
BOOST_DESCRIBE_STRUCT(PublishWork, (), (environment, deployer, rules, at))

}  // namespace sluice::deploy::credentials
