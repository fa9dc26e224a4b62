// The header fields that the router itself reads, removes or writes, told apart once while a head is parsed.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::router {

enum class Field : uint8_t {
  other,
  host,
  content_length,
  transfer_encoding,
  connection,
  hop_by_hop,  // Keep-Alive, Proxy-Connection, TE, Proxy-Authenticate, Proxy-Authorization, HTTP2-Settings
  upgrade,
  expect,
  cookie,
  accept,
  content_type,
  x_forwarded_for,
  x_forwarded_proto,
  x_forwarded_host,
  x_forwarded_port,
  x_real_ip,
  forwarded,
  traceparent,
  tracestate,
  sluice_deployment,
  sluice_revision,
  sluice_token,
  sluice_tenant,
  sluice_team,
  sluice_client_id,
  strict_transport_security,
};

Field field_named(std::string_view name);

// `lower` is in small letters; only ASCII counts.
bool equal_ignoring_case(std::string_view text, std::string_view lower);

// Characters of a token (RFC 9110, 5.6.2).
bool is_token_char(char c);
bool is_token(std::string_view text);

// The text without blanks and tabs at its ends.
std::string_view without_blanks(std::string_view text);

// Takes the next element of a comma-separated list, without blanks; empty elements are passed over. False at its end.
bool next_element(std::string_view& list, std::string_view& element);

}  // namespace sluice::router
