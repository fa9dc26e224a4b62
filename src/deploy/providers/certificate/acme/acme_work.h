// What Acme's effects work on, as it is journaled between begin and perform.
#pragma once

#include "acme.gen.h"

namespace sluice::deploy::acme {

struct IssueWork {
  std::string certificate;
  std::vector<std::string> names;
  std::string directory, email, challenge, roots, binding_id;
  std::optional<lang::Sealed> binding_key;
};
BOOST_DESCRIBE_STRUCT(IssueWork, (), (certificate, names, directory, email, challenge, roots, binding_id, binding_key))

struct RenewWork {
  std::string certificate;
  std::string directory, email, challenge, roots;
};
BOOST_DESCRIBE_STRUCT(RenewWork, (), (certificate, directory, email, challenge, roots))

}  // namespace sluice::deploy::acme
