// Values are checked by hand-written rules that are narrower than the standards: what is refused here could mean
// something else to somebody.
#include "deploy/host_config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/ascii.h"
#include "base/basis_points.h"
#include "base/nearest.h"
#include "base/terminal.h"
#include "crypto/x509.h"
#include "router/address.h"
#include "router/pins/redis_url.h"

namespace sluice::deploy {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kKeys = {"region"sv,          "cluster_endpoint"sv,
                              "public_hostname"sv, "tenant_org_id"sv,
                              "redis_url"sv,       "listen_addr"sv,
                              "public_base_url"sv, kTrustedProxies,
                              kAccessLogShare,     kConnectionsPerAddress,
                              kContainerEngine,    kRevisionProofs,
                              kTlsRedirect,        kHsts,
                              kClientCa,           kClientCertificates,
                              kTrustedCallers,     kWorkloadAddress};
constexpr size_t kMaxValue = 500;
constexpr size_t kMaxAuthorities = 64 << 10;
constexpr size_t kMaxCallers = 8'000;
constexpr std::string_view kRuntimeScheme = "runtime://";
constexpr std::string_view kDiscovered = "discovered/";

std::optional<int64_t> read_within(std::string_view text, int64_t least, int64_t most) {
  int64_t count = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const bool sound = error == std::errc() && end == text.data() + text.size() && count >= least && count <= most;
  return sound ? std::optional(count) : std::nullopt;
}

bool in_name(char c) { return is_digit(c) || is_letter(c); }

bool is_port(std::string_view text) {
  int port = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port >= 1 && port <= 65535 && text[0] != '0';
}

bool is_host(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  while (true) {
    std::string_view label = text.substr(0, text.find('.'));
    if (label.empty() || label.size() > 63 || !in_name(label.front()) || !in_name(label.back())) return false;
    if (!std::ranges::all_of(label, [](char c) { return in_name(c) || c == '-'; })) return false;
    if (label.size() == text.size()) return true;
    text.remove_prefix(label.size() + 1);
  }
}

bool is_address(std::string_view text) {  // of IPv4, or of IPv6 without its brackets
  if (text.find(':') != std::string_view::npos) {
    return std::ranges::all_of(text, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || c == ':'; });
  }
  int parts = 0;
  while (true) {
    std::string_view part = text.substr(0, text.find('.'));
    int value = -1;
    auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size() || value < 0 || value > 255) return false;
    ++parts;
    if (part.size() == text.size()) return parts == 4;
    text.remove_prefix(part.size() + 1);
  }
}

// "host", "host:80", "[::1]:80"
bool is_authority(std::string_view text, bool port_needed) {
  std::string_view host = text, port;
  if (text.starts_with('[')) {
    size_t close = text.find(']');
    if (close == std::string_view::npos || !is_address(text.substr(1, close - 1))) return false;
    host = {};
    port = text.substr(close + 1);
    if (!port.empty() && !port.starts_with(':')) return false;
    if (!port.empty()) port.remove_prefix(1);
    if (port.empty() && text.back() == ':') return false;
  } else if (size_t colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (port.empty()) return false;
  }
  if (port.empty() && port_needed) return false;
  if (!port.empty() && !is_port(port)) return false;
  return text.starts_with('[') || is_host(host);
}

std::optional<std::string_view> after_scheme(std::string_view text, std::initializer_list<std::string_view> schemes) {
  for (std::string_view scheme : schemes) {
    if (text.starts_with(scheme)) return text.substr(scheme.size());
  }
  return std::nullopt;
}

Result<std::string> base_url(std::string_view text, std::string_view key) {
  auto rest = after_scheme(text, {"http://", "https://"});
  if (rest && rest->ends_with('/')) {
    rest->remove_suffix(1);
    text.remove_suffix(1);
  }
  if (rest && is_authority(*rest, false)) return std::string(text);
  return Error{.code = Code::invalid,
               .message = std::string(key) + " is http:// or https://, a host and perhaps a port, and nothing else"};
}

// By the router's own rule, as nobody else uses it; but without a password, as everybody may read a host's values.
Result<std::string> redis_url(std::string_view text) {
  if (text.find('@') != std::string_view::npos) {
    return Error{.code = Code::invalid,
                 .message =
                     "redis_url stays as it was: it holds no password, as a host's values are not secret, and "
                     "nothing else can hold one for it yet",
                 .next =
                     "name a Redis that asks for none, at a loopback address or a Unix socket: "
                     "redis_url=redis+unix:///run/redis/redis.sock"};
  }
  auto place = ::sluice::router::parse_redis_url(text);
  std::string fault = place ? "" : place.error().message;
  if (!std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; })) fault = "a URL has no such characters";
  if (fault.empty()) return std::string(text);
  return Error{.code = Code::invalid,
               .message = "redis_url stays as it was: " + fault,
               .next = "redis_url=redis://HOST[:PORT][/DATABASE] or redis_url=redis+unix:///PATH[?db=DATABASE]"};
}

}  // namespace

std::span<const std::string_view> host_keys() { return kKeys; }

