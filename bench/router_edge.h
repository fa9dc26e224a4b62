// The edge: TLS, HTTP/2, handshakes, idle connections, many certificates, floods and large bodies, through the router
// and its peers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "bench/router_proxies.h"
#include "crypto/ed25519.h"

namespace sluice::bench {

using Proxies = std::vector<std::unique_ptr<Proxy>>;

struct EdgeBench {
  Report& report;
  ProxyStage& stage;
  const crypto::PrivateKey& key;
  std::vector<std::string> upstreams;  // that answer 1 kB
  std::string cookies_file;            // of visitors who have been there before
  int rounds;

  Proxies start_secure();
  void measure_idle_tls();
  void measure_tls();
  void measure_certificates();
  void measure_floods();
  void measure_large_bodies();
};

double median_of(std::vector<double> series);

}  // namespace sluice::bench
