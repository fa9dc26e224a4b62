// Values were checked when they were set (host_config.h).
#include "deploy/views/router_settings.h"

#include "base/basis_points.h"
#include "config.gen.h"
#include "deploy/host_config.h"
#include "revision.gen.h"

namespace sluice::deploy::views {

namespace {

// What each revision is, for routers that are bound to some (router/table/bounds.h).
void put_proofs(const States& states, bool with_signatures, ::sluice::router::TableDocument& table) {
  for (auto& deployment : table.deployments) {
    for (auto& document : deployment.revisions) {
      auto record = states.revision().get(revision::RevisionId(document.id));
      if (!record || record->treeDigest.empty()) continue;
      document.digest = record->treeDigest;
      if (with_signatures && !record->sidecar.empty()) document.statement = record->sidecar;
    }
  }
}

}  // namespace

void put_router_settings(const States& states, const std::string& environment, ::sluice::router::TableDocument& table) {
  ::sluice::router::TlsDocument tls;
  for (const auto& each : states.config().values(config::ConfigId(environment)).values()) {
    if (each.key == kTrustedProxies) table.trusted_proxies = split_list(each.value);
    if (each.key == kConnectionsPerAddress) table.connections_per_address = read_connections(each.value);
    if (each.key == kAccessLogShare) {
      if (auto share = parse_basis_points(each.value)) table.access_log_bps = *share;
    }
    if (each.key == kTlsRedirect && each.value == "on") tls.redirect = true;
    if (each.key == kHsts) tls.hsts_s = read_hsts(each.value).value_or(0);
    if (each.key == kClientCa) {
      tls.client_ca = each.value;
      // Who says whose certificates count means that there must be one.
      if (!tls.client) tls.client = ::sluice::router::ClientCertificate::required;
    }
    if (each.key == kClientCertificates && each.value == "wanted")
      tls.client = ::sluice::router::ClientCertificate::wanted;
    if (each.key == kTrustedCallers) tls.trusted_callers = split_list(each.value);
    if (each.key == kRevisionProofs) put_proofs(states, each.value == "signature", table);
  }
  if (!tls.redirect && tls.hsts_s == 0 && !tls.client_ca) return;
  for (auto& deployment : table.deployments) {
    deployment.tls = tls;
    if (tls.redirect) deployment.stickiness.secure = true;
  }
}

}  // namespace sluice::deploy::views
