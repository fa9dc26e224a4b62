// What LocalCa's effects work on, as it is journaled between begin and perform.
#pragma once

#include "local_ca.gen.h"

namespace sluice::deploy::local_ca {

struct IssueWork {
  std::string certificate;
  std::vector<std::string> names;
};
BOOST_DESCRIBE_STRUCT(IssueWork, (), (certificate, names))

struct RenewWork {
  std::string certificate;
};
BOOST_DESCRIBE_STRUCT(RenewWork, (), (certificate))

}  // namespace sluice::deploy::local_ca
