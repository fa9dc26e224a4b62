// The proxies of the benchmark, each before upstreams of one's choice, and what they make of naive applications.
#pragma once

#include <sys/resource.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/bench.h"
#include "bench/folder.h"
#include "bench/router_stage.h"
#include "crypto/ed25519.h"

namespace sluice::bench {

struct Proxy {
  Proxy(int at, Child running, std::string socket = "")
      : port(at), process(std::move(running)), control(std::move(socket)) {}

  std::string name;
  int port;
  Child process;
  std::string control;  // of a router
  std::vector<double> cost_us, p99_us, rate;
};

// How clients come.
enum class Front : uint8_t { clear, tls };

// A certificate that signs itself, in PEM.
struct CertificateFiles {
  std::string chain, key;
};
CertificateFiles make_certificate_of(const std::vector<std::string>& names);
// As the router reads them.
void write_certificate(const std::string& folder, const CertificateFiles& files);

// Upstreams are "127.0.0.1:PORT", of a router also "unix:PATH"; there are two, which may be the same.
class ProxyStage {
 public:
  explicit ProxyStage(rlim_t files) : files_(files) {}

  // By its settings in bench/router/; nothing if it is not installed. `certificates`: what it shows, if not the one
  // that is made here.
  std::unique_ptr<Proxy> peer(const std::string& settings, std::vector<std::string> words,
                              const std::vector<std::string>& upstreams, Front front = Front::clear,
                              const std::string& certificates = "");
  // Nothing if it does not start.
  std::unique_ptr<Proxy> router(const crypto::PrivateKey& key, const std::vector<std::string>& upstreams,
                                Front front = Front::clear, const std::string& certificates = "");

  // How many HAProxy takes, by its own account: two files for each.
  int connections() const { return static_cast<int>(std::min<rlim_t>(10'500, (files_ - 300) / 2)); }
  std::string path(const std::string& name) { return folder_.path(name); }

 private:
  std::string tls_words(const std::string& program, Front front, const std::string& certificates);

  rlim_t files_;  // that a process may have open
  int started_ = 0;
  DiskFolder folder_;
};

// An application that writes an answer in two pieces, and one that answers HEAD with a body, behind HAProxy, nginx and
// the router.
void measure_applications(Report& report, ProxyStage& stage, const crypto::PrivateKey& key,
                          const std::string& strangers_file);

}  // namespace sluice::bench
