// Metrics in the text format that Prometheus reads, from families as the view `metrics` has them.
#pragma once

#include <boost/json/array.hpp>
#include <string>

namespace sluice::api {

std::string metrics_text(const boost::json::array& families);

}  // namespace sluice::api
