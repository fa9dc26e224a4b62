// What VaultProvider's effects work on, as it is journaled between begin and perform.
#pragma once

#include "vault_provider.gen.h"

namespace sluice::deploy::vault_provider {

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

struct PutWork {
  std::string environment;
  std::string name;
  std::optional<lang::Sealed> value;
};
BOOST_DESCRIBE_STRUCT(PutWork, (), (environment, name, value))

struct RemoveWork {
  std::string environment;
  std::string name;
};
BOOST_DESCRIBE_STRUCT(RemoveWork, (), (environment, name))

}  // namespace sluice::deploy::vault_provider
