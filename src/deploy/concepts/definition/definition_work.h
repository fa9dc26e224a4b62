// What Definition's effect works on, as it is journaled between begin and perform.
#pragma once

#include "definition.gen.h"

namespace sluice::deploy::definition {

struct ReadWork {
  std::string apply;
  std::vector<DefinitionDocument> documents;
};
BOOST_DESCRIBE_STRUCT(ReadWork, (), (apply, documents))

}  // namespace sluice::deploy::definition
