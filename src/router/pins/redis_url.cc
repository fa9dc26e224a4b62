// Each part is cut off in turn; what is left must be nothing.
#include "router/pins/redis_url.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/ascii.h"
#include "router/address.h"

namespace sluice::router {
namespace {

constexpr std::string_view kTcpScheme = "redis://";
constexpr std::string_view kTlsScheme = "rediss://";
constexpr std::string_view kUnixScheme = "redis+unix://";
constexpr size_t kMaxUrl = 1'000;
constexpr unsigned kMaxDb = 1'000'000;

Error no_redis(std::string message) { return {.code = Code::invalid, .message = std::move(message)}; }

std::optional<unsigned> number_up_to(std::string_view text, unsigned most) {
  unsigned number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > most) return std::nullopt;
  return number;
}

// With %XX as the bytes that they stand for.
std::optional<std::string> decoded(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    unsigned byte = 0;
    const char* begin = text.data() + i + 1;
    if (text.size() - i < 3 || std::from_chars(begin, begin + 2, byte, 16).ptr != begin + 2) return std::nullopt;
    plain += static_cast<char>(byte);
    i += 2;
  }
  return plain;
}

// Takes USER:PASSWORD@ off the front, if it is there.
bool take_password(std::string_view& rest, RedisPlace& place) {
  size_t at = rest.rfind('@');
  if (at == std::string_view::npos) return true;
  std::string_view who = rest.substr(0, at);
  rest.remove_prefix(at + 1);
  size_t colon = who.find(':');
  if (colon == std::string_view::npos) return false;
  auto user = decoded(who.substr(0, colon)), password = decoded(who.substr(colon + 1));
  if (!user || !password || password->empty()) return false;
  place.user = *std::move(user);
  place.password = *std::move(password);
  return true;
}

bool is_host_name(std::string_view text) {
  auto fits = [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.'; };
  return !text.empty() && text.size() <= 253 && std::ranges::all_of(text, fits);
}

bool take_host(std::string_view text, RedisPlace& place) {
  std::string_view port;
  if (text.starts_with('[')) {
    size_t close = text.find(']');
    if (close == std::string_view::npos) return false;
    place.host = text.substr(1, close - 1);
    if (!parse_address("[" + place.host + "]:1")) return false;
    port = text.substr(close + 1);
  } else {
    place.host = text.substr(0, text.find(':'));
    if (!is_host_name(place.host)) return false;
    port = text.substr(place.host.size());
  }
  if (port.empty()) return true;
  auto number = number_up_to(port.substr(1), 65'535);
  if (port.front() != ':' || !number || *number == 0) return false;
  place.port = static_cast<uint16_t>(*number);
  return true;
}

}  // namespace

Result<RedisPlace> parse_redis_url(std::string_view url) {
  if (url.starts_with(kTlsScheme))
    return no_redis("a router speaks no TLS to Redis; expected redis:// or redis+unix://");
  bool at_unix = url.starts_with(kUnixScheme);
  if (url.size() > kMaxUrl || (!at_unix && !url.starts_with(kTcpScheme))) {
    return no_redis("expected redis:// or redis+unix://");
  }
  std::string_view rest = url.substr(at_unix ? kUnixScheme.size() : kTcpScheme.size());
  RedisPlace place;
  if (!take_password(rest, place)) return no_redis("before the @ a password stands behind a colon");
  std::string_view db;
  if (at_unix) {
    size_t mark = rest.find("?db=");
    if (mark != std::string_view::npos) db = rest.substr(mark + 4);
    place.path = rest.substr(0, mark);
    if (!parse_address("unix:" + place.path)) return no_redis("expected an absolute path of at most 107 bytes");
  } else {
    size_t slash = rest.find('/');
    if (slash != std::string_view::npos) db = rest.substr(slash + 1);
    if (!take_host(rest.substr(0, slash), place)) return no_redis("expected a host and perhaps a port");
  }
  if (!db.empty()) {
    auto number = number_up_to(db, kMaxDb);
    if (!number) return no_redis("a database of Redis is a number of at most " + std::to_string(kMaxDb));
    place.db = *number;
  }
  return place;
}

}  // namespace sluice::router
