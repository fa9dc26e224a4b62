// The API described in OpenAPI 3.1, made from what there is: routes, the kit's actions, and views. Nothing in it is
// written a second time.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "lang/check/check.h"
#include "lang/run/view.h"

namespace sluice::api {

namespace json = boost::json;

struct DescribedRoute {
  std::string method;             // "GET"
  std::vector<std::string> path;  // "*" is anything
  std::string summary;
};

struct Described {
  std::string version;
  const lang::CheckedKit& kit;
  std::vector<const lang::ViewWords*> views;
  std::vector<DescribedRoute> routes;  // those of actions and views are told apart by what they lead to
};

json::object openapi_document(const Described& described);

}  // namespace sluice::api
