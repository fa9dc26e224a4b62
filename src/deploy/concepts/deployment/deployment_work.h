// What Deployment's effects work on, as it is journaled between begin and perform: the policy to sign, and the one
// before, which must hold.
#pragma once

#include "deploy/revenue_policy.h"
#include "deployment.gen.h"

namespace sluice::deploy::deployment {

struct AddWork {
  RevenuePolicy policy;
};
BOOST_DESCRIBE_STRUCT(AddWork, (), (policy))

struct UpdateWork {
  RevenuePolicy policy;
  RevenuePolicy before;
  std::string envelope;  // of the one before
};
BOOST_DESCRIBE_STRUCT(UpdateWork, (), (policy, before, envelope))

struct ConfigureWork {
  std::string deployment;
  std::string environment;
  std::string bundle;
  std::vector<DeploymentValue> values;
};
BOOST_DESCRIBE_STRUCT(ConfigureWork, (), (deployment, environment, bundle, values))

struct ReadWork {
  std::string change;
  std::string source;
};
BOOST_DESCRIBE_STRUCT(ReadWork, (), (change, source))

}  // namespace sluice::deploy::deployment
