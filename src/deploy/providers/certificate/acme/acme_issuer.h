// The tool by which Acme speaks to authorities: tests have one that does what they say.
#pragma once

#include <functional>

#include "acme/issue.h"

namespace sluice::deploy {

struct AcmeIssuer {
  std::function<Result<::sluice::acme::Issued>(const ::sluice::acme::Wish&, const ::sluice::acme::Place&,
                                               const ::sluice::acme::Hooks&)>
      issue = ::sluice::acme::issue;
};

}  // namespace sluice::deploy
