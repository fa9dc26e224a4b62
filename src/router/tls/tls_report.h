// What the router says of its TLS: lines for Prometheus.
#pragma once

#include <cstdint>
#include <string>

#include "router/tls/tls_server.h"

namespace sluice::router {

// `environment` is a label that all lines have.
std::string tls_metrics(const TlsServer& tls, const std::string& environment, int64_t now_ms);

}  // namespace sluice::router