Result<std::string> host_value(std::string_view key, std::string_view value) {
  auto refuse = [&](const std::string& is) {
    // What may hold a password is not repeated: messages go into logs.
    bool secret = value.find('@') != std::string_view::npos;
    return Error{
        .code = Code::invalid,
        .message = std::string(key) + " is " + is + (secret ? "" : ", not '" + printable(value.substr(0, 80)) + "'")};
  };
  if (std::ranges::find(kKeys, key) == kKeys.end()) {
    auto near = nearest(key, std::span<const std::string_view>(kKeys));
    return Error{.code = Code::invalid,
                 .message = "a host has no '" + printable(key.substr(0, 80)) + "'" +
                            (near ? "; did you mean " + std::string(*near) + "?" : "")};
  }
  if (value.empty()) return std::string();
  if (key == kClientCa) {
    auto authorities = value.size() <= kMaxAuthorities
                           ? crypto::read_certificates(value)
                           : Error{.code = Code::invalid, .message = "they have more than 64 kB"};
    if (authorities) return std::string(value);
    return Error{.code = Code::invalid,
                 .message = "client_ca is certificates of authorities as PEM: " + authorities.error().message,
                 .next = "client_ca=\"$(cat authorities.pem)\""};
  }
  if (const size_t most = key == kTrustedCallers ? kMaxCallers : kMaxValue; value.size() > most) {
    return refuse("at most " + std::to_string(most) + " characters");
  }
  if (key == "public_base_url" || key == "cluster_endpoint") return base_url(value, key);
  if (key == "redis_url") return redis_url(value);
  if (key == "public_hostname") {
    if (!is_host(value)) return refuse("a host name");
  } else if (key == kTrustedProxies) {
    for (const std::string& each : split_list(value)) {
      if (!::sluice::router::parse_network(each)) return refuse("addresses and networks, such as 10.0.0.0/8,::1");
    }
  } else if (key == kAccessLogShare) {
    if (!parse_basis_points(value)) return refuse("a share of the requests, such as 1%");
  } else if (key == kConnectionsPerAddress) {
    if (!read_connections(value)) return refuse("a number of connections from 1 to 1000000, such as 200");
  } else if (key == kContainerEngine) {
    if (!value.starts_with('/') && !value.starts_with("unix:///")) {
      return refuse("the path of a socket of this machine, such as /run/podman/podman.sock");
    }
  } else if (key == kWorkloadAddress) {
    // Others must be able to connect to it, so it is no name, and not all addresses at once.
    if (!is_address(value) || value.find(':') != std::string_view::npos || value == "0.0.0.0") {
      return refuse("an IPv4 address of this machine, such as 10.0.0.5");
    }
  } else if (key == kRevisionProofs) {
    if (value != "digest" && value != "signature") return refuse("digest or signature");
  } else if (key == kClientCertificates) {
    if (value != "wanted" && value != "required") return refuse("wanted or required");
  } else if (key == kTrustedCallers) {
    for (const std::string& each : split_list(value)) {
      const bool plain = std::ranges::all_of(each, [](char c) { return c > ' ' && c < '\x7f'; });
      if (!each.starts_with("spiffe://") || !plain) return refuse("SPIFFE IDs, such as spiffe://shop.example/tester");
    }
  } else if (key == kTlsRedirect) {
    if (value != "on" && value != "off") return refuse("on or off");
  } else if (key == kHsts) {
    if (!read_hsts(value)) return refuse("0 to 100000000 seconds, such as 31536000");
  } else if (key == "listen_addr") {
    size_t colon = value.rfind(':');
    std::string_view host = value.substr(0, colon == std::string_view::npos ? 0 : colon);
    bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    bool sound = bracketed ? is_address(host.substr(1, host.size() - 2)) && host.find(':') != std::string_view::npos
                           : is_address(host) && host.find(':') == std::string_view::npos;
    if (!sound || !is_port(value.substr(colon + 1))) return refuse("an address and a port, such as 127.0.0.1:8080");
  } else if (!std::ranges::all_of(value, [](char c) { return in_name(c) || c == '-' || c == '_' || c == '.'; }) ||
             value.size() > 100) {
    return refuse("1 to 100 letters, digits, -, _ and .");
  }
  return std::string(value);
}

std::pair<std::string, std::string> unfit_together(const std::map<std::string, std::string, std::less<>>& values) {
  if (values.contains(kClientCa)) return {};
  for (std::string_view key : {kClientCertificates, kTrustedCallers}) {
    if (values.contains(key)) return {std::string(key), std::string(key) + " needs client_ca beside it"};
  }
  return {};
}

std::optional<int64_t> read_connections(std::string_view text) { return read_within(text, 1, 1'000'000); }

std::optional<int64_t> read_hsts(std::string_view text) { return read_within(text, 0, 100'000'000); }

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const size_t comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

Result<std::string> discovered_key(std::string_view reference, std::string_view environment) {
  auto refuse = [&] {
    return Error{.code = Code::invalid,
                 .message = "'" + printable(reference.substr(0, 120)) + "' is not runtime://" +
                            std::string(environment) + "/discovered/…"};
  };
  std::string_view rest = reference;
  if (!rest.starts_with(kRuntimeScheme)) return refuse();
  rest.remove_prefix(kRuntimeScheme.size());
  if (!rest.starts_with(environment)) return refuse();
  rest.remove_prefix(environment.size());
  if (!rest.starts_with('/')) return refuse();
  rest.remove_prefix(1);
  if (!rest.starts_with(kDiscovered) || rest.size() == kDiscovered.size()) return refuse();
  return std::string(rest.substr(kDiscovered.size()));
}

}  // namespace sluice::deploy
