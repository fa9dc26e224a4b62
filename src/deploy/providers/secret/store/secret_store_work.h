// What SecretStore's effects work on, as it is journaled between begin and perform.
#pragma once

#include "secret_store.gen.h"

namespace sluice::deploy::secret_store {

struct FetchWork {
  std::string environment;
  std::string name;
  int64_t version = 0;
};
BOOST_DESCRIBE_STRUCT(FetchWork, (), (environment, name, version))

// The number of a version is chosen in begin, so that a repeat finds what an attempt before has kept.
struct PutWork {
  std::string environment;
  std::string name;
  int64_t version = 0;
  std::optional<lang::Sealed> value;
};
BOOST_DESCRIBE_STRUCT(PutWork, (), (environment, name, version, value))

struct RotateWork {
  PutWork put;
};
BOOST_DESCRIBE_STRUCT(RotateWork, (), (put))

struct RemoveWork {
  std::string environment;
  std::string name;
  int64_t newest = 0;
};
BOOST_DESCRIBE_STRUCT(RemoveWork, (), (environment, name, newest))

struct RekeyWork {
  std::string environment;
  std::string key_file;
  std::string key_command;
};
BOOST_DESCRIBE_STRUCT(RekeyWork, (), (environment, key_file, key_command))

}  // namespace sluice::deploy::secret_store
