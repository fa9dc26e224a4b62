// Values were checked when they were set (host_config.h).
#include "deploy/views/router_settings.h"

#include "base/basis_points.h"
#include "config.gen.h"
#include "deploy/host_config.h"

namespace sluice::deploy::views {

void put_router_settings(const States& states, const std::string& environment, ::sluice::router::TableDocument& table) {
  for (const auto& each : states.config().values(config::ConfigId(environment)).values()) {
    if (each.key == kTrustedProxies) table.trusted_proxies = split_list(each.value);
    if (each.key == kConnectionsPerAddress) table.connections_per_address = read_connections(each.value);
    if (each.key == kAccessLogShare) {
      if (auto share = parse_basis_points(each.value)) table.access_log_bps = *share;
    }
  }
}

}  // namespace sluice::deploy::views
