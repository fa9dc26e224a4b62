// What Prometheus is told of handshakes and certificates.
#include "router/tls/tls_report.h"

#include <gtest/gtest.h>

#include "base/real_disk.h"
#include "router/testing_tls.h"

namespace sluice::router {
namespace tls_report_test {

TEST(TlsReport, CountsHandshakesAndDays) {
  RealDisk disk;
  RealClock clock;
  RealRandom random;
  TestingFolder folder;
  TlsServer server(TicketSecret::make(random, clock.wall_ms() / 1'000), clock);
  constexpr int64_t kTenDays_ms = 10 * int64_t{86'400'000};
  write_certificate(folder, "a", {.names = {"a.example"}, .until_ms = clock.wall_ms() + kTenDays_ms + 60'000});
  std::vector<LeftOut> faults;
  server.show(*Certificates::read(disk, folder.path(), clock.wall_ms(), nullptr, faults));
  shake_hands(server, {.name = "a.example", .to_send = "hi"});
  shake_hands(server, {.name = "b.example"});
  const std::string text = tls_metrics(server, "environment=\"local\"", clock.wall_ms());
  for (const char* line : {"sluice_router_tls_handshakes_total{environment=\"local\",version=\"1.3\"} 1\n",
                           "sluice_router_tls_handshakes_total{environment=\"local\",version=\"1.2\"} 0\n",
                           "sluice_router_tls_resumed_total{environment=\"local\"} 0\n",
                           "sluice_router_tls_failed_total{environment=\"local\"} 1\n",
                           "sluice_router_certificate_days{environment=\"local\",certificate=\"a\"} 10\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

}  // namespace tls_report_test
}  // namespace sluice::router
