// What GitSource's effect works on, as it is journaled between begin and perform.
#pragma once

#include <boost/describe.hpp>
#include <string>

namespace sluice::deploy::git_source {

struct FetchWork {
  std::string source, url, branch, path;
  std::string seen;   // the commit that was tried last
  std::string again;  // one that is to be tried once more; empty: none
};
BOOST_DESCRIBE_STRUCT(FetchWork, (), (source, url, branch, path, seen, again))

}  // namespace sluice::deploy::git_source
