// A name is told apart by its length first, so most lines cost one comparison or none.
#include "router/http1/fields.h"

#include <array>

#include "base/ascii.h"

namespace sluice::router {
namespace {

constexpr std::array<bool, 256> kTokenChars = [] {
  std::array<bool, 256> table{};
  for (int c = 0; c < 256; ++c) {
    char each = static_cast<char>(c);
    table[c] = c < 128 && (is_letter(each) || is_digit(each));
  }
  for (char c : std::string_view("!#$%&'*+-.^_`|~")) table[static_cast<uint8_t>(c)] = true;
  return table;
}();

Field if_named(std::string_view name, std::string_view lower, Field field) {
  return equal_ignoring_case(name, lower) ? field : Field::other;
}

}  // namespace

bool equal_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if ((is_upper(c) ? static_cast<char>(c | 0x20) : c) != lower[i]) return false;
  }
  return true;
}

bool is_token_char(char c) { return kTokenChars[static_cast<uint8_t>(c)]; }

bool is_token(std::string_view text) {
  for (char c : text) {
    if (!is_token_char(c)) return false;
  }
  return !text.empty();
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool next_element(std::string_view& list, std::string_view& element) {
  while (!list.empty()) {
    size_t comma = list.find(',');
    element = without_blanks(list.substr(0, comma));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    if (!element.empty()) return true;
  }
  return false;
}

Field field_named(std::string_view name) {
  switch (name.size()) {
    case 2:
      return if_named(name, "te", Field::hop_by_hop);
    case 4:
      return if_named(name, "host", Field::host);
    case 6:
      if ((name[0] | 0x20) == 'c') return if_named(name, "cookie", Field::cookie);
      if ((name[0] | 0x20) == 'a') return if_named(name, "accept", Field::accept);
      return if_named(name, "expect", Field::expect);
    case 7:
      return if_named(name, "upgrade", Field::upgrade);
    case 9:
      if ((name[0] | 0x20) == 'x') return if_named(name, "x-real-ip", Field::x_real_ip);
      return if_named(name, "forwarded", Field::forwarded);
    case 10:
      if ((name[0] | 0x20) == 'c') return if_named(name, "connection", Field::connection);
      if ((name[0] | 0x20) == 't') return if_named(name, "tracestate", Field::tracestate);
      return if_named(name, "keep-alive", Field::hop_by_hop);
    case 11:
      return if_named(name, "traceparent", Field::traceparent);
    case 12:
      return if_named(name, "content-type", Field::content_type);
    case 13:
      return if_named(name, "x-sluice-team", Field::sluice_team);
    case 14:
      if ((name[0] | 0x20) == 'c') return if_named(name, "content-length", Field::content_length);
      return if_named(name, "http2-settings", Field::hop_by_hop);
    case 15:
      if (equal_ignoring_case(name, "x-sluice-tenant")) return Field::sluice_tenant;
      return if_named(name, "x-forwarded-for", Field::x_forwarded_for);
    case 16:
      if ((name[0] | 0x20) == 'p') return if_named(name, "proxy-connection", Field::hop_by_hop);
      if (equal_ignoring_case(name, "x-forwarded-host")) return Field::x_forwarded_host;
      return if_named(name, "x-forwarded-port", Field::x_forwarded_port);
    case 17:
      if ((name[0] | 0x20) == 't') return if_named(name, "transfer-encoding", Field::transfer_encoding);
      if (equal_ignoring_case(name, "x-forwarded-proto")) return Field::x_forwarded_proto;
      return if_named(name, "x-sluice-revision", Field::sluice_revision);
    case 18:
      if ((name[0] | 0x20) == 'x') return if_named(name, "x-sluice-client-id", Field::sluice_client_id);
      return if_named(name, "proxy-authenticate", Field::hop_by_hop);
    case 19:
      if ((name[0] | 0x20) == 'p') return if_named(name, "proxy-authorization", Field::hop_by_hop);
      return if_named(name, "x-sluice-deployment", Field::sluice_deployment);
    case 20:
      return if_named(name, "x-sluice-debug-token", Field::sluice_token);
    case 25:
      return if_named(name, "strict-transport-security", Field::strict_transport_security);
    default:
      return Field::other;
  }
}

}  // namespace sluice::router
