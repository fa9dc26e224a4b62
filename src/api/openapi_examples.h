// Examples for the description of the API, made from its schemas: what a value of each may look like.
#pragma once

#include <boost/json.hpp>

namespace sluice::api {

// Gives an example to each body, answer and parameter of an OpenAPI document that has none, but where anything may be
// there.
void add_examples(boost::json::object& document);

}  // namespace sluice::api
