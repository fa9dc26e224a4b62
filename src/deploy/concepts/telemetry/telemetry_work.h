// What Telemetry's effect works on, as it is journaled between begin and perform.
#pragma once

#include "deploy/telemetry_backends.h"
#include "telemetry.gen.h"

namespace sluice::deploy::telemetry {

struct DeployMarkerWork {
  Marker marker;
  std::vector<MarkerBackend> backends;  // that do not have it yet
};
BOOST_DESCRIBE_STRUCT(DeployMarkerWork, (), (marker, backends))

}  // namespace sluice::deploy::telemetry
