// The heads of HTTP/1.1 messages (RFC 9112), read strictly: what can be read in two ways is bad, so that no server
// behind the router can read it otherwise than the router did.
//
// A head is parsed from its beginning each time, as far as there is input: complete, incomplete (call again with more)
// or bad, in which case `fault` says why. Views lead into the input. Nothing is allocated.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "router/http1/fields.h"

namespace sluice::router {

inline constexpr size_t kMaxHeadBytes = 32'000;
inline constexpr size_t kMaxTargetBytes = 8'000;
inline constexpr size_t kMaxHeaderLines = 100;
inline constexpr size_t kMaxMethodBytes = 32;

enum class Parsed : uint8_t { complete, incomplete, bad };

struct HeaderLine {
  const char* at = nullptr;  // where the line begins
  std::string_view name;
  std::string_view value;     // without blanks at its ends
  const char* end = nullptr;  // behind its CRLF
  Field field = Field::other;
};

struct HeaderBlock {
  uint32_t count = 0;
  uint32_t present = 0;  // bit of each Field that occurs
  std::array<HeaderLine, kMaxHeaderLines> lines;

  bool has(Field field) const { return (present >> static_cast<uint32_t>(field)) & 1; }
  // The first line of a field that is known to be there.
  std::string_view value_of(Field field) const;
};

// What concerns both kinds of messages.
struct Framing {
  bool has_length = false;
  bool chunked = false;
  bool close = false;         // Connection: close
  bool keep_alive = false;    // Connection: keep-alive
  bool upgrade = false;       // Connection: upgrade, and there is an Upgrade
  bool names_others = false;  // Connection names further fields
  uint64_t length = 0;
};

struct RequestHead {
  size_t skipped = 0;  // bytes of empty lines before it
  size_t size = 0;     // of the head with them
  std::string_view method;
  std::string_view target;     // as it goes upstream: origin-form, or *
  std::string_view path;       // of the target, without the query
  std::string_view authority;  // of the Host or of the absolute-form, as sent
  std::string_view host;       // the same without port and trailing dot
  uint8_t minor = 1;           // HTTP/1.minor
  bool absolute = false;       // the Host line is to be written anew from the authority
  bool needs_slash = false;    // the target is a query without a path
  Framing framing;
  HeaderBlock headers;
  const char* fault = "";
};

struct ResponseHead {
  size_t size = 0;
  uint16_t status = 0;
  uint8_t minor = 1;
  std::string_view reason;
  Framing framing;
  HeaderBlock headers;
  const char* fault = "";
};

Parsed parse_request_head(std::string_view input, RequestHead& head);
Parsed parse_response_head(std::string_view input, ResponseHead& head);

// "host", "host:80", "[::1]:80" or nothing; `host` becomes the part without port, brackets kept.
bool read_authority(std::string_view authority, std::string_view& host);

}  // namespace sluice::router
