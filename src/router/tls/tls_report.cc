// Counters of handshakes, and how long each certificate holds.
#include "router/tls/tls_report.h"

#include "base/json_text.h"

namespace sluice::router {
namespace {

constexpr int64_t kDay_ms = 86'400'000;

std::string headed(const std::string& name, const char* kind, const char* help) {
  return "# HELP " + name + " " + help + "\n# TYPE " + name + " " + kind + "\n";
}

}  // namespace

std::string tls_metrics(const TlsServer& tls, const std::string& environment, int64_t now_ms) {
  const TlsCounts& counts = tls.counts();
  auto count = [](const std::atomic<uint64_t>& each) { return std::to_string(each.load(std::memory_order_relaxed)); };
  std::string text = headed("sluice_router_tls_handshakes_total", "counter", "TLS handshakes that were completed");
  text += "sluice_router_tls_handshakes_total{" + environment + ",version=\"1.2\"} " + count(counts.tls12) + "\n";
  text += "sluice_router_tls_handshakes_total{" + environment + ",version=\"1.3\"} " + count(counts.tls13) + "\n";
  text += headed("sluice_router_tls_resumed_total", "counter", "TLS handshakes that resumed a session");
  text += "sluice_router_tls_resumed_total{" + environment + "} " + count(counts.resumed) + "\n";
  text += headed("sluice_router_tls_failed_total", "counter", "Connections that ended before their TLS handshake");
  text += "sluice_router_tls_failed_total{" + environment + "} " + count(counts.failed) + "\n";
  text += headed("sluice_router_certificate_days", "gauge", "Days until a certificate expires");
  if (const auto certificates = tls.shown()) {
    for (const Certificates::Kept& each : certificates->all()) {
      const int64_t days = (each.identity->facts().until_ms - now_ms) / kDay_ms;
      text += "sluice_router_certificate_days{" + environment + ",certificate=" + json_quoted(each.folder) + "} " +
              std::to_string(days) + "\n";
    }
  }
  return text;
}

}  // namespace sluice::router
