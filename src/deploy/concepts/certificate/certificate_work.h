// What Certificate's effects work on, as it is journaled between begin and perform.
#pragma once

#include "certificate.gen.h"

namespace sluice::deploy::certificate {

struct ImportWork {
  std::string certificate;
  std::string chain;
  lang::Sealed key;
};
BOOST_DESCRIBE_STRUCT(ImportWork, (), (certificate, chain, key))

struct RemoveWork {
  std::string certificate;
};
BOOST_DESCRIBE_STRUCT(RemoveWork, (), (certificate))

struct InspectWork {
  int64_t now_ms = 0;
};
BOOST_DESCRIBE_STRUCT(InspectWork, (), (now_ms))

}  // namespace sluice::deploy::certificate
