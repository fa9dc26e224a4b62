// What K8sCredentials' effects work on, as it is journaled between begin and perform.
#pragma once

#include "k8s_credentials.gen.h"

namespace sluice::deploy::k8s_credentials {

struct InspectWork {
  std::string environment;
  std::optional<lang::Sealed> credential;
};
BOOST_DESCRIBE_STRUCT(InspectWork, (), (environment, credential))

struct IssueWork {
  std::string environment;
  std::optional<lang::Sealed> admin;
  std::optional<lang::Sealed> credential;
};
BOOST_DESCRIBE_STRUCT(IssueWork, (), (environment, admin, credential))

}  // namespace sluice::deploy::k8s_credentials
