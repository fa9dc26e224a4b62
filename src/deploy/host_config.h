// What an operator may say of an environment's host, key by key, and what each value must be.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sluice::deploy {

inline constexpr std::string_view kTrustedProxies = "trusted_proxies";   // "10.0.0.0/8,::1": networks and addresses
inline constexpr std::string_view kAccessLogShare = "access_log_share";  // "1%", of the requests
inline constexpr std::string_view kConnectionsPerAddress = "connections_per_address";  // "200", to a router
inline constexpr std::string_view kRevisionProofs = "revision_proofs";  // "digest" or "signature", in routers' tables

inline constexpr std::string_view kTlsRedirect = "tls_redirect";  // "on": requests in the clear are sent to https
inline constexpr std::string_view kHsts = "hsts_s";               // "31536000": for how long browsers come by TLS alone
inline constexpr std::string_view kClientCa = "client_ca";        // PEM: who signs the certificates that clients show
inline constexpr std::string_view kClientCertificates = "client_certificates";  // "wanted" or "required"
inline constexpr std::string_view kTrustedCallers = "trusted_callers";  // "spiffe://…,…": who may say which revision
inline constexpr std::string_view kContainerEngine = "container_engine";  // "/run/podman/podman.sock"
inline constexpr std::string_view kWorkloadAddress = "workload_address";  // "10.0.0.5": where ports are published

// region cluster_endpoint public_hostname tenant_org_id redis_url listen_addr public_base_url trusted_proxies
// access_log_share connections_per_address container_engine revision_proofs tls_redirect hsts_s client_ca
// client_certificates trusted_callers workload_address
std::span<const std::string_view> host_keys();

// The value as it is kept (a trailing slash of a base URL is left out), or why it cannot be one. An empty value, which
// takes one away, is always sound. `invalid` for keys that are none.
Result<std::string> host_value(std::string_view key, std::string_view value);

// What is wrong with values that are sound each for itself: the key, and why. Empty: nothing.
std::pair<std::string, std::string> unfit_together(const std::map<std::string, std::string, std::less<>>& values);

// "200" is 200; nothing if it is not from 1 to 1,000,000.
std::optional<int64_t> read_connections(std::string_view text);

// "31536000" is 31,536,000; nothing if it is not from 0 to 100,000,000.
std::optional<int64_t> read_hsts(std::string_view text);

// "a,b" is {"a", "b"}.
std::vector<std::string> split_list(std::string_view text);

// "runtime://local/discovered/alb_dns" leads to "alb_dns" in local; an error for what is no such reference, or one of
// another environment.
Result<std::string> discovered_key(std::string_view reference, std::string_view environment);

}  // namespace sluice::deploy
