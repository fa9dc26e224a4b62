// The config that a program gets: what it was given, completed by the defaults of the questions that its bundle.yaml
// asks, and checked against them. What nobody asked for is passed on as it is.
#pragma once

#include <boost/json/object.hpp>

#include "base/result.h"
#include "bundle/manifest/manifest.h"

namespace sluice::bundle {

// `invalid`, with the setting's path, for one that is missing, of another type, or none of the choices.
Result<json::object> complete_answers(const Manifest& manifest, json::object given);

}  // namespace sluice::bundle
