// What Release's effects work on, as it is journaled between begin and perform.
#pragma once

#include "release.gen.h"

namespace sluice::deploy::release {

struct ComposeWork {
  std::string component;
  std::string image;
  std::optional<lang::Sealed> credentials;
};
BOOST_DESCRIBE_STRUCT(ComposeWork, (), (component, image, credentials))

struct PutWork {
  std::vector<ReleaseRelease> releases;
};
BOOST_DESCRIBE_STRUCT(PutWork, (), (releases))

struct GcWork {
  bool dry_run = false;
};
BOOST_DESCRIBE_STRUCT(GcWork, (), (dry_run))

}  // namespace sluice::deploy::release
