// Where two values differ, by the paths of members. Lists are compared whole.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "base/document.h"

namespace sluice::promote {

struct Difference {
  std::string pointer;  // empty: the whole value
  json::value left, right;
};

std::vector<Difference> differences_of(const json::value& left, const json::value& right);

}  // namespace sluice::promote
