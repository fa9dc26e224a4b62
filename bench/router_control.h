// The router's tables and its control socket, as the benchmark needs them (docs/internals/router.md).
#pragma once

#include <string>
#include <vector>

#include "crypto/ed25519.h"

namespace sluice::bench {

// The deployment that the load asks for: r2 and r1, split 1 to 99 unless said otherwise.
std::string deployment_text(const std::vector<std::string>& replicas, int weight_bps = 100);
// `count` deployments of `hosts` routes each.
std::string bulk_text(int count, int hosts);
std::string table_text(int generation, const std::string& deployments);

// A request to the control socket: its line and what follows.
std::string load_request(const crypto::PrivateKey& key, int generation, const std::string& table);
std::string patch_request(const crypto::PrivateKey& key, int generation, const std::string& deployment);

class ControlSocket {
 public:
  explicit ControlSocket(const std::string& path);
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  // Throws unless it is acknowledged; the answer's line.
  std::string acknowledged(const std::string& request);

 private:
  int fd_;
};

}  // namespace sluice::bench
