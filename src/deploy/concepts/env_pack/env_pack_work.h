// What EnvPack's effects work on, as it is journaled between begin and perform.
#pragma once

#include "env_pack.gen.h"

namespace sluice::deploy::env_pack {

struct InstallWork {
  std::string source;
};
BOOST_DESCRIBE_STRUCT(InstallWork, (), (source))

struct UninstallWork {
  std::string pack;
  std::string digest;
};
BOOST_DESCRIBE_STRUCT(UninstallWork, (), (pack, digest))

}  // namespace sluice::deploy::env_pack
