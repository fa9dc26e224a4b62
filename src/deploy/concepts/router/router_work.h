// What Router's effects work on, as it is journaled between begin and perform. The table itself is never journaled: it
// has the keys of cookies, and it is compiled from what holds when it is sent.
#pragma once

#include "router.gen.h"

namespace sluice::deploy::router {

struct PublishWork {
  std::string environment;
  int64_t generation = 0;  // at least
};
BOOST_DESCRIBE_STRUCT(PublishWork, (), (environment, generation))

struct DrainWork {
  std::string environment;
  std::string deployment;
  std::string revision;
  int64_t seconds = 0;
};
BOOST_DESCRIBE_STRUCT(DrainWork, (), (environment, deployment, revision, seconds))

}  // namespace sluice::deploy::router
